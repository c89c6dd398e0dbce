import Tailrace
import TailraceTesting

extension InnerSpaceTests.Row {
  typealias Member = InstanceCounter.Member
  typealias Members = LazyList<Member, Never>
  typealias Row = Self

  static let all = flattening + arrays + joins + reading + stages

  static let flattening = [
    Row("flatMap, plain") { inner in await LazyList(0..<10).flatMap { _ in inner.list() }.count() },
    Row("flatMap, throwing") { inner in
      try await LazyList(0..<10).flatMap { _ throws in inner.failingList() }.count()
    },
    Row("flatMap, async") { inner in
      await LazyList(0..<10).flatMap { _ async in inner.list() }.count()
    },
    Row("flatMap, async throwing") { inner in
      try await LazyList(0..<10).flatMap { _ async throws in inner.failingList() }.count()
    },
    Row("flatMap, plain, of asynchronous elements") { inner in
      await LazyList(0..<10).map { number async in number }.flatMap { _ in inner.list() }.count()
    },
    Row("flatMap, throwing, failures retried") { inner in
      try await LazyList(0..<10).map(retryingFailures: true) { _ throws in inner.list() }.joined()
        .count()
    },
    Row("flatMap, async throwing, failures retried") { inner in
      try await LazyList(0..<10)
        .map(retryingFailures: true) { _ async throws in inner.list() }.joined().count()
    },
    Row("flatMap to arrays, plain", count: 1000) { inner in
      await LazyList(0..<10).flatMap { _ in inner.array() }.count()
    },
    Row("flatMap to arrays, async", count: 1000) { inner in
      await LazyList(0..<10).flatMap { _ async in inner.array() }.count()
    },
    Row("bind, plain") { inner in await LazyList(0..<10).bind { _, _ in inner.list() }.count() },
    Row("bind, async") { inner in
      await LazyList(0..<10).bind { _, _ async in inner.list() }.count()
    },
    Row("bind, async, until it says stop") { inner in
      await LazyList(0...).bind { number, stop async in
        stop = number == 9
        return inner.list()
      }.count()
    },
    Row("bind, async, of lists that may fail, until it says nil") { inner in
      try await LazyList<Int, any Error>(0...).bind { number, _ async in
        number < 10 ? inner.failingList() : nil
      }.count()
    },
    Row("map, async, joined") { inner in await inner.lists().joined().count() },
    Row("map, joined, twice", count: 8 * InnerSpaceTests.size) { inner in
      await LazyList(0..<4).map { _ async in inner.lists(2) }.joined().joined().count()
    },
    Row("flatMap in flatMap, async", count: 8 * InnerSpaceTests.size) { inner in
      await LazyList(0..<4).flatMap { _ async in
        LazyList(0..<2).flatMap { _ async in inner.list() }
      }.count()
    },
    Row("unfold, async, joined") { inner in
      await LazyList<Members, Never>(state: 0) { number async -> Members? in
        number += 1
        return number <= 10 ? inner.list() : nil
      }.joined().count()
    },
    Row("an AsyncSequence of lists, joined") { inner in
      let lists = AsyncStream(Members.self) { continuation in
        for _ in 0..<10 { continuation.yield(inner.list()) }
        continuation.finish()
      }
      return await lists.memoized().joined().count()
    },
    Row("concurrentMap, joined") { inner in
      await LazyList(0..<10).concurrentMap(limit: 3) { _ async in inner.list() }.joined().count()
    },
    Row("concurrentMapUnordered, joined") { inner in
      await LazyList(0..<10).concurrentMapUnordered(limit: 3) { _ async in inner.list() }
        .joined().count()
    },
    // A closure that has just returned its element may be about to let go of it.
    Row("concurrentMap of lists to themselves, joined", inHand: InnerSpaceTests.size) { inner in
      await inner.lists().concurrentMap(limit: 3) { list async in list }.joined().count()
    },
    Row(
      "concurrentMap of lists to themselves, failures retried, joined", inHand: InnerSpaceTests.size
    ) { inner in
      try await inner.lists().concurrentMap(limit: 3, retryingFailures: true) { list in list }
        .joined().count()
    },
    Row("concurrentMapUnordered of lists to themselves, joined", inHand: InnerSpaceTests.size) {
      inner in
      await inner.lists().concurrentMapUnordered(limit: 3) { list async in list }.joined().count()
    },
    Row("map of lists to themselves, async, joined") { inner in
      await inner.lists().map { list async in list }.joined().count()
    },
    Row("in step, joined") { inner in
      await inner.lists().lockstep(readers: 1, maxLead: 1)[0].memoized().joined().count()
    },
    Row("a list of a shared iterator, joined") { inner in
      let lists = inner.lists().makeSharedIterator()
      return await LazyList<Members, Never>(state: 0) { _ in await lists.next() }.joined().count()
    },
    // The sender may still have in hand what it has sent when the reader that it woke goes on.
    Row("a signal, joined", inHand: InnerSpaceTests.size) { inner in
      await inner.lists().signal(on: QueueScheduler.background()).memoized().joined().count()
    },
    Row("a signal of a signal, joined", inHand: 2 * InnerSpaceTests.size) { inner in
      let scheduler = QueueScheduler.background()
      return await inner.lists().signal(on: scheduler).deliver(on: scheduler).memoized().joined()
        .count()
    },
    Row("a stream, joined", inHand: InnerSpaceTests.size) { inner in
      await inner.lists().stream(on: QueueScheduler.background()).memoized().joined().count()
    },
    Row("prefetching, joined") { inner in await inner.lists().prefetching(2).joined().count() },
  ]

  static let arrays = [
    Row("an array's lists, joined") { inner in
      await (0..<10).map { _ in inner.list() }.lazyList.joined().count()
    },
    Row("more lists of an array than are read at once, joined", count: 3000) { inner in
      await (0..<3000).map { _ in inner.list(1) }.lazyList.joined().count()
    },
    Row("an array's lists, flatMap") { inner in
      await (0..<10).map { _ in inner.list() }.lazyList.flatMap { $0 }.count()
    },
    Row("an array's lists, flatMap, async") { inner in
      await (0..<10).map { _ in inner.list() }.lazyList.flatMap { $0 as Members }.count()
    },
    Row("a slice of an array's lists, joined") { inner in
      await (0..<12).map { _ in inner.list() }.lazyList.dropFirst().prefix(10).joined().count()
    },
    Row("a slice with an array's lists, joined") { inner in
      await (0..<12).map { _ in inner.list() }[1..<11].lazyList.joined().count()
    },
    Row("an eager list's lists, joined") { inner in
      await EagerList((0..<10).map { _ in inner.list() }).lazyList.joined().count()
    },
    Row("suffix, joined") { inner in await inner.lists().suffix(10).joined().count() },
    Row("a literal, joined", count: 3 * InnerSpaceTests.size) { inner in
      await ([inner.list(), inner.list(), inner.list()] as LazyList<Members, Never>)
        .joined().count()
    },
    Row("the list of a sequence that is an array, joined") { inner in
      await LazyList((0..<10).map { _ in inner.list() }).joined().count()
    },
    Row("flatMap to arrays of lists, joined") { inner in
      await LazyList(0..<2).flatMap { _ async in (0..<5).map { _ in inner.list() } }
        .joined().count()
    },
    Row("just, joined", count: InnerSpaceTests.size) { inner in
      await LazyList.just(inner.list()).joined().count()
    },
    Row("prepending, joined") { inner in
      await inner.lists(9).prepending(inner.list()).joined().count()
    },
  ]

  static let joins = [
    Row("plus", count: 2 * InnerSpaceTests.size) { inner in
      await (inner.list() + inner.list()).count()
    },
    Row("plus, of what is flattened") { inner in
      await (inner.lists(5).joined() + LazyList(0..<5).flatMap { _ async in inner.list() }).count()
    },
    Row("plus, many times") { inner in
      await (0..<10).map { _ in inner.list() }.reduce(.empty, +).count()
    },
    Row("plus, many times from the right") { inner in
      await (0..<10).map { _ in inner.list() }.reduce(.empty) { $1 + $0 }.count()
    },
    Row("a list before what is flattened", count: 3 * InnerSpaceTests.size + 1) { inner in
      await inner.lists(3).joined().prepending(inner.instances.member()).count()
    },
    Row("deferred", count: InnerSpaceTests.size) { inner in
      await Members.deferred { inner.list() }.count()
    },
    Row("deferred, async", count: InnerSpaceTests.size) { inner in
      await Members.deferred { () async in inner.list() }.count()
    },
    Row("deferred, joined") { inner in
      await LazyList.deferred { inner.lists() }.joined().count()
    },
    Row("head and tail", count: InnerSpaceTests.size + 1) { inner in
      await Members(head: { inner.instances.member() }, tail: { inner.list() }).count()
    },
    Row("head and tail, async", count: InnerSpaceTests.size + 1) { inner in
      await Members(
        head: { () async in inner.instances.member() }, tail: { () async in inner.list() }
      ).count()
    },
    Row("named, joined") { inner in await inner.lists().named("lists").joined().count() },
    Row("zip") { inner in
      await zip(inner.lists().joined(), LazyList(0...)).count()
    },
    Row("zip of three") { inner in
      await zip(LazyList(0...), inner.lists().joined(), LazyList(0...)).count()
    },
    Row("cycled, outside of what is flattened") { inner in
      await LazyList(0..<3).cycled().prefix(10).flatMap { _ async in inner.list() }.count()
    },
    Row("interspersed, of lists", count: 5 * InnerSpaceTests.size) { inner in
      await inner.lists(5).interspersed(with: .empty).joined().count()
    },
  ]

  static let reading = [
    Row("for await") { inner in
      var count = 0
      for await _ in LazyList(0..<10).flatMap({ _ async in inner.list() }) { count += 1 }
      return count
    },
    Row("for await, of lists", inHand: InnerSpaceTests.size) { inner in
      var count = 0
      for await list in inner.lists() { count += await Self.count(list) }
      return count
    },
    Row("for await, of an array's lists", inHand: InnerSpaceTests.size) { inner in
      var count = 0
      for await list in (0..<10).map({ _ in inner.list() }).lazyList {
        count += await Self.count(list)
      }
      return count
    },
    Row("uncons") { inner in
      var (rest, count) = (inner.lists().joined(), 0)
      while let (_, tail) = await rest.uncons() { (rest, count) = (tail, count + 1) }
      return count
    },
    Row("array") { inner in await inner.lists().joined().map(\.number).array().count },
    Row("reduce") { inner in
      await inner.lists().joined().reduce(0) { count, _ in count + 1 }
    },
    Row("reduce, async") { inner in
      await inner.lists().joined().reduce(0) { count, _ async in count + 1 }
    },
    Row("reduce, async, of lists", inHand: InnerSpaceTests.size) { inner in
      await inner.lists().reduce(0) { count, list async in count + (await Self.count(list)) }
    },
    Row("reduce into, throwing") { inner in
      try await inner.lists().joined().reduce(into: 0) { count, _ throws in count += 1 }
    },
    Row("forEach, async") { inner in
      let probe = Probe<Int>()
      await inner.lists().joined().forEach { member async in probe.record(member.number) }
      return probe.count
    },
    Row("a search to the end") { inner in
      await inner.lists().joined().first { $0.number < 0 } == nil ? 10 * InnerSpaceTests.size : 0
    },
    Row("an asynchronous search to the end") { inner in
      await inner.lists().joined().contains { $0.number < 0 } ? 0 : 10 * InnerSpaceTests.size
    },
    Row("the last element", count: InnerSpaceTests.size - 1) { inner in
      await inner.lists().joined().last()?.number ?? 0
    },
    Row("behind what is dropped", count: 5) { inner in
      await inner.lists().joined().dropFirst(10 * InnerSpaceTests.size - 5).count()
    },
    Row("a shared iterator, of lists", inHand: InnerSpaceTests.size) { inner in
      let lists = inner.lists().makeSharedIterator()
      var count = 0
      while let list = await lists.next() { count += await Self.count(list) }
      return count
    },
    Row("a shared iterator") { inner in
      let members = inner.lists().joined().makeSharedIterator()
      var count = 0
      while await members.next() != nil { count += 1 }
      return count
    },
  ]

  static let stages = [
    Row("map") { inner in await inner.lists().map { $0.dropFirst(0) }.joined().count() },
    Row("map, async, of lists to their counts", inHand: InnerSpaceTests.size) { inner in
      await inner.lists().map { list async in await Self.count(list) }.reduce(0, +)
    },
    Row("filter, throwing") { inner in
      try await inner.lists().filter { _ throws in true }.joined().count()
    },
    Row("filter, async") { inner in
      await inner.lists().filter { _ async in true }.joined().filter { _ async in true }.count()
    },
    Row("compactMap, async") { inner in
      await inner.lists().compactMap { list async -> Members? in list }.joined().count()
    },
    Row("enumerated") { inner in
      await inner.lists().enumerated().flatMap { $0.element }.count()
    },
    Row("reductions, async") { inner in
      try await inner.lists().joined().reductions(0) { count, _ async in count + 1 }.last() ?? 0
    },
    Row("chunks", count: 400) { inner in
      await inner.lists().joined().chunks(ofCount: 10).count()
    },
    Row("chunks of lists") { inner in
      await inner.lists().chunks(ofCount: 1).flatMap { $0[0] }.count()
    },
    Row("onEach, async") { inner in
      try await inner.lists().onEach { _ async in }.joined().onEach { _ async in }.count()
    },
    Row("catch") { inner in
      await inner.lists().setFailureType(to: (any Error).self).joined().catch { _ in .empty }
        .count()
    },
    Row("a hundred stages") { inner in
      await Self.mapped(inner.lists().joined()).count()
    },
    Row("a hundred stages over the lists") { inner in
      await Self.mapped(inner.lists()).joined().count()
    },
  ]

  /// A list that is deeper than what is evaluated at once.
  static func mapped<T>(_ list: consuming LazyList<T, Never>) -> LazyList<T, Never> {
    var list = list
    for _ in 0..<100 { list = list.map { $0 } }
    return list
  }

  /// Takes a list that its caller lets go of.
  static func count(_ list: consuming Members) async -> Int { await list.count() }
}
