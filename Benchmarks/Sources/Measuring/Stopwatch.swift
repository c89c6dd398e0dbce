import Foundation

/// The clock that a sample is read from.
public enum Stopwatch: String, Sendable {
  /// The time that passes.
  case clock
  /// The time that all threads of the process have run. It is steady on a machine that is busy, and
  /// blind for time in which nothing runs.
  case processor

  /// The reading; its difference to another one is a time.
  public var nanoseconds: Double {
    var time = timespec()
    clock_gettime(self == .clock ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}
