internal import Dispatch

/// The scheduler of the main queue, ``QueueScheduler/main``, on which plain closures are isolated to the
/// main actor.
///
/// ```swift
/// @MainActor final class Clock {
///   var ticks = 0
///   func start() -> ScheduledWork {
///     QueueScheduler.main.schedule(every: .seconds(1)) { [weak self] in self?.ticks += 1 }
///   }
/// }
/// ```
///
/// Asynchronous closures are not isolated to it: write `{ @MainActor in … }`, or use `Task`. As `any
/// Scheduler` it takes plain closures of any code.
// Guard: no field of its own. May touch it: anyone.
public final class MainQueueScheduler: QueueScheduler, @unchecked Sendable {
  init() { super.init(queue: .main, target: nil) }

  /// Runs a closure that is isolated to the main actor, in its turn.
  ///
  /// - Isolation: on the main actor.
  /// - Cancellation: `cancel()` before its turn prevents it from running.
  @discardableResult
  public func schedule(_ action: @escaping @MainActor @Sendable () -> Void) -> ScheduledWork {
    enqueue { MainActor.assumeIsolated(action) }
  }

  /// Runs a closure that is isolated to the main actor after a delay.
  ///
  /// - Isolation: on the main actor.
  /// - Cancellation: `cancel()` before its turn releases the closure at once.
  @discardableResult
  public func schedule(
    after delay: Duration, tolerance: Duration? = nil,
    _ action: @escaping @MainActor @Sendable () -> Void
  ) -> ScheduledWork {
    schedule(at: date(after: delay), tolerance: tolerance, action)
  }

  /// Runs a closure that is isolated to the main actor at a point in time.
  ///
  /// - Isolation: on the main actor.
  /// - Cancellation: `cancel()` before its turn releases the closure at once.
  @discardableResult
  public func schedule(
    at instant: ContinuousClock.Instant, tolerance: Duration? = nil,
    _ action: @escaping @MainActor @Sendable () -> Void
  ) -> ScheduledWork {
    let work = ScheduledWork(WorkCell { MainActor.assumeIsolated(action) })
    enqueue(work, at: instant, tolerance: tolerance)
    return work
  }

  /// Runs a closure that is isolated to the main actor repeatedly, until it is cancelled.
  ///
  /// The turns are those of every scheduler's `schedule(every:)`.
  ///
  /// - Parameters:
  ///   - interval: more than zero; anything else stops the program.
  ///   - delay: until the first turn. Zero or less means as soon as possible.
  ///   - tolerance: how much later each turn may be, to save wake-ups.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  ///   - action: runs in each turn; it is released when the work is cancelled.
  /// - Isolation: on the main actor.
  /// - Cancellation: stops it at once, also from inside; a running closure is not interrupted.
  @discardableResult
  public func schedule(
    every interval: Duration, after delay: Duration? = nil, tolerance: Duration? = nil,
    file: StaticString = #fileID, line: UInt = #line,
    _ action: @escaping @MainActor @Sendable () -> Void
  ) -> ScheduledWork {
    repeated(every: interval, after: delay, tolerance: tolerance, file: file, line: line) {
      MainActor.assumeIsolated(action)
    }
  }
}
