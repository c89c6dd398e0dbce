public import Synchronization

// Whether only look-ahead wants the running work.
extension StepExecutor {
  /// The number of tasks that look ahead; mostly none, and then there is nothing to look up.
  @usableFromInline static let lookingAhead = Atomic(0)

  /// Whether only look-ahead wants the running work, directly or through other lists.
  @inlinable static var isAhead: Bool {
    lookingAhead.load(ordering: .relaxed) > 0 && current.map(\.isAhead) == true
  }

  @usableFromInline
  nonisolated var isAhead: Bool {
    var task = self
    for _ in 0..<64 {
      if task.ahead != nil { return true }
      guard let driver = task.driver.current else { return false }
      task = driver
    }
    return false
  }
}
