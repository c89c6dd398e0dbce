/// How long to pause before another attempt: longer after each failure, and never the same for all
/// clients of a server.
struct RemoteBackoff: Hashable, Sendable {
  static let shortest = Duration.milliseconds(250)
  static let longest = Duration.seconds(15)

  /// Failures in a row.
  private(set) var failures = 0
  /// What the server has asked for.
  private var atLeast = Duration.zero

  mutating func failed(pause: Duration? = nil) {
    // More make no difference.
    failures = min(failures + 1, 8)
    atLeast = min(max(pause ?? .zero, .zero), .seconds(300))
  }

  mutating func succeeded() { self = RemoteBackoff() }

  /// - Parameter chance: 0 to 1.
  func pause(_ chance: Double) -> Duration {
    guard failures > 0 else { return .zero }
    let growing = min(Self.shortest * (1 << (failures - 1)), Self.longest)
    return max(growing * (0.5 + chance / 2), atLeast * (1 + chance / 4))
  }
}
