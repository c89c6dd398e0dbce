public import Foundation
public import TailraceSchedulers
import Dispatch

extension Scheduler {
  /// Runs a closure when the wall clock shows a date, also if the clock is set, or the machine sleeps,
  /// in the meantime.
  ///
  /// <!-- not run: it takes a day -->
  /// ```swift
  /// let nine = Calendar.current.nextDate(
  ///   after: .now, matching: DateComponents(hour: 9), matchingPolicy: .nextTime)!
  /// QueueScheduler.main.schedule(atWallClock: nine) { print("at nine") }
  /// ```
  ///
  /// A past date means as soon as possible. `schedule(after:)` counts time that passes instead, and is
  /// not affected by a clock that is set.
  ///
  /// - Parameters:
  ///   - date: the date on the machine's wall clock, on every scheduler: no virtual time reaches it.
  ///   - tolerance: how much later it may run, to save wake-ups.
  ///   - action: the closure, released once it has run or will never run.
  /// - Isolation: on the scheduler.
  /// - Cancellation: `cancel()` before its turn releases the closure at once.
  ///
  /// Replaces `-[RACScheduler after:schedule:]`.
  @discardableResult
  public func schedule(
    atWallClock date: Date, tolerance: Duration? = nil, _ action: @escaping @Sendable () -> Void
  ) -> ScheduledWork {
    schedule(atWallClock: DispatchWallTime(date), tolerance: tolerance, action)
  }
}

extension DispatchWallTime {
  /// The time of a date; the farthest for one that the system cannot express.
  init(_ date: Date) {
    let seconds = date.timeIntervalSince1970
    // Dispatch counts nanoseconds from 1970 in 63 bits: until the year 2262.
    guard seconds < 9_000_000_000 else {
      self = .distantFuture
      return
    }
    // The first instant of 1970 means never to Dispatch; a second later is past, too.
    let whole = max(1, seconds.rounded(.down))
    let rest = max(0, seconds - whole) * 1_000_000_000
    self.init(timespec: timespec(tv_sec: Int(whole), tv_nsec: Int(rest)))
  }
}
