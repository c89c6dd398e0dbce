import Tailrace
import TailraceTesting
import Testing

@Suite("Space: lists in a list go with their elements when nobody holds the outer one", .inTurn)
struct InnerSpaceTests {
  typealias Member = InstanceCounter.Member
  typealias Members = LazyList<Member, Never>

  /// How many members an inner list has. At most 128 of them are computed at once.
  static let size = 400

  /// The inner lists of a row, and where they are counted.
  struct Inner: Sendable {
    let instances = InstanceCounter()
    let isAsync: Bool

    func list(_ count: Int = size) -> Members {
      let instances = instances
      guard isAsync else { return LazyList(0..<count).map { instances.member($0) } }
      return LazyList(0..<count).map { number async in
        if number % 8 == 0 { await Task.yield() }
        return instances.member(number)
      }
    }

    func failingList() -> LazyList<Member, any Error> { list().setFailureType() }

    func array() -> [Member] { (0..<100).map { instances.member($0) } }

    /// The lists as the elements of a list whose steps are asynchronous.
    func lists(_ count: Int = 10) -> LazyList<Members, Never> {
      LazyList(0..<count).map { _ async in
        await Task.yield()
        return self.list()
      }
    }
  }

  /// Reads lists in a list, which nobody else holds, and returns how many members it has met.
  struct Row: Sendable, Testing.CustomTestStringConvertible {
    let testDescription: String
    /// How many members it meets.
    let count: Int
    /// How many of them are held on purpose: those of a list that a closure or a loop has in hand.
    let inHand: Int
    let read: @Sendable (Inner) async throws -> Int

    init(
      _ name: String, count: Int = 10 * size, inHand: Int = 0,
      _ read: @escaping @Sendable (Inner) async throws -> Int
    ) {
      testDescription = name
      self.count = count
      self.inHand = inHand
      self.read = read
    }
  }

  @Test("no inner list is held behind what is read", arguments: Row.all, [false, true])
  func alive(_ row: Row, _ isAsync: Bool) async throws {
    let inner = Inner(isAsync: isAsync)
    #expect(try await row.read(inner) == row.count)
    #expect(inner.instances.greatest <= 150 + row.inHand)
    await inner.instances.waitUntilEmpty()
  }

  @Test("with the head held all is held, and every element is where it was")
  func held() async {
    let inner = Inner(isAsync: true)
    do {
      let lists = inner.lists(3)
      #expect(await lists.joined().count() == 3 * Self.size)
      #expect(inner.instances.alive == 3 * Self.size)
      let numbers = Array(0..<Self.size)
      #expect(await lists.joined().map(\.number).array() == numbers + numbers + numbers)
      withExtendedLifetime(lists) {}
    }
    await inner.instances.waitUntilEmpty()
  }

  @Test("a reader that was copied leaves the elements to the copy", arguments: [1, 8, 9, 30])
  func copies(_ position: Int) async {
    let instances = InstanceCounter()
    var reader = LazyList(0..<40).map { number async in instances.member(number) }
      .makeAsyncIterator()
    for number in 0..<position {
      let member = await reader.next()
      #expect(member?.number == number)
    }
    var copy = reader
    for number in position..<40 {
      let member = await reader.next()
      #expect(member?.number == number)
    }
    for number in position..<40 {
      let member = await copy.next()
      #expect(member?.number == number)
    }
  }

  @Test("a list whose head is let go of on the way gives the rest, and holds what is not read")
  func releasedOnTheWay() async {
    let instances = InstanceCounter()
    var held: Members? = LazyList(0..<100).map { number async in instances.member(number) }
    if let held { #expect(await held.count() == 100) }
    var reader = held?.makeAsyncIterator()
    for number in 0..<30 {
      let member = await reader?.next()
      #expect(member?.number == number)
    }
    #expect(instances.alive == 100)
    held = nil
    for number in 30..<60 {
      let member = await reader?.next()
      #expect(member?.number == number)
    }
    #expect(instances.alive <= 100 - 56 + 1, "elements before the segment of the 57th are gone")
    reader = nil
    #expect(instances.alive == 0)
  }

  @Test("a loop that waits for runs finds each element in one", arguments: [1, 7, 8, 200])
  func runs(_ count: Int) async {
    let instances = InstanceCounter()
    var numbers: [Int] = []
    await LazyList(0..<count).map { number async in
      await Task.yield()
      return instances.member(number)
    }.forEachSpan { span in
      for index in span.indices { numbers.append(span[index].number) }
    }
    #expect(numbers == Array(0..<count))
    #expect(instances.alive == 0)
  }
}
