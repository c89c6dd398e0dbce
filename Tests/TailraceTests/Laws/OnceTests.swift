import Tailrace
import TailraceTesting
import Testing

@Suite("Once: each closure of each stage, for any number of readers", .inTurn)
struct OnceTests {
  @Test("eight tasks that race", arguments: Row.all, SourceKind.allCases)
  func race(_ row: Row, _ kind: SourceKind) async throws {
    // The pulls and calls of one reader alone are the measure.
    let (alonePulls, aloneCalls) = (Probe<Int>(), Calls())
    let alone = try await row.apply(kind.make(alonePulls), aloneCalls).array()
    #expect(alone == row.elements)

    let (pulls, calls) = (Probe<Int>(), Calls())
    let list = row.apply(kind.make(pulls), calls)
    try await withThrowingTaskGroup(of: [Int].self) { group in
      for reader in 0..<8 {
        group.addTask {
          switch reader % 4 {
          case 0: return try await list.array()
          case 1: return try await list.reduce(into: []) { $0.append($1) }
          case 2:
            guard let (head, tail) = try await list.uncons() else { return [] }
            return [head] + (try await tail.array())
          default:
            var elements: [Int] = []
            for try await element in list { elements.append(element) }
            return elements
          }
        }
      }
      for try await elements in group { #expect(elements == row.elements) }
    }
    #expect(pulls.values == alonePulls.values)
    // Closures that run at the same time do so in any order.
    let inOrder = { (calls: [Int]) in row.ahead == 0 ? calls : calls.sorted() }
    #expect(inOrder(calls.probe.values) == inOrder(aloneCalls.probe.values))
    #expect(list.evaluatedCount == row.elements.count)
  }

  @Test("derived lists share their source", arguments: SourceKind.allCases)
  func derived(_ kind: SourceKind) async throws {
    let pulls = Probe<Int>()
    let source = kind.make(pulls)
    let doubled = source.map { $0 * 2 }
    let even = source.filter { $0 % 2 == 0 }
    #expect(try await doubled.array() == [2, 4, 6, 8, 10, 12])
    #expect(try await even.array() == [2, 4, 6])
    #expect(try await source.count() == 6)
    #expect(pulls.values == [1, 2, 3, 4, 5, 6, 7])
  }

  @Test("derived lists that are read at the same time share the steps of their source")
  func derivedTogether() async throws {
    for _ in 0..<20 {
      let (pulls, gate) = (Probe<Int>(), Gate())
      let source = Row.Source(state: 0) { state async throws in
        pulls.record(state)
        await gate.wait()
        state += 1
        return state > 4 ? nil : state
      }
      async let mapped = source.map { $0 }.array()
      async let tenfold = source.map { $0 * 10 }.array()
      async let filtered = source.filter { (number: Int) async in number > 1 }.array()
      async let itself = source.array()
      await gate.waitForArrivals(1)
      gate.open()
      #expect(try await mapped == [1, 2, 3, 4])
      #expect(try await tenfold == [10, 20, 30, 40])
      #expect(try await filtered == [2, 3, 4])
      #expect(try await itself == [1, 2, 3, 4])
      #expect(pulls.values == [0, 1, 2, 3, 4])
    }
  }

  #if DEBUG
    static let length = 5_000
  #else
    static let length = 100_000
  #endif

  @Test("64 tasks over three stages: each closure ran exactly once an element")
  func many() async {
    let (first, second, third) = (Counter(), Counter(), Counter())
    let list = LazyList(1...Self.length)
      .map { (number: Int) -> Int in first.increment(by: 1, giving: number + 1) }
      .filter { (number: Int) -> Bool in second.increment(by: 1, giving: number > 0) }
      .map { (number: Int) -> Int in third.increment(by: 1, giving: number * 2) }
    await withTaskGroup { group in
      for _ in 0..<64 {
        group.addTask {
          var sum = 0
          for await element in list { sum += element }
          return sum
        }
      }
      let expected = (1...Self.length).reduce(into: 0) { sum, number in sum += (number + 1) * 2 }
      for await sum in group { #expect(sum == expected) }
    }
    #expect([first, second, third].map(\.value) == [Self.length, Self.length, Self.length])
  }
}
