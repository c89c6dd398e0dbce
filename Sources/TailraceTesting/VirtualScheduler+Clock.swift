import Tailrace

extension VirtualScheduler {
  /// A point in virtual time.
  public struct Instant: InstantProtocol, Hashable, Sendable, CustomStringConvertible {
    /// The distance from the start.
    public var offset: Duration

    /// Creates a point in time from its distance to the start.
    public init(offset: Duration) { self.offset = offset }

    /// The start of each scheduler's time.
    public static let start = Instant(offset: .zero)

    /// Does not overflow: an instant is at most some billion years from the start.
    public func advanced(by duration: Duration) -> Instant {
      Instant(offset: offset.saturatingSum(duration))
    }

    /// Returns the time from here to another point; negative if that is earlier.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Returns the point that is later by a duration.
    public static func + (instant: Instant, duration: Duration) -> Instant {
      instant.advanced(by: duration)
    }

    /// Returns the point that is earlier by a duration.
    public static func - (instant: Instant, duration: Duration) -> Instant {
      instant.advanced(by: .zero - duration)
    }

    /// Returns the time between two points.
    public static func - (later: Instant, earlier: Instant) -> Duration {
      earlier.duration(to: later)
    }

    public static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }

    public var description: String { "start + \(offset)" }
  }

  /// The clock of a virtual scheduler, for code that takes a clock.
  ///
  /// ```swift
  /// func poll(every interval: Duration, on clock: some Clock<Duration>) async {
  ///   while (try? await clock.sleep(for: interval)) != nil { print("polling") }
  /// }
  ///
  /// let scheduler = VirtualScheduler()
  /// scheduler.schedule { await poll(every: .seconds(1), on: scheduler.clock) }
  /// scheduler.advance(by: .seconds(2))
  /// // polling
  /// // polling
  /// ```
  public struct Clock: _Concurrency.Clock {
    let scheduler: VirtualScheduler

    /// A point in virtual time.
    public typealias Instant = VirtualScheduler.Instant

    /// The scheduler's time.
    public var now: Instant { scheduler.now }

    /// The smallest step of virtual time: an attosecond.
    public var minimumResolution: Duration { Duration(attoseconds: 1) }

    /// Waits until the scheduler has been advanced to a point in time; returns at once if it has
    /// been.
    ///
    /// - Cancellation: throws `CancellationError` at once.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
      try await scheduler.sleep(until: deadline, tolerance: tolerance)
    }
  }

  /// This scheduler's clock.
  public var clock: Clock { Clock(scheduler: self) }
}

extension Duration {
  /// The sum, or the greatest possible value.
  func saturatingSum(_ other: Duration) -> Duration {
    let (sum, overflows) = attoseconds.addingReportingOverflow(other.attoseconds)
    let limit = Duration.farthest.attoseconds
    if overflows { return other < .zero ? .zero - .farthest : .farthest }
    return Duration(attoseconds: min(max(sum, -limit), limit))
  }
}
