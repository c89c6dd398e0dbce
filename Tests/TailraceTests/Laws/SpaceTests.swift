import Tailrace
import TailraceTesting
import Testing

@Suite("Space: a list holds what can be reached from the heads that somebody holds", .inTurn)
struct SpaceTests {
  typealias Member = InstanceCounter.Member

  static func members(_ instances: InstanceCounter, _ count: Int = 1000) -> LazyList<Member, Never>
  {
    LazyList(0..<count).map { instances.member($0) }
  }

  @Test("iterating without the head holds one element, exactly")
  func iterating() async {
    let instances = InstanceCounter()
    var position = 0
    for await member in Self.members(instances) {
      position += 1
      #expect(member.number == position - 1)
      #expect(instances.alive == 1)
    }
    #expect(position == 1000)
    #expect(instances.alive == 0)
  }

  @Test("a head that is held holds everything, and lets go of it")
  func held() async {
    let instances = InstanceCounter()
    do {
      let list = Self.members(instances)
      #expect(await list.count() == 1000)
      #expect(instances.alive == 1000)
      _ = list
    }
    #expect(instances.alive == 0)
  }

  @Test("folds and searches of a list that nobody holds keep one element at a time")
  func folds() async {
    let instances = InstanceCounter()
    #expect(await Self.members(instances).reduce(0) { $0 + $1.number } == 499_500)
    #expect(await Self.members(instances).count() == 1000)
    #expect(await Self.members(instances).last()?.number == 999)
    #expect(await Self.members(instances).first { $0.number == 900 }?.number == 900)
    #expect(await Self.members(instances).first { $0.number < 0 } == nil)
    #expect(await Self.members(instances).contains { $0.number == 999 })
    #expect(await Self.members(instances).allSatisfy { $0.number >= 0 })
    #expect(await Self.members(instances).min { $0.number > $1.number }?.number == 999)
    #expect(await Self.members(instances).element(at: 999)?.number == 999)
    #expect(await Self.members(instances).filter { $0.number < 0 }.isEmpty())
    #expect(await Self.members(instances).dropFirst(990).map(\.number).array().count == 10)
    #expect(
      await Self.members(instances).flatMap { _ in LazyList<Int, Never>.empty }.isEmpty())
    #expect(await Self.members(instances).drop { $0.number < 999 }.head()?.number == 999)
    #expect(instances.alive == 0)
    #expect(instances.greatest <= 2)
  }

  @Test("a slice that was evaluated has let go of what it dropped")
  func slices() async {
    let instances = InstanceCounter()
    let rest = Self.members(instances).dropFirst(900)
    let late = Self.members(instances).drop { $0.number < 900 }
    #expect(await rest.head()?.number == 900)
    #expect(instances.alive == 1)
    #expect(await late.head()?.number == 900)
    #expect(instances.alive == 2)
    #expect(await rest.tail.count() == 99)
    #expect(instances.alive == 101)
    _ = (rest, late)
  }

  @Test("one half of a pair of filters holds what the other has yet to read, and no more")
  func pairs() async {
    let instances = InstanceCounter()
    var odd: LazyList<Member, Never>
    do {
      let all = Self.members(instances)
      odd = all.filter { $0.number % 2 == 1 }
      #expect(await all.filter { $0.number % 2 == 0 }.count() == 500)
      _ = all
    }
    #expect(instances.alive == 1000)
    while let (_, tail) = await odd.uncons() { odd = tail }
    // The last segment of its own, which began with its 377th element.
    #expect(instances.alive == 500 - 376)
    _ = odd
  }

  @Test("sources and closures go when they are exhausted, failed, cut off or abandoned")
  func closures() async {
    let instances = InstanceCounter()
    func token() -> Member { instances.member() }

    let exhausted = { [token = token()] in LazyList(0..<3).map { $0 + token.number } }()
    #expect(instances.alive == 1)
    #expect(await exhausted.count() == 3)
    #expect(instances.alive == 0, "exhausted")

    let failed = { [token = token()] in
      LazyList(0..<3).map { (number: Int) throws -> Int in
        if number == token.number + 1 { throw Mishap(position: 1) }
        return number
      }
    }()
    await #expect(throws: Mishap.self) { try await failed.count() }
    #expect(instances.alive == 0, "failed")

    let cut = { [token = token()] in LazyList(0...).map { $0 + token.number } }().prefix(3)
    #expect(await cut.count() == 3)
    #expect(instances.alive == 0, "cut off: the last element is not followed by a demand")

    do {
      let abandoned = { [token = token()] in LazyList(0...).map { $0 + token.number } }()
      #expect(await abandoned.head() == 0)
      #expect(instances.alive == 1)
      _ = abandoned
    }
    #expect(instances.alive == 0, "abandoned")
    _ = (exhausted, failed, cut)
  }

  @Test("asynchronous closures go at the same moments", arguments: [false, true])
  func closuresInTasks(_ suspends: Bool) async {
    let instances = InstanceCounter()
    @Sendable func number(_ token: Member) async -> Int {
      if suspends { await Task.yield() }
      return token.number
    }
    let exhausted = { [token = instances.member()] in
      LazyList(0..<3).map { await number(token) + $0 }
    }()
    #expect(await exhausted.head() == 0)
    #expect(instances.alive == 1)
    #expect(await exhausted.count() == 3)
    #expect(instances.alive == 0, "exhausted")

    let failed = { [token = instances.member()] in
      LazyList(0..<3).map { (position: Int) async throws -> Int in
        if await number(token) + position == 1 { throw Mishap(position: 1) }
        return position
      }
    }()
    await #expect(throws: Mishap.self) { try await failed.count() }
    #expect(instances.alive == 0, "failed")

    let cut = { [token = instances.member()] in
      LazyList(0...).map { await number(token) + $0 }
    }().prefix(3)
    #expect(await cut.count() == 3)
    #expect(instances.alive == 0, "cut off")

    do {
      let parked = { [token = instances.member()] in
        LazyList(0...).map { await number(token) + $0 }.filter { _ async in true }
      }()
      #expect(await parked.head() == 0)
      #expect(instances.alive == 1)
      _ = parked
    }
    #expect(instances.alive == 0, "abandoned")
    _ = (exhausted, failed, cut)
  }

  @Test("head and tail closures go when they have run")
  func headAndTail() async {
    let instances = InstanceCounter()
    let list = { [head = instances.member(1), tail = instances.member(2)] in
      LazyList<Int, Never>(head: { head.number }, tail: { .just(tail.number) })
    }()
    #expect(instances.alive == 2)
    #expect(await list.head() == 1)
    #expect(instances.alive == 1)
    #expect(await list.count() == 2)
    #expect(instances.alive == 0)
    _ = list
  }

  @Test("a recursive list is no cycle")
  func recursive() async {
    let instances = InstanceCounter()
    do {
      let token = instances.member()
      let fibs = LazyList<Int, Never>.recursive { fibs in
        [0, 1] + zip(fibs, fibs.tail).map { $0 + $1 + token.number }
      }
      #expect(await fibs.prefix(10).array() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34])
      #expect(await fibs.element(at: 80) == 23_416_728_348_467_685)
      _ = token
    }
    #expect(instances.alive == 0)
  }

  @Test("everything that an operator holds goes with it", arguments: Row.all, SourceKind.allCases)
  func release(_ row: Row, _ kind: SourceKind) async throws {
    let instances = InstanceCounter()
    do {
      let token = instances.member()
      let source = kind.make(Probe()).map { $0 + token.number }
      let list = row.apply(source, Calls())
      _ = try await list.head()
      _ = token
    }
    await instances.waitUntilEmpty()
    do {
      let token = instances.member()
      let list = row.apply(kind.make(Probe()).map { $0 + token.number }, Calls())
      #expect(try await list.array() == row.elements)
      _ = token
      withExtendedLifetime(list) {}
    }
    await instances.waitUntilEmpty()
  }
}
