import Tailrace

extension VirtualScheduler {
  /// A point in virtual time.
  public struct Instant: InstantProtocol, Hashable, Sendable, CustomStringConvertible {
    /// How far the point is from the start.
    public var offset: Duration

    /// Creates a point in time, by its distance from the start.
    public init(offset: Duration) { self.offset = offset }

    /// Where the time of each scheduler begins.
    public static let start = Instant(offset: .zero)

    /// Does not overflow: an instant is at most some billions of years from the start.
    public func advanced(by duration: Duration) -> Instant {
      Instant(offset: offset.saturatingSum(duration))
    }

    /// Returns the time from here to another point; negative if that one is earlier.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Returns the point that is so much later.
    public static func + (instant: Instant, duration: Duration) -> Instant {
      instant.advanced(by: duration)
    }

    /// Returns the point that is so much earlier.
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

  /// The clock of a virtual scheduler, for code that is given a clock.
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

    /// Waits until the scheduler has been advanced to a point in time; not at all if it has been.
    ///
    /// - Cancellation: throws `CancellationError` at once.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
      try await scheduler.sleep(until: deadline, tolerance: tolerance)
    }
  }

  /// The clock that this scheduler goes by.
  public var clock: Clock { Clock(scheduler: self) }
}

extension Duration {
  /// The sum, or the farthest that there is.
  func saturatingSum(_ other: Duration) -> Duration {
    let (sum, overflows) = attoseconds.addingReportingOverflow(other.attoseconds)
    let limit = Duration.farthest.attoseconds
    if overflows { return other < .zero ? .zero - .farthest : .farthest }
    return Duration(attoseconds: min(max(sum, -limit), limit))
  }
}
