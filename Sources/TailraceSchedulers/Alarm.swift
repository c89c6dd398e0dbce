public import Dispatch

/// A Dispatch timer that passes one piece of work to its scheduler, once each time it is set.
///
/// Dispatch time ignores changes of the wall clock. A set timer retains its work and its scheduler
/// until it is cancelled.
final class Alarm: Sendable {
  // Guard: sources are thread-safe. May touch it: this class; it is never replaced.
  private nonisolated(unsafe) let source: any DispatchSourceTimer

  init(on queue: DispatchQueue, ring: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeTimerSource(queue: queue)
    source.setEventHandler(handler: ring)
    source.schedule(deadline: .distantFuture)
    source.activate()
  }

  func set(after delay: Duration, tolerance: Duration?) {
    source.schedule(deadline: .now(after: delay), leeway: .nanoseconds(tolerance?.nanoseconds ?? 0))
  }

  /// Rings when the wall clock shows a time, also if it is set meanwhile.
  func set(atWallClock time: DispatchWallTime, tolerance: Duration?) {
    source.schedule(wallDeadline: time, leeway: .nanoseconds(tolerance?.nanoseconds ?? 0))
  }

  func cancel() { source.cancel() }
}

extension WorkCell {
  /// Sets the timer of this work, creating it the first time. Called by the code that brings the
  /// work to its next turn.
  func setAlarm(
    after delay: Duration, tolerance: Duration?, on queue: DispatchQueue,
    ring: @escaping @Sendable () -> Void
  ) {
    if let alarm { return alarm.set(after: delay, tolerance: tolerance) }
    // Stored before it is set: it may fire at once, and its turn looks for it here.
    let alarm = Alarm(on: queue, ring: ring)
    keep(alarm)
    alarm.set(after: delay, tolerance: tolerance)
  }
}

extension Scheduler {
  /// Runs a closure when the wall clock shows a time, also if the clock is set, or the machine sleeps,
  /// in the meantime.
  ///
  /// <!-- not run: it takes a day -->
  /// ```swift
  /// let day = DispatchWallTime.now() + .seconds(86_400)
  /// scheduler.schedule(atWallClock: day) { print("this time tomorrow") }
  /// ```
  ///
  /// With `TailraceFoundation` it takes a `Date`. A past time means as soon as possible.
  ///
  /// The wall clock is the machine's, on every scheduler: no virtual time reaches it.
  ///
  /// - Parameters:
  ///   - time: the time on the wall clock.
  ///   - tolerance: how much later it may run, to save wake-ups.
  ///   - action: the closure, released once it has run or will never run.
  /// - Isolation: on the scheduler.
  /// - Cancellation: `cancel()` before its turn releases the closure at once.
  ///
  /// Replaces `-[RACScheduler after:schedule:]`, which takes a date.
  @discardableResult
  public func schedule(
    atWallClock time: DispatchWallTime, tolerance: Duration? = nil,
    _ action: @escaping @Sendable () -> Void
  ) -> ScheduledWork {
    let work = ScheduledWork(WorkCell(action))
    // Stored before it is set: it may fire at once, and its turn looks for it there.
    let alarm = Alarm(on: .global()) { self.enqueue(work) }
    work.cell.keep(alarm)
    alarm.set(atWallClock: time, tolerance: tolerance)
    return work
  }
}

extension DispatchTime {
  /// Rounded up, so that nothing runs early. A time beyond Dispatch's range never comes.
  fileprivate static func now(after delay: Duration) -> DispatchTime {
    let nanoseconds = delay.nanoseconds
    guard nanoseconds < Int.max else { return .distantFuture }
    let (sum, overflows) = DispatchTime.now().uptimeNanoseconds
      .addingReportingOverflow(UInt64(nanoseconds))
    return overflows || sum > UInt64(Int64.max)
      ? .distantFuture : DispatchTime(uptimeNanoseconds: sum)
  }
}

extension Duration {
  /// Nanoseconds, rounded up; 0 for a negative duration, `Int.max` if out of range.
  var nanoseconds: Int {
    // `components` traps where the seconds do not fit.
    let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return Int(clamping: max(0, whole + (rest > 0 ? 1 : 0)))
  }
}

extension Scheduler where Instant == ContinuousClock.Instant {
  public func enqueue(_ work: ScheduledWork, at instant: Instant, tolerance: Duration?) {
    let delay = now.duration(to: instant)
    // The end of a turn brings the next one. On a scheduler that performs work in place, a late one
    // would begin on the stack of the turn before: only the timer begins it on its own.
    guard delay > .zero || work.cell.kind == .repeatedly else { return enqueue(work) }
    work.cell.setAlarm(after: delay, tolerance: tolerance, on: .global()) { self.enqueue(work) }
  }
}
