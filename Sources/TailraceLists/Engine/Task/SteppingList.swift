internal import Dispatch
import TailraceSupport

/// An executor's view of the list whose task it runs.
@usableFromInline
protocol SteppingList: AnyObject, Sendable {
  var isAbandoned: Bool { get }
  /// The list's name in errors.
  var title: Title { get }
  /// The driver leaves, and stops retaining the list.
  func driverLeaves()
  /// The task has parked without a driver.
  func taskHasParked()
  /// A step is about to wait. False if nobody waits for the step.
  func stepWaits(with waiter: Waiter, isDriven: Bool) -> Bool
  /// The step does not wait any more.
  func stepGoesOn()
}

extension DispatchQoS.QoSClass {
  /// The class of a job's priority.
  init(_ priority: JobPriority) {
    self =
      switch priority.rawValue {
      case ..<UInt8(10): .background
      case ..<UInt8(18): .utility
      case ..<UInt8(22): .default
      case ..<UInt8(26): .userInitiated
      default: .userInteractive
      }
  }
}
