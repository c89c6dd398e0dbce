import Tailrace
import Testing

@testable import TailraceLists
@testable import TailraceMemos

@Suite("A slot for each key, as a value", .inTurn)
struct SlotMapTests {
  @Test("slots are walked in parts, and there is none behind the last one")
  func parts() {
    var map = SlotMap<Int, String>()
    #expect(map.places(from: 0, atMost: 2) == nil)
    let places = (0..<5).map { map.add($0, "") }
    #expect(places == [0, 1, 2, 3, 4])
    let parts = [0, 2, 4, 5, 6].map { map.places(from: $0, atMost: 2) }
    #expect(parts == [0..<2, 2..<4, 4..<5, nil, nil])
    _ = map.remove(2, leaving: "")
    #expect(map.keys(from: 1, atMost: 3) == [1, 3], "a free slot has no key")
  }

  @Test("random: a key is found where it was put, and a slot is used again when it is free")
  func random() {
    for number in 0..<UInt64(RandomCases.count("TAILRACE_SLOTS", debug: 100, optimised: 10_000)) {
      let seed = RandomCases.firstSeed &+ number
      var random = SeededGenerator(seed: seed)
      var map = SlotMap<Int, String>()
      var model: [Int: (place: Int, content: String)] = [:]
      var most = 0
      for step in 0..<100 {
        let key = Int.random(in: 0..<12, using: &random)
        if let (place, content) = model[key] {
          #expect(map.place(of: key) == place && map[place] == content, "seed \(seed)")
          if Bool.random(using: &random) {
            let slot = map.remove(place, leaving: "")
            #expect(slot.key == key && slot.content == content, "seed \(seed)")
            model[key] = nil
          } else {
            map[place] = "\(step)"
            model[key] = (place, "\(step)")
          }
        } else {
          #expect(map.place(of: key) == nil, "seed \(seed)")
          guard let place = map.add(key, "\(step)") else {
            Issue.record("no slot")
            return
          }
          #expect(!model.values.contains { $0.place == place }, "seed \(seed)")
          model[key] = (place, "\(step)")
        }
        most = max(most, model.count)
        #expect(map.index.count == model.count && map.slots.count == most, "seed \(seed)")
        #expect(map.free.count == most - model.count, "seed \(seed)")
        #expect(map.free.allSatisfy { map.slots[Int($0)].key == nil && map[Int($0)].isEmpty })
      }
    }
  }

  /// Most of these have the same hash, or nearly.
  private struct Poor: Hashable, Sendable {
    let number: Int
    var hashValue: Int { number % 3 }
    func hash(into hasher: inout Hasher) { hasher.combine(number % 3) }
  }

  @Test("random: keys whose hashes are the same, or begin in the same bucket, come and go")
  func collisions() {
    for number in 0..<UInt64(RandomCases.count("TAILRACE_SLOTS", debug: 30, optimised: 3_000)) {
      var random = SeededGenerator(seed: RandomCases.firstSeed &+ number)
      var (map, index) = (SlotMap<Poor, Int>(), SlotIndex())
      var (places, hashes): ([Int: Int], [Int: Int]) = ([:], [:])
      for _ in 0..<300 {
        let key = Int.random(in: 0..<40, using: &random)
        if let place = places.removeValue(forKey: key) {
          #expect(map.remove(place, leaving: 0).key == Poor(number: key))
        } else {
          places[key] = map.add(Poor(number: key), key)
        }
        if let hash = hashes.removeValue(forKey: key) {
          index.remove(hash, key)
        } else {
          hashes[key] = Int.random(in: 0..<1 << 62, using: &random) & ~0xFF_FFFF
          index.add(hashes[key] ?? 0, key)
        }
        for key in 0..<40 {
          #expect(map.place(of: Poor(number: key)) == places[key])
          let found = hashes[key].flatMap { index.place($0) { $0 == key } }
          #expect((found == key) == (hashes[key] != nil))
        }
        #expect(index.buckets.count { $0 != 0 } == hashes.count && index.count == hashes.count)
      }
    }
  }

  @Test("the number of the latest computation begins at zero for each key")
  func numbers() {
    var map = SlotMap<String, Int>()
    let place = map.add("first", 1)
    #expect(place == 0 && map.slots[0].number == 0)
    map.slots[0].number = 5
    #expect(map.remove(0, leaving: 0).number == 5)
    #expect(map.slots[0].number == 0)
    #expect(map.add("second", 2) == 0 && map.slots[0].number == 0)
  }

  @Test("a key that is not equal to itself gets none")
  func unequal() {
    var map = SlotMap<Double, Int>()
    #expect(map.add(.nan, 1) == nil && map.slots.isEmpty && map.index.count == 0)
    #expect(map.add(0, 1) == 0)
  }
}
