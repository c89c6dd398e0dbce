import Tailrace
import TailraceTesting
import Testing

@Suite("A search that finds nothing ends with its readers", .inTurn)
struct EndlessSearchTests {
  /// Lists in which a search goes on for ever below another list.
  struct Search: Sendable, CustomTestStringConvertible {
    typealias List = LazyList<Int, Never>

    let testDescription: String
    let apply: @Sendable (List) -> List

    static let all = [
      Search(testDescription: "map") { $0.map { $0 } },
      Search(testDescription: "asynchronous map") { $0.mapAsync { $0 } },
      Search(testDescription: "asynchronous map, far above") { list in
        (0..<100).reduce(list) { list, _ in list.map { $0 } }.mapAsync { $0 }
      },
      Search(testDescription: "zip") { zip($0, List(1...)).map { $0.0 } },
      Search(testDescription: "joined") { LazyList([$0]).joined() },
      Search(testDescription: "prefetching") { $0.prefetching(2) },
      Search(testDescription: "concurrentMap") { $0.concurrentMap(limit: 2) { $0 } },
      Search(testDescription: "concurrentMapUnordered") {
        $0.concurrentMapUnordered(limit: 2) { $0 }
      },
    ]
  }

  @Test(
    "a reader leaves a plain search in a list that others hold", .serialized, .hangLimit,
    arguments: Search.all)
  func sharedSearch(_ search: Search) async {
    let begun = Gate()
    let none = LazyList(1...).filter { number in
      if number == 5_000 { begun.open() }
      return number < 0
    }
    let reader = Task { for await _ in search.apply(none) {} }
    await begun.wait()
    reader.cancel()
    await reader.value
    #expect(none.evaluatedCount == 0)
  }

  @Test(
    "a plain search for which nobody waits any more ends", .serialized, .hangLimit,
    arguments: Search.all, [false, true])
  func plainSearch(_ search: Search, isShared: Bool) async {
    let population = Population()
    do {
      let (token, begun) = (population.member(), Gate())
      let list = LazyList(0...).filter { number in
        if number == 5_000 { begun.open() }
        return number < 1 + token.number
      }
      let reader = Task { [isHeld = isShared ? list : .empty] in
        for await _ in search.apply(list) where isHeld.evaluatedCount > 2 { break }
      }
      await begun.wait()
      reader.cancel()
      await reader.value
    }
    await population.waitUntilEmpty()
  }
}
