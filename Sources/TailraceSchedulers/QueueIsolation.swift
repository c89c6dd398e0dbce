import TailraceSupport
internal import Dispatch

/// A scheduler's executor for actors.
///
/// Before each hop the runtime asks where a thread is: on a serial executor, or on an executor
/// that the task prefers. A scheduler is both, and a job does not tell which one it is for. Two
/// objects make the difference, so that code on the scheduler does not leave the thread between
/// two of its functions.
final class QueueIsolation: SerialExecutor {
  /// It outlives this object: only the scheduler and its actors refer to this object.
  private unowned let scheduler: QueueScheduler

  init(_ scheduler: QueueScheduler) { self.scheduler = scheduler }

  func enqueue(_ job: consuming ExecutorJob) {
    scheduler.add(UnownedJob(job), isIsolated: true)
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  func isIsolatingCurrentContext() -> Bool? { scheduler.isCurrent }

  func checkIsolated() {
    guard scheduler.isCurrent else {
      misuse(
        "QueueScheduler \"\(scheduler.name)\": this code is isolated to an actor that lives on the "
          + "scheduler, and runs elsewhere; bring it there with schedule, run or queue.async")
    }
  }
}
