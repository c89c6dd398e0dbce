import Tailrace
import Testing

@testable import TailraceLists
@testable import TailraceMemos

@Suite("The order of eviction, as a value", .inTurn)
struct EvictionTests {
  /// A cache of numbers on top of it.
  struct Cache {
    var eviction: Eviction
    var places: [Int: Int] = [:]
    var costs: [Int: Int] = [:]
    var numbers: [Int: Int] = [:]
    var hits = 0

    init(limit: Int) { eviction = Eviction(limit: limit) }

    mutating func ask(_ number: Int, cost: Int = 1) {
      if let place = places[number] {
        hits += 1
        return eviction.used(place)
      }
      while !eviction.hasRoom(for: cost), evict() {}
      let place = (0...).first { numbers[$0] == nil } ?? 0
      (places[number], numbers[place], costs[place]) = (place, number, cost)
      eviction.admit(place, hash: number, cost: cost)
    }

    mutating func evict() -> Bool {
      guard let (place, isFromSmall) = eviction.removeFirst() else { return false }
      let number = numbers[place] ?? -1
      if isFromSmall { eviction.remember(hash: number) }
      (places[number], numbers[place], costs[place]) = (nil, nil, nil)
      return true
    }

    mutating func remove(_ number: Int) {
      guard let place = places[number] else { return }
      eviction.remove(place)
      (places[number], numbers[place], costs[place]) = (nil, nil, nil)
    }
  }

  @Test("a scan does not push out what is used")
  func scan() {
    var cache = Cache(limit: 100)
    for _ in 0..<4 { for number in 0..<50 { cache.ask(number) } }
    for number in 1_000..<100_000 { cache.ask(number) }
    #expect((0..<50).allSatisfy { cache.places[$0] != nil })
  }

  @Test("where all of the main queue is pinned, entries of the small one go, however few they are")
  func pinnedMain() {
    var cache = Cache(limit: 100)
    cache.ask(1, cost: 50)
    // It comes back, and so goes to the main queue.
    while cache.evict() {}
    cache.ask(1, cost: 50)
    for number in 2...4 { cache.ask(number, cost: 3) }
    cache.eviction.pin(cache.places[1] ?? -1)
    while cache.evict() {}
    #expect(cache.places.keys.sorted() == [1])
  }

  @Test("a value that comes back soon after its eviction stays longer")
  func ghost() {
    var cache = Cache(limit: 100)
    for number in 0..<120 { cache.ask(number) }
    #expect(cache.places[0] == nil)
    cache.ask(0)
    for number in 200..<1_000 { cache.ask(number) }
    #expect(cache.places[0] != nil)
  }

  @Test("pinned values stay, and only they let the cost pass the limit")
  func pinned() {
    var cache = Cache(limit: 2)
    cache.ask(1)
    cache.ask(2)
    for place in 0..<2 { cache.eviction.pin(place) }
    cache.ask(3)
    #expect(Set(cache.places.keys) == [1, 2, 3] && cache.eviction.cost == 3)
    for place in 0..<2 { cache.eviction.unpin(place, cost: 1) }
    cache.ask(4)
    #expect(cache.places.count == 2 && cache.places[4] != nil)
  }

  @Test("two uses take an entry from the small queue to the main one, where one keeps it once")
  func uses() {
    for (uses, first) in [(0, 0), (1, 0), (2, 1)] {
      var cache = Cache(limit: 2)
      cache.ask(0)
      cache.ask(1)
      for _ in 0..<uses { cache.ask(0) }
      let place = cache.eviction.removeFirst()?.place
      #expect(place == first)
    }
    var eviction = Eviction(limit: 100)
    for place in 0..<2 {
      eviction.remember(hash: place)
      eviction.admit(place, hash: place, cost: 1)
    }
    eviction.used(0)
    for place in [1, 0] {
      let first = eviction.removeFirst()
      #expect(first?.place == place && first?.isFromSmall == false)
    }
    let none = eviction.removeFirst()
    #expect(none == nil)
  }

  @Test("an entry that was pinned comes back to its queue")
  func queues() {
    for isRemembered in [false, true] {
      var eviction = Eviction(limit: 100)
      if isRemembered { eviction.remember(hash: 7) }
      eviction.admit(0, hash: 7, cost: 5)
      eviction.pin(0)
      let none = eviction.removeFirst()
      #expect(none == nil && eviction.cost == 5)
      eviction.unpin(0, cost: 9)
      #expect(eviction.cost == 9)
      let first = eviction.removeFirst()
      #expect(first?.isFromSmall == !isRemembered)
    }
  }

  @Test("what was never evicted is not remembered, whatever its hash")
  func neverEvicted() {
    var ghosts = Ghosts()
    var removed = [ghosts.remove(0)]
    ghosts.insert(3, capacity: 8)
    removed += [0, 1, 2, 3, 3].map { ghosts.remove($0) }
    #expect(removed == [false, false, false, false, true, false])
  }

  @Test("random uses: the sum is right, the limit holds, the newest is there", arguments: 0..<50)
  func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var cache = Cache(limit: Int.random(in: 1...40, using: &generator))
    let keys = Int.random(in: 1...100, using: &generator)
    for _ in 0..<2_000 {
      let number = Int.random(in: 0..<keys, using: &generator)
      if Int.random(in: 0..<10, using: &generator) == 0 {
        cache.remove(number)
      } else {
        cache.ask(number, cost: Int.random(in: 0...min(5, cache.eviction.limit), using: &generator))
        #expect(cache.places[number] != nil)
      }
      #expect(cache.eviction.cost == cache.costs.values.reduce(0, +))
      #expect(cache.eviction.cost <= cache.eviction.limit)
    }
    while cache.evict() {}
    #expect(cache.places.isEmpty && cache.eviction.cost == 0)
  }
}
