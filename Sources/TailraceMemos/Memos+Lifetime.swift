extension Memos {
  /// How long values are served, other than for one duration from their computation on.
  ///
  /// ```swift
  /// let sessions = Memos(lifetime: .idle(.seconds(900))) { (id: Int) in "session \(id)" }
  /// let tokens = Memos(lifetime: .each { _, token in .seconds(token.count) }) { (id: Int) in "token \(id)" }
  /// ```
  public struct Lifetime: Sendable {
    @usableFromInline let rule: Ages.Lifetime
    @usableFromInline let each: (@Sendable (Key, Value) -> Duration)?

    @inlinable
    init(_ rule: Ages.Lifetime, each: (@Sendable (Key, Value) -> Duration)? = nil) {
      (self.rule, self.each) = (rule, each)
    }

    /// For a duration, counted from the computation; `nil` is for ever.
    @inlinable
    init(_ duration: Duration?) { self.init(duration.map { .fixed($0) } ?? .endless) }

    /// For a duration since the last demand.
    ///
    /// A value that is not used goes as one that is evicted does: in recursive memos, what was computed
    /// from it is still served.
    @inlinable
    public static func idle(_ duration: Duration) -> Lifetime { Lifetime(.idle(duration)) }

    /// For a duration of its own for each value, such as one that the answer of a server names,
    /// counted from the computation. A remembered failure is served until `refreshingAfter`.
    ///
    /// - Parameter duration: runs once for each computation, and not under a lock.
    @inlinable
    public static func each(
      _ duration: @escaping @Sendable (_ key: Key, _ value: Value) -> Duration
    ) -> Lifetime {
      Lifetime(.each, each: duration)
    }
  }
}
