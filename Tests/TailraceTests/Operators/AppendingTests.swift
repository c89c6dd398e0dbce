import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

#if DEBUG
  private let scale = 10
#else
  private let scale = 1
#endif

@Suite("Appending to a list that has been read", .tags(.long), .inTurn)
struct AppendingTests {
  typealias List = LazyList<Int, Never>

  /// How many concatenations an element passes through that is evaluated next.
  static func layers(_ list: List) -> Int {
    guard let segment = list.segment, !segment.published.load(ordering: .acquiring).isClosed,
      let concatenation = segment.owner?.producer?.concatenation
    else { return 0 }
    // Of a part of a list the evaluated elements are read.
    guard let front = concatenation.front, concatenation.left == .max else { return 1 }
    return 1 + layers(List(segment: front.segment, offset: front.index))
  }

  /// Reads a list to its end, and looks at each front.
  static func greatestLayers(_ list: consuming List) async -> Int {
    var rest = list
    var greatest = 0
    while let (_, tail) = await rest.uncons() {
      greatest = max(greatest, layers(tail))
      rest = tail
    }
    return greatest
  }

  struct Look: Sendable, Testing.CustomTestStringConvertible {
    let testDescription: String
    /// The number of elements that are read before the next one is appended.
    let count: @Sendable (_ round: Int) -> Int

    init(_ name: String, _ count: @escaping @Sendable (Int) -> Int) {
      testDescription = name
      self.count = count
    }
  }

  static let looks = [
    Look("none") { _ in 0 },
    Look("at the head") { _ in 1 },
    Look("at five elements") { _ in 5 },
    Look("at one element more each time") { $0 },
    Look("at half") { $0 / 2 },
    Look("at all, and behind") { $0 + 2 },
    Look("at more and at less") { $0 * 7919 % 13 },
    Look("at one element less each time") { 300 - $0 },
    Look("at all, once, and then at the head") { $0 == 100 ? 100 : 1 },
    Look("at half, once, and then not at all") { $0 == 100 ? 50 : 0 },
  ]

  @Test("looks add no layers, whatever they read, and nothing is computed twice", arguments: looks)
  func reading(_ look: Look) async {
    let calls = Probe<Int>()
    var list = List.empty
    for round in 0..<200 {
      list = list + List(round..<round + 1).map { calls.pass($0) }
      let seen = await list.prefix(look.count(round)).array()
      #expect(seen == Array(0..<min(look.count(round), round + 1)))
    }
    let again = list
    #expect(await Self.greatestLayers(list) <= 1)
    #expect(await again.array() == Array(0..<200))
    #expect(calls.values == Array(0..<200))
  }

  @Test("nor do they on the left, on both sides, on tails, under names, behind what is prepended")
  func nesting() async {
    let rounds = 100
    var (left, both, long) = (List.empty, List.empty, List.empty)
    var (named, deque) = (List.just(0), List.just(0))
    var queue = List.just(-1) + .just(0)
    for number in 1...rounds {
      left = LazyList(number..<number + 1) + left
      both = number % 2 == 0 ? both + .just(number) : .just(number) + both
      long = long + (List(0..<2) + .just(2)) + (.just(3) + List(4..<6))
      named = named.named("\(number)") + .just(number)
      deque = deque.prepending(-number) + .just(number)
      for list in [left, both, long, named, deque] { _ = await list.element(at: number / 3) }
      queue = queue + .just(number)
      guard let (head, tail) = await queue.uncons() else { break }
      #expect(head == number - 2)
      queue = tail
    }
    for list in [left, both, long, named, deque, queue] {
      #expect(await Self.greatestLayers(list) <= 1)
    }
    #expect(await left.array() == (1...rounds).reversed())
    #expect(await both.count() == rounds)
    #expect(await long.array() == (0..<rounds).flatMap { _ in 0..<6 })
    #expect(await named.array() == Array(0...rounds))
    #expect(await deque.array() == Array(-rounds...rounds))
    #expect(await queue.array() == [rounds - 1, rounds])
  }

  @Test("lists that go on from the same one share what they have in common, and nothing else")
  func branches() async {
    let calls = Probe<Int>()
    let trunk = List(0..<10).map { calls.pass($0) } + List(10..<20).map { calls.pass($0) }
    #expect(await trunk.element(at: 4) == 4)
    let branches = (100..<110).map { trunk + .just($0) }
    #expect(calls.count == 5, "nothing is evaluated by +")
    for (number, branch) in branches.enumerated() {
      #expect(await branch.element(at: number + 7) == number + 7)
      #expect(calls.count == number + 8)
    }
    for (number, branch) in branches.enumerated() {
      #expect(await branch.array() == Array(0..<20) + [100 + number])
    }
    #expect(await trunk.array() == Array(0..<20))
    #expect(calls.values == Array(0..<20))
  }

  @Test("a list that is appended to while it is evaluated is opened later")
  func busy() async {
    let lists = Probe<List>()
    let sum =
      List(0..<50).map { number in
        // Here the sum is being evaluated.
        if number > 0, number < 30, let list = lists.values.last { lists.record(list + .just(100)) }
        return number
      } + .just(50)
    lists.record(sum)
    #expect(await sum.element(at: 30) == 30)
    let longest = lists.values.last ?? .empty
    #expect(lists.count == 30)
    #expect(await longest.prefix(41).array() == Array(0...40))
    #expect(Self.layers(longest.dropFirst(40)) == 1)
    #expect(await longest.array() == Array(0...50) + Array(repeating: 100, count: 29))
  }

  @Test("failures stay where they are, and retried ones are retried once for all")
  func failures() async throws {
    typealias Failing = LazyList<Int, any Error>
    let calls = Probe<Int>()
    let failing = Failing(1..<5).map { (number: Int) throws -> Int in
      if calls.pass(number) == 3 { throw Mishap(position: 2) }
      return number
    }
    var list = Failing.just(0) + failing
    for _ in 0..<3 {
      await #expect(throws: Mishap.self) { try await list.count() }
      #expect(list.evaluatedPrefix == [0, 1, 2])
      list = list + .just(9)
    }
    #expect(calls.values == [1, 2, 3])

    let attempts = Probe<Int>()
    let retried = Failing(state: 0, retryingFailures: true) { (state: inout Int) throws -> Int? in
      attempts.record(state)
      if attempts.count == 2 { throw Mishap(position: 1) }
      state += 1
      return state < 4 ? state : nil
    }
    let first = retried + .just(8)
    #expect(try await first.head() == 1)
    await #expect(throws: Mishap.self) { try await first.element(at: 1) }
    let second = first + .just(9)
    #expect(try await second.array() == [1, 2, 3, 8, 9])
    #expect(try await first.array() == [1, 2, 3, 8])
    #expect(attempts.values == [0, 1, 1, 2, 3])
  }

  @Test("tasks that append to a list, and read it, at once")
  func tasks() async {
    let calls = Probe<Int>()
    let trunk = List(0..<300).map { calls.pass($0) } + List(300..<600).map { calls.pass($0) }
    await withTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          var list = trunk
          for round in 0..<60 {
            list = list + .just(round)
            #expect(await list.element(at: round * task) == round * task)
          }
          #expect(await list.array() == Array(0..<600) + Array(0..<60))
        }
      }
    }
    #expect(calls.values == Array(0..<600))
  }

  // MARK: Space and stack

  @Test("a tail that is held keeps no elements in front of it")
  func tails() async {
    let instances = InstanceCounter()
    typealias Members = LazyList<InstanceCounter.Member, Never>
    func run(_ count: Int) -> Members { LazyList(0..<count).map { instances.member($0) } }
    var queue = run(100) + run(100)
    var greatest = 0
    for _ in 0..<300 {
      queue = queue + run(1)
      guard let (_, tail) = await queue.uncons() else { break }
      queue = tail
      greatest = max(greatest, instances.alive)
    }
    #expect(greatest <= 16)
    #expect(await queue.count() == 200)
    queue = .empty
    #expect(instances.alive == 0)

    let list = run(1000) + run(1)
    #expect(await list.element(at: 100)?.number == 100)
    let rest = (list + run(1)).dropFirst(900)
    #expect(await rest.head()?.number == 900)
    #expect(instances.alive == 901)
    _ = list
  }

  @Test("a list that was let go of is not kept by what was appended to it")
  func letGo() async {
    let instances = InstanceCounter()
    typealias Members = LazyList<InstanceCounter.Member, Never>
    var rest: Members
    do {
      let list = LazyList(0..<1000).map { instances.member($0) } + [instances.member(1000)]
      #expect(await list.element(at: 100)?.number == 100)
      rest = (list + [instances.member(1001)]).dropFirst(900)
    }
    #expect(await rest.head()?.number == 900)
    #expect(instances.alive <= 128 + 2)
    #expect(await rest.last()?.number == 1001)
    rest = .empty
    #expect(instances.alive == 0)
  }

  @Test("a hundred thousand that were read in between: evaluated, or released", arguments: 0...3)
  func deep(_ nesting: Int) async {
    let instances = InstanceCounter()
    let count = 100_000 / scale
    do {
      var list = LazyList<InstanceCounter.Member, Never>.empty
      var held: [LazyList<InstanceCounter.Member, Never>] = []
      for number in 0..<count {
        let one = LazyList(number..<number + 1).map { instances.member($0) }
        list = nesting == 1 || nesting == 2 && number % 2 == 0 ? one + list : list + one
        if nesting == 3 { held.append(list) }
        // Less each time, so that each keeps the one before it.
        _ = await list.prefix(number % 1000 == 0 ? 3 : number % 100 == 0 ? 2 : 1).count()
      }
      let copy = list + list
      #expect(await copy.count() == 2 * count)
      #expect(instances.alive == count)
      let unread = copy + list
      _ = await unread.head()
      withExtendedLifetime((list, copy, unread, held)) {}
    }
    #expect(instances.alive == 0)
  }

  @Test("a thousand that each keep the one before, because less is read of each, are released")
  func chain() async {
    let instances = InstanceCounter()
    do {
      let token = instances.member()
      var list = List(0..<2000).map { $0 + token.number } + .just(2000)
      for number in 0..<1000 {
        #expect(await list.element(at: 1000 - number) == 1000 - number)
        list = list + .just(number)
      }
      #expect(instances.alive == 1)
    }
    #expect(instances.alive == 0)
  }
}
