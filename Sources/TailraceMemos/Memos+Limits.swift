import TailraceSupport

extension Memos {
  /// How much is kept.
  ///
  /// S3-FIFO chooses the values to evict. Values requested once go before those requested again, so a
  /// scan through many keys does not evict the used ones. A computation in progress is not counted,
  /// and never evicted.
  public struct Capacity: Sendable {
    @usableFromInline let limit: Int?
    @usableFromInline let cost: (@Sendable (Value) -> Int)?

    @_alwaysEmitIntoClient
    init(limit: Int?, cost: (@Sendable (Value) -> Int)?) { (self.limit, self.cost) = (limit, cost) }

    /// Everything.
    @_alwaysEmitIntoClient
    public static var unbounded: Capacity { Capacity(limit: nil, cost: nil) }

    /// At most this number of values.
    ///
    /// - Parameters:
    ///   - count: 1 or more; less is a programmer's error and traps.
    ///   - file: the caller's file, for the trap message.
    ///   - line: the caller's line.
    @_alwaysEmitIntoClient
    public static func count(_ count: Int, file: StaticString = #fileID, line: UInt = #line)
      -> Capacity
    {
      require(count > 0, "Memos take a capacity of 1 or more, not \(count)", file: file, line: line)
      return Capacity(limit: count, cost: nil)
    }

    /// Values that together cost up to a limit. A value that alone costs more is not kept. A
    /// kept failure costs 1, and so does a value of cost 0: its key takes room, too, and without
    /// a cost it would never be evicted.
    ///
    /// - Parameters:
    ///   - limit: 1 or more; less is a programmer's error and traps.
    ///   - cost: the cost of a value, 0 or more; less is a programmer's error and traps. It is
    ///     called once for each computation.
    ///   - file: the caller's file, for the trap message.
    ///   - line: the caller's line.
    @_alwaysEmitIntoClient
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

  /// How long values are served.
  ///
  /// It is no `Duration`, for it also says what the time counts from. Whole seconds are written as if it were
  /// one; any other duration stands in `.fixed`:
  ///
  /// ```swift
  /// let names = Memos(lifetime: .forever) { (id: Int) in "name \(id)" }
  /// let pages = Memos(lifetime: .seconds(60)) { (id: Int) in "page \(id)" }
  /// let prices = Memos(lifetime: .fixed(.milliseconds(500))) { (id: Int) in "price \(id)" }
  /// let sessions = Memos(lifetime: .idle(.seconds(900))) { (id: Int) in "session \(id)" }
  /// let tokens = Memos(
  ///   lifetime: .each { _, token in .seconds(token.count) }
  /// ) { (id: Int) in "token \(id)" }
  /// ```
  public struct Lifetime: Sendable {
    @usableFromInline let rule: Ages.Lifetime
    @usableFromInline let each: (@Sendable (Key, Value) -> Duration)?

    @_alwaysEmitIntoClient
    init(_ rule: Ages.Lifetime, each: (@Sendable (Key, Value) -> Duration)? = nil) {
      (self.rule, self.each) = (rule, each)
    }

    /// Until they are forgotten or evicted.
    @_alwaysEmitIntoClient
    public static var forever: Lifetime { Lifetime(.endless) }

    /// For a duration, counted from the computation.
    @_alwaysEmitIntoClient
    public static func fixed(_ duration: Duration) -> Lifetime { Lifetime(.fixed(duration)) }

    /// For so many seconds, counted from the computation.
    @_alwaysEmitIntoClient
    public static func seconds(_ seconds: some BinaryInteger) -> Lifetime {
      .fixed(.seconds(seconds))
    }

    /// For a duration since the last request.
    @_alwaysEmitIntoClient
    public static func idle(_ duration: Duration) -> Lifetime { Lifetime(.idle(duration)) }

    /// For a duration of its own for each value, such as one that the answer of a server names,
    /// counted from the computation. A failure that is kept is served until `refreshingAfter`.
    ///
    /// - Parameter duration: runs once for each computation, and not under a lock.
    @_alwaysEmitIntoClient
    public static func each(
      _ duration: @escaping @Sendable (_ key: Key, _ value: Value) -> Duration
    ) -> Lifetime {
      Lifetime(.each, each: duration)
    }
  }

  /// How long values of recursive memos are served: what was computed from a value is looked at again when
  /// the value's lifetime has ended, so that does not depend on who reads it.
  public struct RecursiveLifetime: Sendable {
    @usableFromInline let lifetime: Lifetime

    @_alwaysEmitIntoClient
    init(_ lifetime: Lifetime) { self.lifetime = lifetime }

    /// Until they are forgotten or evicted.
    @_alwaysEmitIntoClient
    public static var forever: RecursiveLifetime { RecursiveLifetime(.forever) }

    /// For a duration, counted from the computation.
    @_alwaysEmitIntoClient
    public static func fixed(_ duration: Duration) -> RecursiveLifetime {
      RecursiveLifetime(.fixed(duration))
    }

    /// For so many seconds, counted from the computation.
    @_alwaysEmitIntoClient
    public static func seconds(_ seconds: some BinaryInteger) -> RecursiveLifetime {
      RecursiveLifetime(.seconds(seconds))
    }

    /// For a duration of its own for each value, counted from the computation. A failure that is kept is
    /// served until `refreshingAfter`.
    ///
    /// - Parameter duration: runs once for each computation, and not under a lock.
    @_alwaysEmitIntoClient
    public static func each(
      _ duration: @escaping @Sendable (_ key: Key, _ value: Value) -> Duration
    ) -> RecursiveLifetime {
      RecursiveLifetime(.each(duration))
    }
  }
}
