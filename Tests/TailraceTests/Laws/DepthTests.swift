import Foundation
import Tailrace
import TailraceInspection
import TailraceTesting
import Testing

/// Operators on operators on operators: every kind, as deep as a stack can not be. `TAILRACE_DEPTH`
/// sets another depth.
@Suite(
  "Depth: nothing recurses over the depth of a chain", .tags(.long), .serialized, .inTurn)
struct DepthTests {
  typealias List = LazyList<Int, Never>

  #if DEBUG
    private static let usual = 2_000
  #else
    private static let usual = 100_000
  #endif
  static let depth =
    ProcessInfo.processInfo.environment["TAILRACE_DEPTH"].flatMap { Int($0) } ?? usual

  /// One layer, and how deep it is tested where a layer costs a task.
  struct Layer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let deepest: Int
    let apply: @Sendable (List) -> List

    init(_ name: String, upTo deepest: Int = .max, _ apply: @escaping @Sendable (List) -> List) {
      testDescription = name
      self.deepest = deepest
      self.apply = apply
    }

    #if DEBUG
      private static let deepestWait = Size.usual(500, full: 1_000)
    #else
      private static let deepestWait = 10_000
    #endif

    static let plain = [
      Layer("map") { $0.map { $0 } },
      Layer("compactMap") { $0.compactMap { $0 } },
      Layer("flatMap to lists") { list in List([1]).flatMap { _ in list } },
      Layer("flatMap to arrays") { $0.flatMap { [$0] } },
      Layer("filter") { $0.filter { _ in true } },
      Layer("ignoring") { $0.ignoring(7) },
      Layer("prefix") { $0.prefix(2) },
      Layer("dropFirst") { [0] + $0.dropFirst(1) },
      Layer("prefix(while:)") { $0.prefix { _ in true } },
      Layer("drop(while:)") { $0.drop { _ in false } },
      Layer("prepending") { $0.prepending(1) },
      Layer("+, on the left") { $0 + [1] },
      Layer("+, on the right") { [1] + $0 },
      Layer("joined") { List.deferred { .empty }.map { _ in List.empty }.joined() + $0 },
      Layer("reductions") { $0.reductions(0) { $1 } },
      Layer("reductions(into:)") { $0.reductions(into: 0) { $0 = $1 } },
      Layer("adjacentPairs") { $0.prepending(1).adjacentPairs().map { $0.1 } },
      Layer("removeDuplicates") { $0.removeDuplicates() },
      Layer("enumerated") { $0.enumerated().map(\.element) },
      Layer("interspersed") { $0.interspersed(with: 1) },
      Layer("chunks") { $0.chunks(ofCount: 1).map { $0.first ?? 0 } },
      Layer("cycled") { $0.cycled() },
      Layer("named") { $0.named("list") },
      Layer("bind") { $0.bind { element, _ in List([element]) } },
      Layer("zip") { zip($0, List.repeating(1)).map { $0.0 } },
      Layer("zip of three") { zip($0, List.repeating(1), List.repeating(2)).map { $0.0 } },
      Layer("deferred") { list in .deferred { list } },
      Layer("head and tail") { list in List(head: { 1 }, tail: { list }) },
      Layer("recursive") { list in .recursive { _ in list } },
      Layer("catch") { list in list.throwingCancellation.catch { _ in list } },
      Layer("catch, of a failure") { list in
        LazyList<Int, any Error>.failing(Mishap(position: 0)).catch { _ in list }
      },
      Layer("mapFailure") {
        $0.throwingCancellation.mapFailure { _ in Mishap(position: 0) }.endingAtFailure()
      },
      Layer("replacingFailure") { $0.replacingFailure(with: 1) },
      Layer("endingAtFailure") { $0.endingAtFailure() },
      Layer("compacted") { $0.map { Optional($0) }.compacted() },
      Layer("uniqued") { $0.uniqued() },
      Layer("dropLast") { ($0 + [1]).dropLast() },
      Layer("suffix") { $0.suffix(3) },
      Layer("windows") { $0.windows(ofCount: 1).map { $0.first ?? 0 } },
      Layer("chunked by") { $0.chunked { _, _ in false }.map { $0.first ?? 0 } },
      Layer("chunked on") { $0.chunked { (number: Int) in number }.map { $0.0 } },
      Layer("onEach") { $0.onEach { _ in } },
      Layer("lines") { $0.map { Array("\($0)\n".utf8) }.lines.map { Int($0) ?? 0 } },
    ]

    static let asynchronous = [
      Layer("map, async") { $0.mapAsync { $0 } },
      Layer("filter, async") { $0.filterAsync { _ in true } },
      Layer("compactMap, async") { $0.compactMap { (number: Int) async -> Int? in number } },
      Layer("flatMap, async") { list in
        List([1]).flatMap { (_: Int) async -> List in list }
      },
      Layer("prefix(while:), async") { $0.prefix { (_: Int) async -> Bool in true } },
      Layer("reductions, async") {
        $0.reductions(0) { (_: Int, next: Int) async -> Int in next }.endingAtFailure()
      },
      Layer("bind, async") {
        $0.bind { (element: Int, _: inout Bool) async -> List? in List([element]) }
          .endingAtFailure()
      },
      Layer("deferred, async") { list in .deferred { () async -> List in list } },
      Layer("head and tail, async") { list in
        List(head: { () async -> Int in 1 }, tail: { () async -> List in list })
      },
      Layer("an asynchronous sequence") { list in
        Steps<Int, Never>(2) { _ in 1 }.memoized() + list
      },
      Layer("a list as a sequence") { LazyList($0) },
      Layer("memo") { list in
        let memo = Memo { await list.head() ?? 0 }
        return List(head: { await memo.value() }, tail: { list.dropFirst(1) })
      },
      Layer("memos") { list in
        let memos = Memos<Int, Int, Never> { await list.element(at: $0) ?? 0 }
        return LazyList(0..<3).map { await memos.value(for: $0) }
      },
      Layer("shared iterator") { list in
        let iterator = list.makeSharedIterator()
        return List(state: 0) { _ in await iterator.next() }
      },
      Layer("in step", upTo: Self.deepestWait) {
        $0.lockstep(readers: 1, maxLead: 1)[0].memoized()
      },
      Layer("signal", upTo: Self.deepestWait) {
        $0.signal(on: QueueScheduler.background()).memoized()
      },
      Layer("stream", upTo: Self.deepestWait) {
        $0.stream(on: QueueScheduler.background()).memoized()
      },
      Layer("prefetching") { $0.prefetching(1) },
      // A reader comes this way again after each wait: the time grows with the square of the depth.
      Layer("concurrentMap", upTo: Self.deepestWait) { $0.concurrentMap(limit: 2) { $0 } },
      Layer("concurrentMap, one") { $0.concurrentMap(limit: 1) { $0 } },
      Layer("concurrentMapUnordered", upTo: Self.deepestWait) {
        $0.concurrentMapUnordered(limit: 2) { $0 }
      },
      Layer("catch, async") { list in
        LazyList<Int, any Error>.failing(Mishap(position: 0)).catch { _ async in list }
      },
      Layer("map, retrying") { list in
        list.map(retryingFailures: true) { number async throws in number }.endingAtFailure()
      },
      Layer("chunked by, async") { list in
        list.chunked { (_: Int, _: Int) async in false }.map { $0.first ?? 0 }.endingAtFailure()
      },
    ]
  }

  /// That many layers over 1, 2, 3.
  static func pile(_ layer: Layer, _ depth: Int, keeping held: inout [List]) -> List {
    var list = List(1...3)
    for _ in 0..<min(depth, layer.deepest) {
      list = layer.apply(list)
      held.append(list)
    }
    return list
  }

  static func pile(_ layer: Layer, _ depth: Int) -> List {
    var list = List(1...3)
    for _ in 0..<min(depth, layer.deepest) { list = layer.apply(list) }
    return list
  }

  @Test(
    "never evaluated, and released", .timeLimit(.minutes(15)),
    arguments: Layer.plain + Layer.asynchronous)
  func unevaluated(_ layer: Layer) async {
    await run { _ = Self.pile(layer, Self.depth) }
  }

  @Test("evaluated, and released", .timeLimit(.minutes(15)), arguments: Layer.plain)
  func evaluated(_ layer: Layer) async {
    await run {
      var list = Self.pile(layer, Self.depth)
      #expect(await list.head() != nil)
      list = .empty
    }
  }

  @Test(
    "evaluated during a recording, on a small stack",
    arguments: Layer.plain + Layer.asynchronous, [false, true])
  func recorded(_ layer: Layer, isHeld: Bool) async {
    let recording = Recording.start(limit: 0)
    defer { recording.stop() }
    await OneThread.run {
      var held: [List] = []
      let list = Self.pile(layer, 200, keeping: &held)
      if !isHeld { held = [] }
      #expect(await list.head() != nil)
      withExtendedLifetime(held) {}
    }
  }

  @Test(
    "asynchronous, evaluated, and released", .timeLimit(.minutes(15)), arguments: Layer.asynchronous
  )
  func evaluatedAsync(_ layer: Layer) async {
    await run {
      var list = Self.pile(layer, Self.depth)
      #expect(await list.head() != nil)
      #expect(await list.element(at: 1) != nil)
      // All tasks are parked.
      list = .empty
    }
  }

  @Test(
    "all held: read from the lowest up, then from the top down", .timeLimit(.minutes(15)),
    arguments: Layer.plain + Layer.asynchronous)
  func held(_ layer: Layer) async {
    await run {
      var held: [List] = []
      // Each of them may have a way of its own through those below: the square of the depth.
      var list = Self.pile(layer, min(Self.depth, Size.usual(500, full: 1_000)), keeping: &held)
      for list in held { #expect(await list.head() != nil) }
      #expect(await list.element(at: 1) != nil)
      for list in held.reversed() { #expect(await list.element(at: 1) != nil) }
      list = .empty
      held = []
    }
  }

  /// On a small stack, and at the full size on that of the pool, too.
  private func run(_ body: @escaping @Sendable () async -> Void) async {
    await OneThread.run(body)
    if Size.usual(0, full: 1) == 1 { await body() }
  }
}
