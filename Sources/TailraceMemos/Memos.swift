import TailraceLists
import TailraceSupport

/// A value for each key, computed once, at the first request, for any number of tasks.
///
/// ```swift
/// let pages = Memos { (number: Int) in try await download(page: number) }
/// async let one = pages.value(for: 1)
/// async let same = pages.value(for: 1)
/// async let other = pages.value(for: 2)
/// print(try await one == same, try await other)
/// // true page 2; after two downloads
/// ```
///
/// It behaves as a ``Memo`` for each key, except that a failure is not kept: the next request
/// computes again. All tasks that ask during a computation share it. A
/// cancelled task only stops waiting. A key that needs itself, through any other keys and lists, is
/// a ``CyclicEvaluationError`` that names them. A computation without waiting tasks continues and is
/// kept; with `cancelsUnobservedSteps: true` it is cancelled. See <doc:ValuesByKey>.
///
/// ```swift
/// let thumbnails = Memos(
///   capacity: .cost(50_000_000) { $0.count }, lifetime: .seconds(3600)
/// ) { (name: String) in try await thumbnail(of: name) }
/// ```
///
/// Copies share all values. A key that does not equal itself, such as `Double.nan`, is a different
/// key each time: every request computes it again, and nothing is kept.
///
/// - Isolation: a plain closure runs in the task that first requests the key; an asynchronous one in a task
///   of its own, with the task-locals of that request and the priority of the waiting tasks. A plain
///   closure should not check for cancellation: it would give the first reader's to all. No
///   closure runs under a lock. The `==` and `hash(into:)` of the keys do, as in a dictionary
///   behind a mutex: they must not ask the same memos.
/// - Complexity: reading a computed value takes a lock and a dictionary lookup: no task, no hop and
///   no allocation.
public struct Memos<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline let store: MemoStore<Key, Value, Failure>
  /// Set only if the closure asks for other keys.
  @usableFromInline let owner: MemoOwner?
  /// The computation whose closure has received these memos: it depends on what it asks for.
  @usableFromInline let asker: DependencyGraph.Asker?

  @_alwaysEmitIntoClient
  init(
    store: MemoStore<Key, Value, Failure>, owner: MemoOwner? = nil,
    asker: DependencyGraph.Asker? = nil
  ) {
    (self.store, self.owner, self.asker) = (store, owner, asker)
  }

  // MARK: Making them

  /// Creates memos with a closure that computes the value of each key.
  ///
  /// ```swift
  /// let squares = Memos { (number: Int) in number * number }
  /// await squares.value(for: 12)   // 144
  /// ```
  ///
  /// - Parameters:
  ///   - capacity: how much is kept; everything by default.
  ///   - lifetime: how long a value or a failure is served; forever by default.
  ///   - refreshingAfter: the age from which a request starts a new computation. The old value is
  ///     served until the new one is there, for the rest of its lifetime. A failure that is kept is served
  ///     no longer than that.
  ///   - servingStaleFor: how long after its lifetime a value is given instead of the failure of a
  ///     new computation.
  ///   - retryingFailures: whether the next request computes a failed key again, as it does by
  ///     default. If `false`, a failure is kept as a value is, except a `CancellationError`.
  ///   - clock: the clock that measures ages.
  ///   - reporting: is called for each event, in the task where it happens, and not under a lock.
  ///   - compute: runs once for each key and lifetime.
  /// - Complexity: ages need no timer. Each computation checks two values for expiry.
  @_alwaysEmitIntoClient
  public init(
    capacity: Capacity = .unbounded, lifetime: Lifetime = .forever,
    refreshingAfter: Duration? = nil,
    servingStaleFor: Duration? = nil, retryingFailures: Bool = true,
    clock: any Clock<Duration> = ContinuousClock(),
    reporting: (@Sendable (MemoEvent<Key>) -> Void)? = nil,
    _ compute: @escaping @Sendable (Key) throws(Failure) -> Value
  ) {
    self.init(
      capacity, lifetime, refreshingAfter, servingStaleFor, retryingFailures, clock,
      reporting, .plain(compute))
  }

  /// Creates memos with an asynchronous closure that computes the value of each key, in a task for
  /// each computation.
  ///
  /// ```swift
  /// let asked = Probe<Int>()
  /// let pages = Memos(cancelsUnobservedSteps: true) { (number: Int) in
  ///   asked.record(number)
  ///   if asked.count == 1 { try await Task.sleep(for: .seconds(60)) }
  ///   return "page \(number)"
  /// }
  /// let impatient = Task { try await pages.value(for: 1) }
  /// await asked.waitForCount(1)
  /// impatient.cancel()
  /// _ = await impatient.result
  /// print(try await pages.value(for: 1), asked.values)   // page 1 [1, 1]
  /// ```
  ///
  /// - Parameters:
  ///   - capacity: how much is kept; everything by default.
  ///   - lifetime: how long a value or a failure is served; forever by default.
  ///   - refreshingAfter: the age from which a request starts a new computation.
  ///   - servingStaleFor: how long after its lifetime a value is given instead of the failure of a
  ///     new computation.
  ///   - retryingFailures: whether the next request computes a failed key again, as it does by
  ///     default.
  ///   - cancelsUnobservedSteps: whether a computation is cancelled when the last task that waits for it is
  ///     cancelled. Its result is dropped, whatever it is, and the next request begins again. A computation that
  ///     ``refresh(_:)`` or `refreshingAfter` has asked for continues. `false` by default.
  ///   - clock: the clock that measures ages.
  ///   - reporting: is called for each event, in the task where it happens, and not under a lock.
  ///   - compute: runs once for each key and lifetime.
  @_alwaysEmitIntoClient
  public init(
    capacity: Capacity = .unbounded, lifetime: Lifetime = .forever,
    refreshingAfter: Duration? = nil,
    servingStaleFor: Duration? = nil, retryingFailures: Bool = true,
    cancelsUnobservedSteps: Bool = false, clock: any Clock<Duration> = ContinuousClock(),
    reporting: (@Sendable (MemoEvent<Key>) -> Void)? = nil,
    _ compute: @escaping @Sendable (Key) async throws(Failure) -> Value
  ) {
    self.init(
      capacity, lifetime, refreshingAfter, servingStaleFor, retryingFailures, clock,
      reporting, .inTask(compute), cancelsUnobserved: cancelsUnobservedSteps)
  }

  @_alwaysEmitIntoClient
  init(
    _ capacity: Capacity, _ lifetime: Lifetime, _ refreshingAfter: Duration?,
    _ servingStaleFor: Duration?, _ retryingFailures: Bool, _ clock: any Clock<Duration>,
    _ reporting: (@Sendable (MemoEvent<Key>) -> Void)?,
    _ computation: MemoStore<Key, Value, Failure>.Computation, cancelsUnobserved: Bool = false
  ) {
    let rules = MemoStore<Key, Value, Failure>.Rules(
      capacity, lifetime, refreshingAfter: refreshingAfter, servingStaleFor: servingStaleFor,
      retriesFailures: retryingFailures, cancelsUnobserved: cancelsUnobserved, report: reporting)
    self.init(store: MemoStore(rules, clock: clock, computation))
  }

  // MARK: Asking

  /// Returns the value of a key. The first task that asks computes it; the others wait.
  ///
  /// ```swift
  /// let lengths = Memos { (word: String) in word.count }
  /// await lengths.value(for: "three")   // 5
  /// ```
  ///
  /// - Failure: the closure's error, the same for all waiting tasks. The next request computes again;
  ///   with `retryingFailures: false` later requests get the error, too.
  /// - Cancellation: throws `CancellationError` if `Failure` is `any Error`; otherwise waits for
  ///   the value, as `Task.value` does. A computed value can always be read, and the computation
  ///   continues while the memos exist; with `cancelsUnobservedSteps`, while a task waits for it.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func value(for key: Key) async throws(Failure) -> Value {
    if asker == nil, !store.isReporting, let value = store.hit(key) { return value }
    if let asker, !store.isReporting, let value = store.hit(key, by: asker) { return value }
    return try await store.demand(key, by: asker, throwing: Failure.self)
  }

  /// Computes a key again. The old value is served until the new one is there.
  ///
  /// ```swift
  /// pages.refresh(1)   // at once; who asks meanwhile gets the page that is there
  /// ```
  ///
  /// A key without a value is computed as by a request. A computation in progress is left to continue.
  ///
  /// - Isolation: a plain closure runs right here; an asynchronous one runs here until it suspends. So
  ///   may what other tasks have asked of an actor that it asks: hold no lock during this call.
  /// - Failure: the old value stays, and the failure is counted.
  @_alwaysEmitIntoClient
  public func refresh(_ key: Key) { store.refresh(key) }

  /// Computes a key again, and waits for the new value. Others get the old one until it is there.
  ///
  /// ```swift
  /// let page = await pages.refreshedValue(for: 1)   // not the one that is there
  /// ```
  ///
  /// A key without a value is computed as by a request. If the key is being computed already, that is
  /// the value that it waits for.
  ///
  /// - Failure: the closure's error. The old value stays.
  /// - Cancellation: as for ``value(for:)``.
  @_alwaysEmitIntoClient
  @discardableResult
  nonisolated(nonsending) public func refreshedValue(for key: Key) async throws(Failure) -> Value {
    try await store.refreshedValue(for: key, by: asker)
  }

  /// Forgets the value of a key: the next request computes it again.
  ///
  /// ```swift
  /// let lengths = Memos { (word: String) in word.count }
  /// _ = await lengths.value(for: "three")
  /// lengths.forget("three")
  /// lengths.peek("three")   // nil
  /// ```
  ///
  /// Tasks that wait for a computation get its result. Without waiting tasks it is cancelled. In
  /// recursive memos, what was computed from this key is out of date, too.
  @_alwaysEmitIntoClient
  public func forget(_ key: Key) { store.forget(key) }

  /// Forgets the values of all keys that satisfy a predicate.
  ///
  /// ```swift
  /// let lengths = Memos { (word: String) in word.count }
  /// for word in ["one", "two", "three"] { _ = await lengths.value(for: word) }
  /// lengths.forget { $0.hasPrefix("t") }
  /// lengths.count   // 1
  /// ```
  ///
  /// It is ``forget(_:)`` for each key that has a value, or is being computed, at the time of the
  /// call: a computation that has begun before does not come back.
  ///
  /// - Isolation: the predicate runs right here, without a lock.
  /// - Complexity: O(*keys*).
  @_alwaysEmitIntoClient
  public func forget(where isForgotten: (Key) throws -> Bool) rethrows {
    try store.forget(where: isForgotten)
  }

  /// Forgets all values. The statistics stay.
  @_alwaysEmitIntoClient
  public func forgetAll() { store.forgetAll() }
}

// Information that needs no computation.
extension Memos {
  /// Returns the value of a key, if there is one. It computes nothing, and counts as no use.
  ///
  /// ```swift
  /// let lengths = Memos { (word: String) in word.count }
  /// lengths.peek("three")   // nil
  /// _ = await lengths.value(for: "three")
  /// lengths.peek("three")   // 5
  /// ```
  @_alwaysEmitIntoClient
  public func peek(_ key: Key) -> Value? {
    try? store.known(key, by: asker)?.get()
  }

  /// The number of keys with a value or a failure that is kept. An expired one counts until it is
  /// removed.
  ///
  /// ```swift
  /// let lengths = Memos { (word: String) in word.count }
  /// _ = await lengths.value(for: "three")
  /// lengths.count   // 1
  /// ```
  @_alwaysEmitIntoClient
  public var count: Int { store.table.withLock { $0.base.count } }

  /// The statistics so far.
  @_alwaysEmitIntoClient
  public var statistics: MemoStatistics {
    var statistics = store.table.withLock { $0.base.statistics }
    statistics.batches = store.rules.batches?() ?? 0
    return statistics
  }
}

extension Memos: CustomStringConvertible {
  /// The number of keys. It computes nothing.
  public var description: String { "Memos(\(count) keys)" }
}
