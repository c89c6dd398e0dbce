import TailraceSupport

/// The instants at which a scheduler's clock ticks: see ``Scheduler/ticks(every:tolerance:file:line:)``.
public struct Ticks<Source: Scheduler>: AsyncSequence, Sendable {
  public typealias Element = Source.Instant
  public typealias Failure = Never

  let scheduler: Source
  let interval: Duration
  let tolerance: Duration?

  public func makeAsyncIterator() -> Iterator { Iterator(ticks: self) }

  /// Reads the ticks. Each iterator has its own clock.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let ticks: Ticks
    /// `nil` before the first call.
    private var clock: (any TickClock)?
    private var isOver = false

    fileprivate init(ticks: Ticks) { self.ticks = ticks }

    /// Waits for the next tick. The clock starts with the first call.
    ///
    /// - Cancellation: returns `nil`, and no tick after it.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> Source.Instant? {
      guard !isOver else { return nil }
      var clock = self.clock ?? ticks.scheduler.timekeeper.tickClock(every: ticks.interval)
      guard let instant = await clock.next(tolerance: ticks.tolerance) else {
        isOver = true
        return nil
      }
      self.clock = clock
      // A scheduler that stands for another one counts on the other one's clock, and has instants
      // of its own.
      return instant as? Source.Instant ?? ticks.scheduler.now
    }

    public mutating func next() async -> Source.Instant? { await next(isolation: nil) }
  }
}

/// Counts the ticks on the clock of one scheduler.
private protocol TickClock: Sendable {
  /// Waits for the next tick. `nil` if the task is cancelled, or at the end of the clock's range.
  nonisolated(nonsending) mutating func next(tolerance: Duration?) async -> (any InstantProtocol)?
}

private struct SchedulerTickClock<Place: Scheduler>: TickClock {
  let place: Place
  var cadence: Cadence<Place.Instant>

  nonisolated(nonsending) mutating func next(tolerance: Duration?) async -> (any InstantProtocol)? {
    guard !cadence.isOver, await place.waits(until: cadence.due, tolerance: tolerance) else {
      return nil
    }
    let now = place.now
    cadence.advance(now: now)
    return now
  }
}

extension Scheduler {
  /// Starts to count now.
  fileprivate func tickClock(every interval: Duration) -> any TickClock {
    let cadence = Cadence(first: date(after: interval), interval: interval)
    return SchedulerTickClock(place: self, cadence: cadence)
  }
}

extension Scheduler {
  /// Returns the scheduler's clock as a sequence, with one instant for each interval.
  ///
  /// <!-- not run: it has no end -->
  /// ```swift
  /// for await instant in scheduler.ticks(every: .seconds(1)) { print(instant) }
  /// ```
  ///
  /// Each iteration has its own clock, which starts when the first element is requested. Tick *k*
  /// comes at or after that time plus *k* intervals. For a reader slower than the clock, missed
  /// ticks coalesce into one. Nothing is scheduled between two calls, so a dropped iterator leaves
  /// nothing behind.
  ///
  /// - Parameters:
  ///   - interval: more than zero; anything else stops the program.
  ///   - tolerance: how much later a tick may come, to save wake-ups.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  /// - Isolation: elements arrive in the reader's isolation.
  /// - Cancellation: the sequence ends at once in a cancelled task. Otherwise it ends only where
  ///   the clock's range does.
  public func ticks(
    every interval: Duration, tolerance: Duration? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) -> Ticks<Self> {
    require(
      interval > .zero, "\(Self.self).ticks(every:): \(interval) is no interval; give one > 0",
      file: file, line: line)
    return Ticks(scheduler: self, interval: interval, tolerance: tolerance)
  }
}
