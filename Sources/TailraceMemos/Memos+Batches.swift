import TailraceLists
import TailraceSupport

extension Memos where Failure == any Error {
  /// Creates memos with a closure that computes the values of many keys at once, such as one query
  /// for many rows.
  ///
  /// ```swift
  /// let users = Memos(batchSize: 100) { (ids: [Int]) in
  ///   Dictionary(uniqueKeysWithValues: ids.map { ($0, "user \($0)") })
  /// }
  /// try await users.value(for: 7)   // "user 7"
  /// ```
  ///
  /// The first key leaves at once. Keys that are requested while its batch is out gather, and leave
  /// together when it is back, as many in a batch as the limit allows. There is no timer. A key that
  /// is in a batch already is not sent again; its callers wait for that batch. A batch that nobody waits for
  /// any more, and whose keys were forgotten, is cancelled, and holds up no other. A key that does not equal
  /// itself is in no dictionary, so it never has a value.
  ///
  /// - Parameters:
  ///   - batchSize: the most keys of a call, 1 or more; less is a programmer's error and traps.
  ///   - maxBatches: the most calls at the same time, 1 or more; less is a programmer's error and traps.
  ///   - capacity: how much is kept; everything by default.
  ///   - lifetime: how long a value or a failure is served; forever by default.
  ///   - refreshingAfter: the age from which a request starts a new computation.
  ///   - servingStaleFor: how long after its lifetime a value is given instead of the failure of a
  ///     new computation.
  ///   - retryingFailures: whether the next request computes a failed key again, as it does by
  ///     default.
  ///   - cancelsUnobservedSteps: whether a key is given up when the last task that waits for it is
  ///     cancelled, and its batch is cancelled when that is so for all of its keys. The next request of the key
  ///     sends it again. `false` by default.
  ///   - clock: the clock that measures ages.
  ///   - reporting: is called for each event, in the task where it happens, and not under a lock.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  ///   - compute: returns the values of keys that differ from each other. Its failure is that of each
  ///     of them; a key without a value has a ``MissingValueError``. A value of another key is kept, too,
  ///     unless that key has one, is being computed, or something was forgotten in the meantime. It must not ask
  ///     these memos for a key that is not there.
  // Values that are results are results of keys.
  @_alwaysEmitIntoClient @_disfavoredOverload
  public init(
    batchSize: Int, maxBatches: Int = 4, capacity: Capacity = .unbounded,
    lifetime: Lifetime = .forever, refreshingAfter: Duration? = nil,
    servingStaleFor: Duration? = nil, retryingFailures: Bool = true,
    cancelsUnobservedSteps: Bool = false, clock: any Clock<Duration> = ContinuousClock(),
    reporting: (@Sendable (MemoEvent<Key>) -> Void)? = nil,
    file: StaticString = #fileID, line: UInt = #line,
    _ compute: @escaping @Sendable (_ keys: [Key]) async throws -> [Key: Value]
  ) {
    self.init(
      batchSize, maxBatches, capacity, lifetime, refreshingAfter, servingStaleFor, retryingFailures,
      cancelsUnobservedSteps, clock, reporting, file, line,
      { try await compute($0).mapValues { .success($0) } })
  }

  /// Creates memos with a closure that computes the values of many keys at once, or an error for each key
  /// that has none.
  ///
  /// ```swift
  /// let users = Memos(batchSize: 100) { (ids: [Int]) -> [Int: Result<String, any Error>] in
  ///   Dictionary(uniqueKeysWithValues: ids.map { id in (id, Result { "user \(id)" }) })
  /// }
  /// try await users.value(for: 7)   // "user 7"
  /// ```
  @_alwaysEmitIntoClient
  public init(
    batchSize: Int, maxBatches: Int = 4, capacity: Capacity = .unbounded,
    lifetime: Lifetime = .forever, refreshingAfter: Duration? = nil,
    servingStaleFor: Duration? = nil, retryingFailures: Bool = true,
    cancelsUnobservedSteps: Bool = false, clock: any Clock<Duration> = ContinuousClock(),
    reporting: (@Sendable (MemoEvent<Key>) -> Void)? = nil,
    file: StaticString = #fileID, line: UInt = #line,
    _ compute: @escaping @Sendable (_ keys: [Key]) async throws -> [Key: Result<Value, any Error>]
  ) {
    self.init(
      batchSize, maxBatches, capacity, lifetime, refreshingAfter, servingStaleFor, retryingFailures,
      cancelsUnobservedSteps, clock, reporting, file, line, compute)
  }

  @_alwaysEmitIntoClient
  init(
    _ limit: Int, _ most: Int, _ capacity: Capacity, _ lifetime: Lifetime,
    _ refreshingAfter: Duration?,
    _ servingStaleFor: Duration?, _ retryingFailures: Bool, _ cancelsUnobserved: Bool,
    _ clock: any Clock<Duration>,
    _ reporting: (@Sendable (MemoEvent<Key>) -> Void)?, _ file: StaticString, _ line: UInt,
    _ compute: @escaping @Sendable (_ keys: [Key]) async throws -> [Key: Result<Value, any Error>]
  ) {
    require(limit > 0, "Memos take batches of 1 key or more, not \(limit)", file: file, line: line)
    require(most > 0, "Memos send 1 batch at once or more, not \(most)", file: file, line: line)
    var report: (@Sendable (Int) -> Void)?
    if let reporting { report = { reporting(.batch($0)) } }
    let batcher = Batcher(limit: limit, most: most, clock: clock, report: report, compute)
    let rules = MemoStore<Key, Value, Failure>.Rules(
      capacity, lifetime, refreshingAfter: refreshingAfter, servingStaleFor: servingStaleFor,
      retriesFailures: retryingFailures, cancelsUnobserved: cancelsUnobserved, report: reporting,
      batches: { batcher.calls })
    let computation = MemoStore<Key, Value, Failure>.Computation.produced { key, load, store in
      batcher.producer(of: key, load, store)
    }
    self.init(store: MemoStore(rules, clock: clock, computation))
  }
}
