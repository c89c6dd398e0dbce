import Dispatch
import Tailrace
import TailraceTesting
import Testing

/// The sizes that the laws name; a debug build, where a step is a hundred times slower, proves the
/// same with less, but still with more than a stack can hold.
#if DEBUG
  private let scale = 10
#else
  private let scale = 1
#endif

@Suite(
  "Stack: nothing recurses over the length of a list or the depth of a chain", .tags(.long), .inTurn
)
struct StackTests {
  typealias List = LazyList<Int, Never>

  @Test("releasing ten million cells")
  func cells() async {
    let length = 10_000_000 / scale
    let list = List(0..<length)
    #expect(await list.count() == length)
    #expect(list.evaluatedCount == length)
  }

  @Test("a million cells that each have a segment: heads and tails")
  func headsAndTails() async {
    let length = 1_000_000 / scale
    @Sendable func from(_ number: Int) -> List {
      List(head: { number }, tail: { number == length ? .empty : from(number + 1) })
    }
    let list = from(1)
    #expect(await list.count() == length)
    #expect(await list.last() == length)
  }

  @Test("a million unevaluated lists, each held by the closure of the next")
  func captured() async {
    let instances = InstanceCounter()
    var list = List.empty
    for number in 0..<1_000_000 / scale {
      let tail = list
      list =
        number == 0
        ? { [token = instances.member()] in List(head: { token.number }, tail: { tail }) }()
        : List(head: { number }, tail: { tail })
    }
    #expect(instances.alive == 1)
    list = .empty
    #expect(instances.alive == 0)
  }

  @Test("a million prepended elements")
  func prepended() async {
    var list = List.empty
    for number in 0..<1_000_000 / scale { list = list.prepending(number) }
    #expect(await list.count() == 1_000_000 / scale)
  }

  @Test("a filter that rejects a hundred million elements")
  func rejecting() async {
    let list = List(0..<100_000_000 / (scale * scale)).filter { $0 < 0 }
    #expect(await list.isEmpty())
  }

  @Test("a hundred thousand +, nested on the left, on the right, and both", arguments: 0...2)
  func concatenated(_ nesting: Int) async {
    let pieces = 100_000 / scale
    var list = List.empty
    for number in 0..<pieces {
      switch nesting {
      case 0: list = list + .just(number)
      case 1: list = .just(number) + list
      default: list = number % 2 == 0 ? list + .just(number) : .just(number) + list
      }
    }
    #expect(await list.reduce(0, +) == pieces * (pieces - 1) / 2)
    #expect(await list.count() == pieces)
  }

  @Test("a hundred thousand + whose sums are all held")
  func held() async {
    var sums = [List.just(0)]
    for number in 1..<100_000 / scale { sums.append(sums[number - 1] + .just(number)) }
    #expect(await sums[sums.count - 1].count() == sums.count)
    #expect(await sums[sums.count / 2].count() == sums.count / 2 + 1)
  }

  @Test("a hundred thousand unevaluated + are released")
  func released() async {
    let instances = InstanceCounter()
    do {
      var list = List.empty
      for number in 0..<100_000 / scale {
        let token = instances.member(number)
        list = list + List(0..<1).map { $0 + token.number }
      }
      #expect(instances.alive == 100_000 / scale)
      _ = list
    }
    #expect(instances.alive == 0)
  }

  @Test("a hundred thousand empty inner lists")
  func empties() async {
    let list = List(0..<100_000 / scale).flatMap { _ in List.empty }
    #expect(await list.isEmpty())
    #expect(await List(0..<100_000 / scale).flatMap { _ in [Int]() }.isEmpty())
  }

  @Test("a definition that goes on in another list, and so on")
  func deferred() async {
    let length = 100_000 / scale
    @Sendable func from(_ number: Int) -> List {
      number == length ? .empty : .just(number) + .deferred { from(number + 1) }
    }
    #expect(await from(0).count() == length)
    #expect(await from(0).last() == length - 1)
  }

  @Test("foldRight over a million elements")
  func foldRight() async {
    let length = 1_000_000 / scale
    let sum = await List(1...length).foldRight(0) { first, rest in first + (await rest.value()) }
    #expect(sum == length * (length + 1) / 2)
  }

  @Test("ten thousand stacked maps", arguments: [true, false])
  func maps(_ holdsThemAll: Bool) async {
    let depth = 10_000 / scale
    var held: [List] = []
    var list = List(0..<3)
    for _ in 0..<depth {
      list = list.map { $0 + 1 }
      if holdsThemAll { held.append(list) }
    }
    #expect(await list.array() == [depth, depth + 1, depth + 2])
  }

  @Test("a thousand stacked maps over an asynchronous source", arguments: [true, false])
  func asynchronousMaps(_ holdsThemAll: Bool) async {
    let depth = 1_000 / scale
    var held: [List] = []
    var list = List(0..<3).map { (number: Int) async -> Int in
      await Task.yield()
      return number
    }
    for _ in 0..<depth {
      list = list.map { $0 + 1 }
      if holdsThemAll { held.append(list) }
    }
    #expect(await list.array() == [depth, depth + 1, depth + 2])
  }

  @Test("ten thousand flights that start one another: held maps, and memos")
  func flights() async {
    let depth = 10_000 / scale
    var lists = [List(0..<3)]
    for number in 0..<depth {
      lists.append(lists[number].map { (number: Int) async -> Int in number + 1 })
    }
    #expect(await lists[depth].head() == depth)
    var memo = Memo<Int, Never>(0)
    for _ in 0..<depth {
      let before = memo
      memo = Memo { () async -> Int in await before.value() + 1 }
    }
    #expect(await memo.value() == depth)
  }

  /// How a reader comes to have a higher priority than the step that it waits for.
  enum Raise: CaseIterable { case escalated, awaited, joined }

  @Test(
    "two hundred thousand lists, or memos, that wait for one another are raised",
    arguments: Raise.allCases, [true, false])
  func raised(_ raise: Raise, ofMemos: Bool) async {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let depth = Size.usual(4_000, full: 200_000 / scale)
    let (gate, raised) = (Gate(), Probe<TaskPriority>())
    @Sendable func first() async -> Int {
      await withTaskPriorityEscalationHandler {
        await gate.wait()
      } onPriorityEscalated: { _, priority in
        raised.record(priority)
      }
      return 0
    }
    let memos = Memos<Int, Int, Never>.recursive { memos, key in
      key == 0 ? await first() : await memos.value(for: key - 1) + 1
    }
    var lists = [List(0..<1).map { (_: Int) async in await first() }]
    if !ofMemos {
      for number in 0..<depth {
        lists.append(lists[number].map { (number: Int) async -> Int in number + 1 })
      }
    }
    let last = lists[lists.count - 1]
    @Sendable func value() async -> Int? {
      ofMemos ? await memos.value(for: depth) : await last.head()
    }
    let reader = Task.detached(priority: .background) { await value() }
    await gate.waitForArrivals(1)
    switch raise {
    case .escalated: reader.escalatePriority(to: .high)
    case .awaited: Task.detached(priority: .high) { await reader.value }
    case .joined: Task.detached(priority: .high) { await value() }
    }
    // The steps that came to wait later have raised those that they wait for themselves.
    await raised.waitForCount(1)
    #expect(raised.values == [.high])
    gate.open()
    #expect(await value() == depth)
  }

  @Test("ten thousand maps that nobody evaluates are released")
  func unevaluatedMaps() async {
    let instances = InstanceCounter()
    do {
      let token = instances.member()
      var list = List(0..<3).map { $0 + token.number }
      for _ in 0..<10_000 / scale { list = list.map { $0 + 1 } }
      _ = list
    }
    #expect(instances.alive == 0)
  }

  @Test("the sieve of Eratosthenes by nested filters, to the thousandth prime")
  func sieve() async {
    let count = scale == 1 ? 1000 : 200
    @Sendable func sieve(_ numbers: List) -> List {
      List.deferred { () async -> List in
        guard let (prime, rest) = await numbers.uncons() else { return .empty }
        return .just(prime) + sieve(rest.filter { $0 % prime != 0 })
      }
    }
    #expect(await sieve(List(2...)).element(at: count - 1) == (count == 1000 ? 7919 : 1223))
  }

  @Test("all of it on the small stack of a secondary thread")
  func secondaryThread() async {
    // Tasks run on Dispatch's workers, which have 512 KiB.
    await Task.detached { await maps(true) }.value
    await Task.detached { await headsAndTails() }.value
  }
}
