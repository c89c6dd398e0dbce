import TailraceLists
import TailraceSupport

/// When something was last heard of a connection.
final class ActivityTimer: Sendable {
  private let now: @Sendable () -> Duration
  private let time: Locked<Duration>

  init(_ now: @escaping @Sendable () -> Duration) {
    self.now = now
    time = Locked(now())
  }

  var last: Duration { time.withLock { $0 } }

  /// Something was heard.
  func restart() {
    let now = now()
    time.withLock { $0 = now }
  }
}
