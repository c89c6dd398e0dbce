import Tailrace
import TailraceTesting
import Testing

@Suite("onEach", .inTurn)
struct OnEachTests {
  typealias List = LazyList<Int, Never>

  @Test("onEach sees each element once, where it is computed")
  func onEach() async {
    let seen = Probe<Int>()
    let list = List(1...3).onEach { seen.record($0) }
    #expect(await list.head() == 1)
    #expect(seen.values == [1])
    for _ in 0..<2 { #expect(await list.map { $0 * 2 }.array() == [2, 4, 6]) }
    #expect(seen.values == [1, 2, 3])
  }

  @Test("a closure that awaits and throws gives a list, without a word about types")
  func kinds() async throws {
    let seen = List(1...4).onEach { number async throws in await Task.yield() }
    #expect(try await seen.count() == 4)
  }

  @Test("a closure that throws is the element's failure")
  func failure() async {
    let list = List(1...3).onEach { number throws in
      if number == 2 { throw Mishap(position: 1) }
    }
    for _ in 0..<2 { await #expect(throws: Mishap(position: 1)) { try await list.array() } }
    #expect(list.evaluatedPrefix == [1])
  }
}
