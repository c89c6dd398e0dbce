internal import Dispatch

/// The scheduler that this code runs on, or `nil`.
///
/// ```swift
/// let scheduler = QueueScheduler(name: "parsing")
/// await scheduler.run {
///   currentScheduler === scheduler
/// }   // true; also after an await, and after a throw
/// ```
///
/// It depends on the thread, not on the task: an actor on a scheduler finds that scheduler,
/// whoever calls the actor. An actor with another executor, such as the main actor, does not find
/// the scheduler of the task that calls it. An actor without an executor of its own runs on the
/// executor that the calling task prefers, and finds that scheduler. Code that Dispatch runs on a
/// scheduler's queue, or on a queue that targets it, is also on the scheduler.
/// ``ImmediateScheduler`` runs work in place and does not change it.
///
/// Replaces `+[RACScheduler currentScheduler]`.
public var currentScheduler: (any Scheduler)? {
  // The main queue gets its mark at the first query.
  _ = QueueScheduler.main
  return DispatchQueue.getSpecific(key: SchedulerMark.key)?.scheduler
}

/// The mark on a queue that identifies its scheduler.
///
/// Dispatch returns the mark of the innermost queue between the running one and its targets.
final class SchedulerMark: Sendable {
  static let key = DispatchSpecificKey<SchedulerMark>()

  // Guard: the reference is weak, which is atomic. May touch it: anyone; never written again.
  private nonisolated(unsafe) weak var reference: (any Scheduler)?

  init(_ scheduler: any Scheduler) { reference = scheduler }

  var scheduler: (any Scheduler)? { reference }
}
