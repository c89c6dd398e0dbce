internal import Dispatch

/// The face that a scheduler shows to actors.
///
/// The runtime asks before each hop where a thread is: on a serial executor, or on an executor that
/// the task prefers. A scheduler is both, and a job does not tell which of them it came for. With
/// two faces it does, and code that stays on the scheduler does not leave the thread between
/// two of its functions.
final class QueueIsolation: SerialExecutor {
  /// Outlives this object, which only it and the actors that hold it refer to.
  private unowned let scheduler: QueueScheduler

  init(_ scheduler: QueueScheduler) { self.scheduler = scheduler }

  func enqueue(_ job: consuming ExecutorJob) {
    scheduler.add(UnownedJob(job), isIsolated: true)
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  func isIsolatingCurrentContext() -> Bool? { scheduler.isCurrent }

  func checkIsolated() {
    require(
      scheduler.isCurrent,
      "QueueScheduler \"\(scheduler.name)\": this code is isolated to an actor that lives on the "
        + "scheduler, and runs elsewhere; bring it there with schedule, run or queue.async")
  }
}
