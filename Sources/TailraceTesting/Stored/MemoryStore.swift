public import TailraceStored
import TailraceSupport

/// A store in memory, for tests: its contents outlive the list.
///
/// ```swift
/// let store = MemoryStore<String, Int>()
/// let list = LazyList(storedIn: store, state: 0) { number in
///   number += 1
///   return number <= 2 ? "element \(number)" : nil
/// }
/// _ = try await list.count()
/// store.elements   // ["element 1", "element 2"]
/// store.isEnded   // true
/// ```
///
/// Handles of one memory stand for processes: `other()` makes a second one. Only one handle
/// writes, the first that acquires the lease, until it releases it or is released. If the memory is
/// `shared`, all may write, as in a database, and the first append wins.
public final class MemoryStore<Element: Sendable, State: Sendable>: ListStore {
  /// The contents that a test inspects, and the failures that it orders.
  typealias Place = MemoryPlace<Element, State>

  private let place: Place

  /// Creates an empty store, or one with some elements and no state.
  ///
  /// - Parameters:
  ///   - elements: the stored elements.
  ///   - isEnded: whether the list ends with them.
  ///   - isShared: whether all handles may write.
  public init(_ elements: [Element] = [], isEnded: Bool = false, isShared: Bool = false) {
    var contents = MemoryContents<Element, State>(isShared: isShared)
    contents.elements = elements
    contents.isEnded = isEnded
    place = Place(contents)
  }

  private init(_ place: Place) { self.place = place }

  deinit { release() }

  /// Returns another handle of the same memory, as for another process.
  public func other() -> MemoryStore { MemoryStore(place) }

  /// Gives up the lease, if this handle has it.
  public func release() {
    let key = ObjectIdentifier(self)
    wake { $0.release(key) }
  }

  // MARK: Looking

  /// The stored elements that were not trimmed.
  public var elements: [Element] { place.contents.withLock { $0.elements } }

  /// The last stored state.
  public var state: State? { place.contents.withLock { $0.state } }

  /// Whether the list has ended.
  public var isEnded: Bool { place.contents.withLock { $0.isEnded } }

  /// The appended commits, in order.
  public var commits: [ListCommit<Element, State>] { place.contents.withLock { $0.commits } }

  /// The number of calls of any kind.
  public var calls: Int { place.contents.withLock { $0.calls } }

  // MARK: Faults

  /// Makes the next appends fail, one for each error, without storing anything.
  public func failAppends(with errors: any Error...) {
    place.contents.withLock { $0.failures += errors }
  }

  /// Discards the elements before a position. Positions do not change.
  public func trim(before position: Int) {
    place.contents.withLock { $0.trim(before: position) }
  }

  // MARK: The store

  /// Reads some elements, from a position on.
  public nonisolated(nonsending) func read(
    from position: Int, upTo count: Int
  ) async throws -> ListPage<Element> {
    try place.contents.withLock { $0.read(from: position, upTo: count) }.get()
  }

  /// Waits until there are more elements, the list has ended, or the lease is free.
  public nonisolated(nonsending) func waitForMore(than position: Int) async throws {
    await place.waitForMore(than: position, ObjectIdentifier(self))
  }

  /// Identity, first element, count and end. Handles of one memory have one identity.
  public nonisolated(nonsending) func extent() async throws -> ListExtent {
    place.contents.withLock { $0.extent() }
  }

  /// Becomes the writer, if there is no other.
  public nonisolated(nonsending) func acquireLease() async throws -> ListCheckpoint<State>? {
    let key = ObjectIdentifier(self)
    return place.contents.withLock { $0.acquire(key) }
  }

  /// Stores a commit, if exactly this many elements are stored.
  public nonisolated(nonsending) func append(
    _ commit: ListCommit<Element, State>, at position: Int
  ) async throws {
    let key = ObjectIdentifier(self)
    try wake { $0.append(commit, at: position, key) }.get()
  }

  /// Changes the contents, and wakes the waiting tasks.
  private func wake<Answer: Sendable>(
    _ change: (inout MemoryContents<Element, State>) -> Answer
  ) -> Answer {
    let (answer, waiters) = place.contents.withLock { contents in
      let answer = change(&contents)
      return (answer, contents.waiters.wake(()) { _, _ in true })
    }
    for waiter in waiters { waiter.continuation.resume() }
    return answer
  }
}

/// The memory that handles share.
final class MemoryPlace<Element: Sendable, State: Sendable>: Sendable {
  let contents: Locked<MemoryContents<Element, State>>

  init(_ contents: MemoryContents<Element, State>) { self.contents = Locked(contents) }

  nonisolated(nonsending) func waitForMore(than position: Int, _ key: ObjectIdentifier) async {
    let number = contents.withLock { contents in
      contents.hasNews(behind: position, for: key) ? nil : contents.waiters.enter(position)
    }
    guard let number else { return }
    let mark = Exploring.waits(for: Exploring.Wait("more of ", "a MemoryStore", self))
    defer { mark?.end() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = contents.withLock { $0.waiters.wait(number, continuation) } != nil
        if isOver { continuation.resume() }
      }
    } onCancel: {
      for waiter in contents.withLock({ $0.waiters.tell(number, ()) }) {
        waiter.continuation.resume()
      }
    }
  }
}

/// The contents of a memory: a value with one method for each event.
struct MemoryContents<Element: Sendable, State: Sendable>: Sendable {
  let isShared: Bool
  let identity = String.ofNewList
  /// The elements from `first` on.
  var elements: [Element] = []
  var first = 0
  var state: State?
  var stateCount = 0
  var isEnded = false
  var commits: [ListCommit<Element, State>] = []
  var calls = 0
  var failures: [any Error] = []
  var waiters = MemoryWaiters()
  private var writer: ObjectIdentifier?
  /// The handles whose leases were refused and that have not yet learned that the lease is free.
  private var refused: Set<ObjectIdentifier> = []
  private var freed: Set<ObjectIdentifier> = []

  init(isShared: Bool) { self.isShared = isShared }

  var count: Int { first + elements.count }

  mutating func read(
    from position: Int, upTo count: Int
  ) -> Result<ListPage<Element>, ListStoreError> {
    calls += 1
    guard position >= first else { return .failure(.trimmed(first: first)) }
    let page = elements.dropFirst(position - first).prefix(count)
    return .success(
      ListPage(Array(page), isEnd: isEnded && position + page.count >= self.count))
  }

  mutating func extent() -> ListExtent {
    calls += 1
    return ListExtent(identity: identity, first: first, count: count, isEnded: isEnded)
  }

  mutating func acquire(_ key: ObjectIdentifier) -> ListCheckpoint<State>? {
    calls += 1
    freed.remove(key)
    if !isShared, let writer, writer != key {
      refused.insert(key)
      return nil
    }
    writer = key
    return ListCheckpoint(count: count, state: state, stateCount: stateCount, isEnded: isEnded)
  }

  mutating func append(
    _ commit: ListCommit<Element, State>, at position: Int, _ key: ObjectIdentifier
  ) -> Result<Void, any Error> {
    calls += 1
    if !failures.isEmpty { return .failure(failures.removeFirst()) }
    guard isShared || writer == key, position == count, !isEnded else {
      return .failure(ListStoreError.superseded)
    }
    commits.append(commit)
    elements += commit.elements
    isEnded = commit.isEnd
    if let state = commit.state { (self.state, stateCount) = (state, count) }
    return .success(())
  }

  mutating func trim(before position: Int) {
    let position = min(max(position, first), count)
    elements.removeFirst(position - first)
    first = position
  }

  mutating func release(_ key: ObjectIdentifier) {
    guard writer == key else { return }
    writer = nil
    freed.formUnion(refused)
    refused = []
  }

  /// Whether waiting is unnecessary: there are elements, or the lease is free.
  mutating func hasNews(behind position: Int, for key: ObjectIdentifier) -> Bool {
    calls += 1
    return count > position || isEnded || freed.remove(key) != nil
  }
}

/// The tasks that wait for news.
typealias MemoryWaiters = PositionWaiters<Void, CheckedContinuation<Void, Never>>
