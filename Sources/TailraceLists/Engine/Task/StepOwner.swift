/// The task's view of the steps that it takes.
@usableFromInline
protocol StepOwner: AnyObject, Sendable {
  /// The list's name in errors.
  var title: Title { get }
  /// A step is done without a driver; its task is about to park.
  func stepIsDone()
  /// The task has parked, or ended, without a driver.
  func taskHasParked()
}
