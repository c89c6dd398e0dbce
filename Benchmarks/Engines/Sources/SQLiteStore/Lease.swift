import Foundation

/// A time for leases: milliseconds since the machine was started, also those that it slept.
///
/// All processes that use a database are on one machine, and nobody can set this clock.
struct LeaseTime: Comparable, Sendable {
  let milliseconds: Int

  static var now: LeaseTime {
    #if canImport(Darwin)
      let clock = CLOCK_MONOTONIC_RAW
    #else
      let clock = CLOCK_BOOTTIME
    #endif
    var time = timespec()
    clock_gettime(clock, &time)
    return LeaseTime(milliseconds: Int(time.tv_sec) * 1000 + Int(time.tv_nsec) / 1_000_000)
  }

  static func < (one: LeaseTime, other: LeaseTime) -> Bool {
    one.milliseconds < other.milliseconds
  }

  static func + (time: LeaseTime, length: Int) -> LeaseTime {
    LeaseTime(milliseconds: time.milliseconds + length)
  }
}

/// A lease's end, as it is stored.
struct Lease {
  let expires: LeaseTime
  /// In milliseconds.
  let length: Int

  /// Whether it keeps others from writing.
  ///
  /// One that would last longer than its length was given before the machine was started again.
  func isValid(at now: LeaseTime) -> Bool { now < expires && expires <= now + length }
}
