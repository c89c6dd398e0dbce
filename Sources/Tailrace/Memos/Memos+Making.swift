extension Memos {
  /// How much is remembered.
  ///
  /// What has to go is found by S3-FIFO: values that are asked for once go before those that are asked
  /// for again, so that a scan through many keys does not push out what is used. What is being
  /// computed is not counted, and never goes.
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

    /// Values that cost this much together. One that alone costs more is not remembered; a failure that
    /// is remembered costs 1.
    ///
    /// - Parameters:
    ///   - limit: 1 or more; less is a programmer's error and traps.
    ///   - cost: what a value costs, 0 or more; less is a programmer's error and traps. It is asked
    ///     once for each value.
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

  /// Creates memos with a closure that gives the value of each key.
  ///
  /// ```swift
  /// let squares = Memos { (number: Int) in number * number }
  /// await squares.value(for: 12)   // 144
  /// ```
  ///
  /// - Parameters:
  ///   - capacity: how much is remembered; everything, if nothing else is said.
  ///   - lifetime: how long a value, or a failure, is served after it was computed; `nil` is for ever.
  ///   - refreshingAfter: the age from which on a demand has a value computed anew. The old one is
  ///     served until the new one is there. A remembered failure is served no longer than that.
  ///   - retryingFailures: whether the next demand computes a key anew that has failed. A
  ///     `CancellationError` is never remembered.
  ///   - clock: what ages are measured with.
  ///   - compute: runs once for each key and lifetime.
  /// - Complexity: ages need no timer. Each computation looks for two values that have expired.
  @inlinable
  public init(
    capacity: Capacity = .unbounded, lifetime: Duration? = nil, refreshingAfter: Duration? = nil,
    retryingFailures: Bool = false, clock: any Clock<Duration> = ContinuousClock(),
    _ compute: @escaping @Sendable (Key) throws(Failure) -> Value
  ) {
    self.init(
      capacity, lifetime, refreshingAfter, retryingFailures, clock, .plain(compute))
  }

  /// Creates memos with an asynchronous closure that gives the value of each key, in a task for
  /// each computation.
  @inlinable
  public init(
    capacity: Capacity = .unbounded, lifetime: Duration? = nil, refreshingAfter: Duration? = nil,
    retryingFailures: Bool = false, clock: any Clock<Duration> = ContinuousClock(),
    _ compute: @escaping @Sendable (Key) async throws(Failure) -> Value
  ) {
    self.init(
      capacity, lifetime, refreshingAfter, retryingFailures, clock, .inTask(compute))
  }

  @inlinable
  init(
    _ capacity: Capacity, _ lifetime: Duration?, _ refreshingAfter: Duration?,
    _ retryingFailures: Bool, _ clock: any Clock<Duration>,
    _ computation: MemoStore<Key, Value, Failure>.Computation
  ) {
    let ages = Ages(lifetime: lifetime, refreshingAfter: refreshingAfter)
    self.init(
      store: MemoStore(
        capacity, ages, retriesFailures: retryingFailures, clock: clock, computation))
  }
}
