import TailraceSupport

/// Estimates the time of a list's steps: whether handing them over pays.
@usableFromInline
struct LatencyEstimate {
  /// The cost of handing a step to another thread.
  @usableFromInline static let handOver = Duration.microseconds(10)

  /// How many of the last measured steps were short, minus those asked for.
  @usableFromInline var short = 0
  @usableFromInline var unmeasured = 0

  @usableFromInline var isQuick: Bool { short > 0 }

  /// Whether to measure the next step: all of them at first, then a sample.
  @usableFromInline var isMeasured: Bool {
    mutating get {
      guard short >= 32 else { return true }
      unmeasured += 1
      return unmeasured & 15 == 0
    }
  }

  @_alwaysEmitIntoClient
  mutating func took(_ duration: Duration) {
    // After a long step, several short ones are needed.
    short = duration < Self.handOver || Exploring.isOn ? min(short + 1, 32) : -8
  }
}
