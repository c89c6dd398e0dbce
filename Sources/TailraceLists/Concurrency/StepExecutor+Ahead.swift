public import Synchronization

// Whether a demand that look-ahead has caused may cause more.
extension StepExecutor {
  /// The number of tasks that look ahead; mostly none, and then there is nothing to look up.
  @usableFromInline static let lookingAhead = Atomic(0)

  /// Whether a list must not look ahead for the running code, because look-ahead has caused that.
  @_alwaysEmitIntoClient
  static func isLimited(_ mark: LookaheadMark) -> Bool {
    lookingAhead.load(ordering: .relaxed) > 0 && current.map { $0.isLimited(mark) } == true
  }

  /// Look-ahead in a source always goes on: it was made before the lists that read it. A list that a
  /// step makes, as for `flatMap`, is made later, and looks ahead, too; but not the lists that its
  /// own steps make. So a list defined by its own later elements causes no look-ahead without end.
  @usableFromInline
  nonisolated func isLimited(_ mark: LookaheadMark) -> Bool {
    var (task, caused, later) = (self, mark.number, 0)
    for _ in 0..<64 {
      if let cause = task.ahead {
        if cause.number < caused { later += 1 }
        if cause.number == mark.number || later > 1 { return true }
        caused = cause.number
      }
      guard let driver = task.driver.current else { return false }
      task = driver
    }
    // Too many to follow.
    return true
  }

  /// Notes which step, or which look-ahead, causes this one.
  @usableFromInline
  nonisolated func noteCause(_ cause: StepExecutor?) { driver.note(cause) }
}
