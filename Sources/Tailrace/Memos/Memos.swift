/// A value for each key, computed at the first demand, once, for any number of tasks.
///
/// ```swift
/// let pages = Memos { (number: Int) in try await download(page: number) }
/// async let one = pages.value(for: 1)
/// async let same = pages.value(for: 1)
/// async let other = pages.value(for: 2)
/// print(try await one == same, try await other)   // true page 2; after two downloads
/// ```
///
/// It is a ``Memo`` for each key, and keeps a memo's promises: a computation is shared by all who ask
/// while it goes on, a cancelled task stops waiting and nothing else, a key that needs itself, by way
/// of whatever other keys and lists, is a ``CyclicEvaluationError`` that names them. A computation that
/// nobody waits for any more goes on and is remembered. See <doc:ValuesByKey>.
///
/// ```swift
/// let thumbnails = Memos(
///   capacity: .cost(50_000_000) { $0.count }, lifetime: .seconds(3600), retryingFailures: true
/// ) { (name: String) in try await thumbnail(of: name) }
/// ```
///
/// Copies share all values. A key that is not equal to itself, such as `Double.nan`, is another key each
/// time: every demand computes it anew, and nothing is remembered.
///
/// - Isolation: a plain closure runs in the task that demands first, an asynchronous one in a task of
///   its own, which has the task-locals of that demand and the priority of those who wait. No closure
///   runs under a lock; the `==` and `hash(into:)` of the keys do, as those of a dictionary behind a
///   mutex would: they must not ask the same memos.
/// - Complexity: a value that is there costs a lock and a look into a dictionary: no task, no hop and no
///   allocation.
public struct Memos<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline let store: MemoStore<Key, Value, Failure>

  @inlinable
  init(store: MemoStore<Key, Value, Failure>) { self.store = store }

  /// Returns the value of a key, computed by the first task that asks, awaited by the others.
  ///
  /// ```swift
  /// let lengths = Memos { (word: String) in word.count }
  /// await lengths.value(for: "three")   // 5
  /// ```
  ///
  /// - Failure: the closure's error, the same for everybody who waits, and for those who ask later
  ///   unless failures are retried.
  /// - Cancellation: throws `CancellationError` where `Failure` is `any Error`; otherwise waits for the
  ///   value, as `Task.value` does. A value that is there can always be read, and the computation goes
  ///   on while the memos exist.
  @inlinable
  nonisolated(nonsending) public func value(for key: Key) async throws(Failure) -> Value {
    if let value = store.hit(key) { return value }
    return try await store.demand(key)
  }

  /// Computes a key anew. Until the new value is there, the old one is served.
  ///
  /// ```swift
  /// pages.refresh(1)   // at once; who asks meanwhile gets the page that is there
  /// ```
  ///
  /// A key without a value is computed as by a demand. One that is being computed is left to that.
  ///
  /// - Isolation: a plain closure runs right here; an asynchronous one runs here until it suspends.
  /// - Failure: leaves the old value where it is, and counts.
  @inlinable
  public func refresh(_ key: Key) { store.refresh(key) }

  /// Forgets the value of a key: the next demand computes it anew.
  ///
  /// ```swift
  /// let lengths = Memos { (word: String) in word.count }
  /// _ = await lengths.value(for: "three")
  /// lengths.forget("three")
  /// lengths.peek("three")   // nil
  /// ```
  ///
  /// Whoever waits for it gets what is being computed; if nobody does, that is cancelled.
  @inlinable
  public func forget(_ key: Key) {
    // Released outside of the lock.
    let former = store.table.withLock { $0.forget(key) }
    withExtendedLifetime(former) {}
  }

  /// Forgets all values. What has been counted stays.
  @inlinable
  public func forgetAll() {
    let former = store.table.withLock { $0.forgetAll() }
    withExtendedLifetime(former) {}
  }
}

// What can be said without computing anything.
extension Memos {
  /// Returns the value of a key, if there is one. It computes nothing, and counts as no use.
  ///
  /// ```swift
  /// let lengths = Memos { (word: String) in word.count }
  /// lengths.peek("three")   // nil
  /// _ = await lengths.value(for: "three")
  /// lengths.peek("three")   // 5
  /// ```
  @inlinable
  public func peek(_ key: Key) -> Value? {
    let now = store.now
    return switch store.table.withLock({ $0.peek(key, at: now) }) {
    case .value(let value): value
    case .renewing(let renewal): renewal.old
    case .none, .computing, .failure: nil
    }
  }

  /// How many keys have a value, or a failure that is remembered. One that has expired counts until
  /// it is let go of.
  ///
  /// ```swift
  /// let lengths = Memos { (word: String) in word.count }
  /// _ = await lengths.value(for: "three")
  /// lengths.count   // 1
  /// ```
  @inlinable
  public var count: Int { store.table.withLock { $0.count } }

  /// What has happened so far.
  @inlinable
  public var statistics: MemoStatistics { store.table.withLock { $0.statistics } }
}

/// What has happened to memos with keys since they were made.
public struct MemoStatistics: Sendable, Equatable {
  /// Demands that needed no computation of their own: the value was there, or on its way.
  public var hits = 0
  /// Computations that were begun.
  public var loads = 0
  /// Computations that failed.
  public var failures = 0
  /// Values that had to go because there were too many.
  public var evictions = 0

  @inlinable
  init() {}
}

extension Memos: CustomStringConvertible {
  /// How many keys there are. It computes nothing.
  public var description: String { "Memos(\(count) keys)" }
}
