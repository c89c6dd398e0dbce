import TailraceLists
import TailraceSupport

extension Memos {
  /// How much is remembered.
  ///
  /// S3-FIFO chooses the values to evict. Values demanded once go before those demanded again, so a
  /// scan through many keys does not evict the used ones. A computation in progress is not counted,
  /// and never evicted.
  public struct Capacity: Sendable {
    @usableFromInline let limit: Int?
    @usableFromInline let cost: (@Sendable (Value) -> Int)?

    @inlinable
    init(limit: Int?, cost: (@Sendable (Value) -> Int)?) { (self.limit, self.cost) = (limit, cost) }

    /// Everything.
    @inlinable
    public static var unbounded: Capacity { Capacity(limit: nil, cost: nil) }

    /// At most this number of values.
    ///
    /// - Parameters:
    ///   - count: 1 or more; less is a programmer's error and traps.
    ///   - file: the caller's file, for the trap message.
    ///   - line: the caller's line.
    @inlinable
    public static func count(_ count: Int, file: StaticString = #fileID, line: UInt = #line)
      -> Capacity
    {
      require(count > 0, "Memos take a capacity of 1 or more, not \(count)", file: file, line: line)
      return Capacity(limit: count, cost: nil)
    }

    /// Values that together cost up to a limit. A value that alone costs more is not remembered. A
    /// remembered failure costs 1, and so does a value of cost 0: its key takes room, too, and without
    /// a cost it would never be evicted.
    ///
    /// - Parameters:
    ///   - limit: 1 or more; less is a programmer's error and traps.
    ///   - cost: the cost of a value, 0 or more; less is a programmer's error and traps. It is
    ///     called once for each computation.
    ///   - file: the caller's file, for the trap message.
    ///   - line: the caller's line.
    @inlinable
    public static func cost(
      _ limit: Int, file: StaticString = #fileID, line: UInt = #line,
      of cost: @escaping @Sendable (Value) -> Int
    ) -> Capacity {
      require(limit > 0, "Memos take a capacity of 1 or more, not \(limit)", file: file, line: line)
      return Capacity(limit: limit) { value in
        let cost = cost(value)
        require(
          cost >= 0, "the cost of a value of Memos is 0 or more, not \(cost)", file: file,
          line: line)
        return cost
      }
    }
  }

  /// Creates memos with a closure that computes the value of each key.
  ///
  /// ```swift
  /// let squares = Memos { (number: Int) in number * number }
  /// await squares.value(for: 12)   // 144
  /// ```
  ///
  /// - Parameters:
  ///   - capacity: how much is remembered; everything by default.
  ///   - lifetime: how long a value or a failure is served after its computation; `nil` is for
  ///     ever.
  ///   - refreshingAfter: the age from which a demand starts a new computation. The old value is
  ///     served until the new one is there. A remembered failure is served no longer than that.
  ///   - servingStaleFor: how long after its lifetime a value is given instead of the failure of a
  ///     new computation.
  ///   - retryingFailures: whether the next demand computes a failed key again, as it does by
  ///     default. If `false`, a failure is remembered as a value is, except a `CancellationError`.
  ///   - clock: the clock that measures ages.
  ///   - reporting: is told of each event, in the task where it happens, and not under a lock.
  ///   - compute: runs once for each key and lifetime.
  /// - Complexity: ages need no timer. Each computation checks two values for expiry.
  @inlinable
  public init(
    capacity: Capacity = .unbounded, lifetime: Duration? = nil, refreshingAfter: Duration? = nil,
    servingStaleFor: Duration? = nil, retryingFailures: Bool = true,
    clock: any Clock<Duration> = ContinuousClock(),
    reporting: (@Sendable (MemoEvent<Key>) -> Void)? = nil,
    _ compute: @escaping @Sendable (Key) throws(Failure) -> Value
  ) {
    self.init(
      capacity, Lifetime(lifetime), refreshingAfter, servingStaleFor, retryingFailures, clock,
      reporting, .plain(compute))
  }

  /// Creates memos with an asynchronous closure that computes the value of each key, in a task for
  /// each computation.
  @inlinable
  public init(
    capacity: Capacity = .unbounded, lifetime: Duration? = nil, refreshingAfter: Duration? = nil,
    servingStaleFor: Duration? = nil, retryingFailures: Bool = true,
    clock: any Clock<Duration> = ContinuousClock(),
    reporting: (@Sendable (MemoEvent<Key>) -> Void)? = nil,
    _ compute: @escaping @Sendable (Key) async throws(Failure) -> Value
  ) {
    self.init(
      capacity, Lifetime(lifetime), refreshingAfter, servingStaleFor, retryingFailures, clock,
      reporting, .inTask(compute))
  }

  /// Creates memos whose values live since their last use, or each for a time of its own.
  ///
  /// ```swift
  /// let sessions = Memos(lifetime: .idle(.seconds(900))) { (id: Int) in "session \(id)" }
  /// await sessions.value(for: 7)   // "session 7"
  /// ```
  @inlinable
  public init(
    capacity: Capacity = .unbounded, lifetime: Lifetime, refreshingAfter: Duration? = nil,
    servingStaleFor: Duration? = nil, retryingFailures: Bool = true,
    clock: any Clock<Duration> = ContinuousClock(),
    reporting: (@Sendable (MemoEvent<Key>) -> Void)? = nil,
    _ compute: @escaping @Sendable (Key) throws(Failure) -> Value
  ) {
    self.init(
      capacity, lifetime, refreshingAfter, servingStaleFor, retryingFailures, clock,
      reporting, .plain(compute))
  }

  /// Creates memos whose values live since their last use, or each for a time of its own, with an
  /// asynchronous closure.
  @inlinable
  public init(
    capacity: Capacity = .unbounded, lifetime: Lifetime, refreshingAfter: Duration? = nil,
    servingStaleFor: Duration? = nil, retryingFailures: Bool = true,
    clock: any Clock<Duration> = ContinuousClock(),
    reporting: (@Sendable (MemoEvent<Key>) -> Void)? = nil,
    _ compute: @escaping @Sendable (Key) async throws(Failure) -> Value
  ) {
    self.init(
      capacity, lifetime, refreshingAfter, servingStaleFor, retryingFailures, clock,
      reporting, .inTask(compute))
  }

  @inlinable
  init(
    _ capacity: Capacity, _ lifetime: Lifetime, _ refreshingAfter: Duration?,
    _ servingStaleFor: Duration?, _ retryingFailures: Bool, _ clock: any Clock<Duration>,
    _ reporting: (@Sendable (MemoEvent<Key>) -> Void)?,
    _ computation: MemoStore<Key, Value, Failure>.Computation
  ) {
    let rules = MemoStore<Key, Value, Failure>.Rules(
      capacity, lifetime, refreshingAfter: refreshingAfter, servingStaleFor: servingStaleFor,
      retriesFailures: retryingFailures, report: reporting)
    self.init(store: MemoStore(rules, clock: clock, computation))
  }
}
