import Tailrace
import TailraceTesting
import Testing

@Suite("array, eager, count and last", .inTurn)
struct CollectTests {
  @Test("an optional element is an element")
  func optionals() async {
    let list = LazyList<Int?, Never>([1, nil, 3])
    #expect(await list.count() == 3)
    #expect(await list.array() == [1, nil, 3])
    let same = list.map { $0 }
    #expect(await same.last() == .some(.some(3)))
    #expect(await LazyList<Int?, Never>.just(nil).count() == 1)
  }

  @Test(
    "the same, whether nothing, a part, or all is evaluated", arguments: [0, 1, 7, 8, 500],
    [0, 1, 9, 500])
  func evaluated(_ length: Int, _ count: Int) async {
    let calls = Probe<Int>()
    let list = LazyList(0..<length).map { calls.pass($0) }
    #expect(await list.prefix(count).count() == min(count, length))
    #expect(await list.count() == length)
    #expect(await list.last() == (length == 0 ? nil : length - 1))
    #expect(await list.array() == Array(0..<length))
    #expect(await list.eager() == EagerList(0..<length))
    #expect(calls.values == Array(0..<length))
  }

  @Test("a failure behind the elements comes instead of them")
  func failure() async {
    let failing = [1, 2] + LazyList<Int, Mishap>.failing(Mishap(position: 2))
    await #expect(throws: Mishap(position: 2)) { try await failing.array() }
    await #expect(throws: Mishap(position: 2)) { try await failing.count() }
    await #expect(throws: Mishap(position: 2)) { try await failing.last() }
    await #expect(throws: Mishap(position: 2)) { try await failing.eager() }
  }
}
