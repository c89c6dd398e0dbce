import Tailrace
import TailraceTesting
import Testing

@Suite("Space: a list holds what can be reached from the heads that somebody holds", .inTurn)
struct SpaceTests {
  typealias Member = Population.Member

  static func members(_ population: Population, _ count: Int = 1000) -> LazyList<Member, Never> {
    LazyList(0..<count).map { population.member($0) }
  }

  @Test("iterating without the head holds one element, exactly")
  func iterating() async {
    let population = Population()
    var position = 0
    for await member in Self.members(population) {
      position += 1
      #expect(member.number == position - 1)
      #expect(population.alive == 1)
    }
    #expect(position == 1000)
    #expect(population.alive == 0)
  }

  @Test("a head that is held holds everything, and lets go of it")
  func held() async {
    let population = Population()
    do {
      let list = Self.members(population)
      #expect(await list.count() == 1000)
      #expect(population.alive == 1000)
      _ = list
    }
    #expect(population.alive == 0)
  }

  @Test("folds and searches of a list that nobody holds keep one element at a time")
  func folds() async {
    let population = Population()
    #expect(await Self.members(population).reduce(0) { $0 + $1.number } == 499_500)
    #expect(await Self.members(population).count() == 1000)
    #expect(await Self.members(population).last()?.number == 999)
    #expect(await Self.members(population).first { $0.number == 900 }?.number == 900)
    #expect(await Self.members(population).first { $0.number < 0 } == nil)
    #expect(await Self.members(population).contains { $0.number == 999 })
    #expect(await Self.members(population).allSatisfy { $0.number >= 0 })
    #expect(await Self.members(population).min { $0.number > $1.number }?.number == 999)
    #expect(await Self.members(population).element(at: 999)?.number == 999)
    #expect(await Self.members(population).filter { $0.number < 0 }.isEmpty())
    #expect(await Self.members(population).dropFirst(990).map(\.number).array().count == 10)
    #expect(
      await Self.members(population).flatMap { _ in LazyList<Int, Never>.empty }.isEmpty())
    #expect(await Self.members(population).drop { $0.number < 999 }.head()?.number == 999)
    #expect(population.alive == 0)
    #expect(population.greatest <= 2)
  }

  @Test("a slice that was evaluated has let go of what it dropped")
  func slices() async {
    let population = Population()
    let rest = Self.members(population).dropFirst(900)
    let late = Self.members(population).drop { $0.number < 900 }
    #expect(await rest.head()?.number == 900)
    #expect(population.alive == 1)
    #expect(await late.head()?.number == 900)
    #expect(population.alive == 2)
    #expect(await rest.tail.count() == 99)
    #expect(population.alive == 101)
    _ = (rest, late)
  }

  @Test("one half of a pair of filters holds what the other has yet to read, and no more")
  func pairs() async {
    let population = Population()
    var odd: LazyList<Member, Never>
    do {
      let all = Self.members(population)
      odd = all.filter { $0.number % 2 == 1 }
      #expect(await all.filter { $0.number % 2 == 0 }.count() == 500)
      _ = all
    }
    #expect(population.alive == 1000)
    while let (_, tail) = await odd.uncons() { odd = tail }
    // The last segment of its own, which began with its 377th element.
    #expect(population.alive == 500 - 376)
    _ = odd
  }

  @Test("sources and closures go when they are exhausted, failed, cut off or abandoned")
  func closures() async {
    let population = Population()
    func token() -> Member { population.member() }

    let exhausted = { [token = token()] in LazyList(0..<3).map { $0 + token.number } }()
    #expect(population.alive == 1)
    #expect(await exhausted.count() == 3)
    #expect(population.alive == 0, "exhausted")

    let failed = { [token = token()] in
      LazyList(0..<3).map { (number: Int) throws -> Int in
        if number == token.number + 1 { throw Mishap(position: 1) }
        return number
      }
    }()
    await #expect(throws: Mishap.self) { try await failed.count() }
    #expect(population.alive == 0, "failed")

    let cut = { [token = token()] in LazyList(0...).map { $0 + token.number } }().prefix(3)
    #expect(await cut.count() == 3)
    #expect(population.alive == 0, "cut off: the last element is not followed by a demand")

    do {
      let abandoned = { [token = token()] in LazyList(0...).map { $0 + token.number } }()
      #expect(await abandoned.head() == 0)
      #expect(population.alive == 1)
      _ = abandoned
    }
    #expect(population.alive == 0, "abandoned")
    _ = (exhausted, failed, cut)
  }

  @Test("asynchronous closures go at the same moments", arguments: [false, true])
  func closuresInTasks(_ suspends: Bool) async {
    let population = Population()
    @Sendable func number(_ token: Member) async -> Int {
      if suspends { await Task.yield() }
      return token.number
    }
    let exhausted = { [token = population.member()] in
      LazyList(0..<3).map { await number(token) + $0 }
    }()
    #expect(await exhausted.head() == 0)
    #expect(population.alive == 1)
    #expect(await exhausted.count() == 3)
    #expect(population.alive == 0, "exhausted")

    let failed = { [token = population.member()] in
      LazyList(0..<3).map { (position: Int) async throws -> Int in
        if await number(token) + position == 1 { throw Mishap(position: 1) }
        return position
      }
    }()
    await #expect(throws: Mishap.self) { try await failed.count() }
    #expect(population.alive == 0, "failed")

    let cut = { [token = population.member()] in
      LazyList(0...).map { await number(token) + $0 }
    }().prefix(3)
    #expect(await cut.count() == 3)
    #expect(population.alive == 0, "cut off")

    do {
      let parked = { [token = population.member()] in
        LazyList(0...).map { await number(token) + $0 }.filter { _ async in true }
      }()
      #expect(await parked.head() == 0)
      #expect(population.alive == 1)
      _ = parked
    }
    #expect(population.alive == 0, "abandoned")
    _ = (exhausted, failed, cut)
  }

  @Test("head and tail closures go when they have run")
  func headAndTail() async {
    let population = Population()
    let list = { [head = population.member(1), tail = population.member(2)] in
      LazyList<Int, Never>(head: { head.number }, tail: { .just(tail.number) })
    }()
    #expect(population.alive == 2)
    #expect(await list.head() == 1)
    #expect(population.alive == 1)
    #expect(await list.count() == 2)
    #expect(population.alive == 0)
    _ = list
  }

  @Test("a recursive list is no cycle")
  func recursive() async {
    let population = Population()
    do {
      let token = population.member()
      let fibs = LazyList<Int, Never>.recursive { fibs in
        [0, 1] + zip(fibs, fibs.tail).map { $0 + $1 + token.number }
      }
      #expect(await fibs.prefix(10).array() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34])
      #expect(await fibs.element(at: 80) == 23_416_728_348_467_685)
      _ = token
    }
    #expect(population.alive == 0)
  }

  @Test("everything that an operator holds goes with it", arguments: Row.all, SourceKind.allCases)
  func release(_ row: Row, _ kind: SourceKind) async throws {
    let population = Population()
    do {
      let token = population.member()
      let source = kind.make(Probe()).map { $0 + token.number }
      let list = row.apply(source, Calls())
      _ = try await list.head()
      _ = token
    }
    await population.waitUntilEmpty()
    do {
      let token = population.member()
      let list = row.apply(kind.make(Probe()).map { $0 + token.number }, Calls())
      #expect(try await list.array() == row.elements)
      _ = token
      withExtendedLifetime(list) {}
    }
    await population.waitUntilEmpty()
  }
}
