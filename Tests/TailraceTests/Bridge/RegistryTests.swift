import Tailrace
import Testing

@testable import TailraceLists
@testable import TailraceSignals

@Suite("Members that come and leave, as a value", .inTurn)
struct RegistryTests {
  @Test("random: the order stays, whoever leaves, and a number is good for one departure")
  func random() {
    for number
      in 0..<UInt64(RandomCases.count("TAILRACE_REGISTRIES", debug: 200, optimised: 20_000))
    {
      let seed = RandomCases.firstSeed &+ number
      var random = SeededGenerator(seed: seed)
      var registry = Registry<Int>()
      var model: [(number: Int, member: Int)] = []
      var gone: [Int] = []
      for member in 0..<Int.random(in: 1...60, using: &random) {
        switch Int.random(in: 0..<7, using: &random) {
        case 0..<3: model.append((registry.add(member), member))
        case 3..<5:
          guard let index = model.indices.randomElement(using: &random) else { continue }
          let (number, member) = model.remove(at: index)
          #expect(registry.remove(number) == member, "seed \(seed)")
          gone.append(number)
        case 5:
          let first = model.first
          #expect(registry.removeFirst() == first?.member, "seed \(seed)")
          if let first {
            gone.append(first.number)
            model.removeFirst()
          }
        default:
          guard let number = gone.randomElement(using: &random) else { continue }
          #expect(registry.remove(number) == nil && !registry.contains(number), "seed \(seed)")
        }
        #expect(registry.present == model.map(\.member), "seed \(seed)")
        #expect(registry.count == model.count && registry.isEmpty == model.isEmpty)
        #expect(model.allSatisfy { registry.contains($0.number) }, "seed \(seed)")
        #expect(registry.members.count <= max(1, 2 * registry.count), "seed \(seed): holes")
      }
      #expect(registry.removeAll() == model.map(\.member), "seed \(seed)")
      #expect(registry.isEmpty && registry.removeFirst() == nil, "seed \(seed)")
    }
  }

  enum Order: CaseIterable { case oldest, newest, random }

  @Test("all that leave take time in proportion", arguments: Order.allCases)
  func leaving(_ order: Order) async {
    let growth = await growth(from: 4_000) { count in
      var registry = Registry<Int>()
      var numbers = (0..<count).map { registry.add($0) }
      switch order {
      case .oldest: while registry.removeFirst() != nil {}
      case .newest: while let number = numbers.popLast() { _ = registry.remove(number) }
      case .random:
        var random = SeededGenerator(seed: 1)
        for number in numbers.shuffled(using: &random) { _ = registry.remove(number) }
      }
      #expect(registry.isEmpty)
    }
    #expect(growth < mostGrowth)
  }
}
