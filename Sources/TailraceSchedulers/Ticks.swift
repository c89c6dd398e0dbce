import TailraceSupport

/// The instants at which a scheduler's clock ticks.
private struct Ticks<Source: Scheduler>: AsyncSequence {
  let scheduler: Source
  let interval: Duration
  let tolerance: Duration?

  func makeAsyncIterator() -> Iterator { Iterator(ticks: self) }

  /// Reads the ticks. Each iterator has its own clock.
  struct Iterator: AsyncIteratorProtocol {
    let ticks: Ticks
    /// `nil` before the first call.
    private var cadence: Cadence<Source.Instant>?
    private var isOver = false

    init(ticks: Ticks) { self.ticks = ticks }

    /// Waits for the next tick. The clock starts with the first call.
    mutating func next(isolation actor: isolated (any Actor)?) async -> Source.Instant? {
      let scheduler = ticks.scheduler
      var cadence =
        cadence
        ?? Cadence(first: scheduler.date(after: ticks.interval), interval: ticks.interval)
      guard !isOver, !cadence.isOver,
        await scheduler.waits(until: cadence.due, tolerance: ticks.tolerance)
      else {
        isOver = true
        return nil
      }
      let now = scheduler.now
      cadence.advance(now: now)
      self.cadence = cadence
      return now
    }

    mutating func next() async -> Source.Instant? { await next(isolation: nil) }
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
  ) -> some AsyncSequence<Instant, Never> & Sendable {
    require(
      interval > .zero, "\(Self.self).ticks(every:): \(interval) is no interval; give one > 0",
      file: file, line: line)
    return Ticks(scheduler: self, interval: interval, tolerance: tolerance)
  }
}
