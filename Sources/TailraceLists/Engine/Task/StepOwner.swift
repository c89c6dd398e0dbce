/// An executor's view of the steps whose task it runs.
@usableFromInline
protocol StepOwner: AnyObject, Sendable {
  /// The list's name in errors.
  var title: Title { get }
  /// The step has suspended, and the driver leaves.
  func driverLeaves()
  /// A step is done without a driver; its task is about to park.
  func stepIsDone()
  /// The task has parked, or ended, without a driver.
  func taskHasParked()
}
