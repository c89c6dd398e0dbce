import Tailrace
import TailraceStored
import TailraceSupport
import TailraceTesting
import Testing

// Elements that a store refuses, and those that are stored together with them.
extension StoredListTests {
  @Test("an element that the store refuses fails at its position, whatever it is stored with")
  func refusedElement() async throws {
    let (store, steps) = (RefusingStore([3, 5]), Probe<Int>())
    let list = Self.numbers(in: store, upTo: 20, steps)
    for _ in 0..<2 {
      await #expect(throws: Mishap(position: 2)) { try await list.array() }
      #expect(list.evaluatedPrefix == [1, 2])
    }
    #expect(try await list.head() == 1)
    #expect(try await list.prefix(2).array() == [1, 2])
    await #expect(throws: Mishap(position: 2)) { try await list.element(at: 2) }
    // Each with its own state: a list that is made anew computes the third one from there.
    #expect(store.base.commits == [ListCommit([1], state: 1), ListCommit([2], state: 2)])
    store.refuse([5])
    await #expect(throws: Mishap(position: 4)) { try await list.array() }
    #expect(list.evaluatedPrefix == [1, 2, 3, 4])
    store.refuse([])
    #expect(try await list.array() == Array(1...20))
    #expect(store.base.elements == Array(1...20))
    #expect(store.base.state == 20)
    #expect(store.base.isEnded)
    #expect(steps.values == Array(1...21))
  }

  @Test("the first demand may be for one element, and a refused element may be the last")
  func refusedLast() async throws {
    let (store, steps) = (RefusingStore([4]), Probe<Int>())
    let list = Self.numbers(in: store, upTo: 4, steps)
    #expect(try await list.head() == 1)
    await #expect(throws: Mishap(position: 3)) { try await list.reduce(0, +) }
    #expect(store.base.elements == [1, 2, 3])
    #expect(!store.base.isEnded)
    // Another list goes on from the last state that was stored.
    #expect(try await Self.numbers(in: store.base, upTo: 4).array() == [1, 2, 3, 4])
    // The first one reads what the other has stored, and its own element does not count.
    store.refuse([])
    #expect(try await list.array() == [1, 2, 3, 4])
    #expect(steps.values == [1, 2, 3, 4, 5])
  }

  @Test("elements that can only be stored one by one are no failure")
  func oneByOne() async throws {
    let (store, steps) = (Store(), Probe<Int>())
    store.failAppends(with: Mishap(position: 0))
    #expect(try await Self.numbers(in: store, upTo: 5, steps).array() == Array(1...5))
    let commits = (1...5).map { (number: Int) -> ListCommit<Int, Int> in
      ListCommit([number], state: number, isEnd: number == 5)
    }
    #expect(store.commits == commits)
    #expect(steps.values == Array(1...6))
  }

  @Test("a snapshot stays with its element, also if the elements are stored one by one")
  func snapshots() async throws {
    let store = MemoryStore<Int, [Int]>()
    store.failAppends(with: Mishap(position: 0))
    let list = Stored(
      storedIn: store, state: [], snapshots: .every(3), rebuilding: { $0.append($1) },
      next: { $0.count < 4 ? $0.count : nil })
    #expect(try await list.array() == [0, 1, 2, 3])
    #expect(store.commits.prefix(3).map(\.state) == [nil, nil, [0, 1, 2]])
  }

  @Test("a failure of a step is told after that of the elements before it")
  func refusedBeforeFailure() async throws {
    let (store, attempts) = (RefusingStore([2]), Counter())
    let list = Stored(storedIn: store, state: 0) { number in
      number += 1
      if number == 4, attempts.increment() == 1 { throw Mishap(position: 3) }
      return number <= 5 ? number : nil
    }
    await #expect(throws: Mishap(position: 1)) { try await list.array() }
    store.refuse([])
    await #expect(throws: Mishap(position: 3)) { try await list.array() }
    #expect(list.evaluatedPrefix == [1, 2, 3])
    #expect(attempts.value == 1)
    #expect(try await list.array() == [1, 2, 3, 4, 5])
  }

  @Test("the loser of a race while storing one by one takes the winner's elements from there on")
  func racingOneByOne() async throws {
    let store = RefusingStore([3], in: Store(isShared: true)) { commit, base in
      guard commit.elements == [2] else { return }
      try await base.other().append(ListCommit([20, 30], state: 30), at: 1)
    }
    #expect(try await Self.numbers(in: store, upTo: 33).array() == [1, 20, 30, 31, 32, 33])
    #expect(store.base.elements == [1, 20, 30, 31, 32, 33])
  }

  @Test("why a store was poisoned is told, and a cancelled append is not made again at once")
  func poisonedAndCancelled() async throws {
    let (store, steps) = (Store(), Probe<Int>())
    let list = Self.numbers(in: store, upTo: 5, steps)
    store.failAppends(with: Mishap(position: 0), ListStoreError.poisoned)
    await #expect(throws: Mishap(position: 0)) { try await list.array() }
    store.failAppends(with: CancellationError())
    await #expect(throws: CancellationError.self) { try await list.array() }
    #expect(store.elements == [])
    #expect(try await list.array() == Array(1...5))
    #expect(store.commits.count == 1)
    #expect(steps.values == Array(1...6))
  }

  @Test("a commit that is too large is stored in parts, each with the state after it")
  func tooLarge() async throws {
    let (store, steps) = (Store(), Probe<Int>())
    // The second and the third number are none that can be right.
    let failures = [3, 100, 0].map { ListStoreError.tooLarge(fitting: $0) }
    store.failAppends(with: failures[0], failures[1], failures[2])
    #expect(try await Self.numbers(in: store, upTo: 7, steps).array() == Array(1...7))
    #expect(store.commits.map(\.elements) == [[1], [2, 3, 4, 5, 6, 7]])
    #expect(store.commits.map(\.state) == [1, 7])
    #expect(store.isEnded)
    #expect(steps.values == Array(1...8))
    // A single element that is too large is refused.
    let single = Store()
    single.failAppends(with: failures[0])
    await #expect(throws: failures[0]) { try await Self.numbers(in: single).head() }
    #expect(try await Self.numbers(in: single).head() == 1)
  }

  // MARK: Positions

  @Test("a list that begins beyond what is stored is refused, until the store has so many")
  func beginningBeyond() async throws {
    let store = Store()
    #expect(try await Self.numbers(in: store).prefix(3).count() == 3)
    let list = Stored(storedIn: store, from: 5, state: 0) { number in
      number += 1
      return number
    }
    for _ in 0..<2 {
      await #expect {
        try await list.head()
      } throws: {
        guard case ListStoreError.refused(let why) = $0 else { return false }
        return why.contains("has 3 elements") && why.contains("at position 5")
      }
    }
    #expect(try await Self.numbers(in: store).prefix(5).count() == 5)
    #expect(try await list.head() == 6)
  }

  @Test("a store that grants leases and takes nothing is told, and does not compute for ever")
  func noProgress() async throws {
    let steps = Counter()
    let list = LazyList(storedIn: TakesNothing(), state: 0) { number in
      steps.increment()
      number += 1
      return number
    }
    await #expect(throws: ListStoreError.superseded) { try await list.head() }
    #expect(steps.value == 2)
  }
}

/// A store that refuses commits with some elements.
private final class RefusingStore: ListStore {
  typealias Base = MemoryStore<Int, Int>
  typealias Interruption = @Sendable (ListCommit<Int, Int>, Base) async throws -> Void

  let base: Base
  private let refused: Locked<Set<Int>>
  /// Runs before each append.
  private let interruption: Interruption

  init(
    _ refused: Set<Int>, in base: Base = Base(), interruption: @escaping Interruption = { _, _ in }
  ) {
    self.base = base
    self.refused = Locked(refused)
    self.interruption = interruption
  }

  /// Refuses other elements from now on.
  func refuse(_ elements: Set<Int>) { refused.withLock { $0 = elements } }

  func read(from position: Int, upTo count: Int) async throws -> ListPage<Int> {
    try await base.read(from: position, upTo: count)
  }
  func waitForMore(than position: Int) async throws {
    try await base.waitForMore(than: position)
  }
  func extent() async throws -> ListExtent { try await base.extent() }
  func acquireLease() async throws -> ListCheckpoint<Int>? { try await base.acquireLease() }
  func append(_ commit: ListCommit<Int, Int>, at position: Int) async throws {
    try await interruption(commit, base)
    let refused = refused.withLock { $0 }
    if let element = commit.elements.first(where: { refused.contains($0) }) {
      throw Mishap(position: element - 1)
    }
    try await base.append(commit, at: position)
  }
}

/// Grants each lease, and supersedes each append.
private struct TakesNothing: ListStore {
  func read(from position: Int, upTo count: Int) async throws -> ListPage<Int> { ListPage([]) }
  func waitForMore(than position: Int) async throws {}
  func extent() async throws -> ListExtent {
    ListExtent(identity: nil, count: 0, isEnded: false)
  }
  func acquireLease() async throws -> ListCheckpoint<Int>? {
    ListCheckpoint(count: 0, state: nil, isEnded: false)
  }
  func append(_ commit: ListCommit<Int, Int>, at position: Int) async throws {
    throw ListStoreError.superseded
  }
}
