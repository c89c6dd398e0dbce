import Tailrace
import TailraceTesting
import Testing

@Suite("A search that finds nothing ends with its readers", .inTurn)
struct EndlessSearchTests {
  /// The searches have been through this many when their readers leave.
  private static let passed = Size.usual(1_500, full: 5_000)

  /// A list in which a search goes on for ever.
  struct Search: Sendable, CustomTestStringConvertible {
    typealias List = LazyList<Int, Never>
    typealias Predicate = @Sendable (Int) -> Bool

    let testDescription: String
    /// Makes the source of the search.
    var source: @Sendable (List) -> List = { $0 }
    /// Searches for elements that satisfy a predicate.
    var find: @Sendable (List, @escaping Predicate) -> List = { $0.filter($1) }
    /// Makes the list that is read.
    var apply: @Sendable (List) -> List = { $0 }

    static let all = [
      Search(testDescription: "map", apply: { $0.map { $0 } }),
      Search(testDescription: "asynchronous map", apply: { $0.mapAsync { $0 } }),
      Search(testDescription: "asynchronous map, far above", apply: { far($0).mapAsync { $0 } }),
      Search(testDescription: "map, far above", apply: far),
      Search(testDescription: "map, and the source far below", source: far),
      Search(testDescription: "map, far above, and the source far below", source: far, apply: far),
      Search(
        testDescription: "asynchronous map, and an asynchronous source",
        source: { $0.mapAsync { $0 } }, apply: { $0.mapAsync { $0 } }),
      Search(testDescription: "zip", apply: { zip($0, List(1...)).map { $0.0 } }),
      Search(testDescription: "joined", apply: { LazyList([$0]).joined() }),
      Search(testDescription: "prefetching", apply: { $0.prefetching(2) }),
      Search(testDescription: "concurrentMap", apply: { $0.concurrentMap(limit: 2) { $0 } }),
      Search(
        testDescription: "concurrentMapUnordered",
        apply: { $0.concurrentMapUnordered(limit: 2) { $0 } }),
      Search(testDescription: "asynchronous filter", find: filterAsync),
      Search(
        testDescription: "asynchronous filter below an asynchronous map", find: filterAsync,
        apply: { $0.mapAsync { $0 } }),
      Search(
        testDescription: "asynchronous filter below prefetching", find: filterAsync,
        apply: { $0.prefetching(2) }),
      Search(
        testDescription: "asynchronous drop",
        find: { (list, isFound) in list.drop { number async in !isFound(number) || number == 0 } }),
      Search(
        testDescription: "asynchronous chunks",
        find: { (list, isFound) in
          list.chunked { (_, number) async in !isFound(number) || number == 0 }.map { $0.count }
            .endingAtFailure()
        }),
      Search(
        testDescription: "dropFirst",
        find: { (list, isFound) in
          list.map { isFound($0) ? 1 : 0 }.dropFirst(.max)
        }),
      Search(
        testDescription: "dropFirst below an asynchronous map",
        find: { (list, isFound) in list.map { isFound($0) ? 1 : 0 }.dropFirst(.max) },
        apply: { $0.mapAsync { $0 } }),
      Search(
        testDescription: "chunks",
        find: { (list, isFound) in
          list.map { isFound($0) ? 1 : 0 }.chunks(ofCount: .max).map { $0.count }
        }),
      Search(
        testDescription: "lists that become lists, below a map", find: { becoming(0, $1) },
        apply: { $0.map { $0 } }),
      Search(
        testDescription: "blocks without elements",
        find: { (list, isFound) in
          LazyList(cutting: list.map { isFound($0) && $0 > 0 ? [$0] : [] })
        }),
    ]

    /// More stages than call one another on one stack.
    private static func far(_ list: List) -> List {
      (0..<300).reduce(list) { list, _ in list.map { $0 } }
    }

    private static func becoming(_ number: Int, _ isFound: @escaping Predicate) -> List {
      .deferred {
        _ = isFound(number)
        return becoming(number + 1, isFound)
      }
    }

    private static func filterAsync(_ list: List, _ isFound: @escaping Predicate) -> List {
      list.filter { number async in isFound(number) }
    }
  }

  @Test(
    "a reader leaves a search in a list that others hold", .serialized, .hangLimit,
    arguments: Search.all)
  func sharedSearch(_ search: Search) async {
    let begun = Gate()
    let none = search.find(search.source(LazyList(1...))) { number in
      if number == Self.passed { begun.open() }
      return number < 0
    }
    let reader = Task { for await _ in search.apply(none) {} }
    await begun.wait()
    reader.cancel()
    await reader.value
    #expect(none.evaluatedCount == 0)
  }

  @Test(
    "a search for which nobody waits any more ends", .serialized, .hangLimit,
    arguments: Search.all, [false, true])
  func abandonedSearch(_ search: Search, isShared: Bool) async {
    let instances = InstanceCounter()
    do {
      let (token, begun) = (instances.member(), Gate())
      let list = search.find(search.source(LazyList(0...))) { number in
        if number == Self.passed { begun.open() }
        return number < 1 + token.number
      }
      let reader = Task { [isHeld = isShared ? list : .empty] in
        for await _ in search.apply(list) where isHeld.evaluatedCount > 2 { break }
      }
      await begun.wait()
      reader.cancel()
      await reader.value
    }
    await instances.waitUntilEmpty()
  }
}
