internal import Dispatch

/// The scheduler that this code runs on, `nil` if there is none.
///
/// ```swift
/// let scheduler = QueueScheduler(name: "parsing")
/// await scheduler.run {
///   currentScheduler === scheduler
/// }   // true; also after an await, and after a throw
/// ```
///
/// It is a matter of the thread, not of the task: an actor that lives on a scheduler finds that
/// scheduler, whoever calls it, and code that a scheduler's task calls on another actor does not.
/// Code that Dispatch brings to a scheduler's queue, or to a queue that targets it, is on the
/// scheduler, too. ``ImmediateScheduler`` runs work where it is called and does not change it.
///
/// Replaces `+[RACScheduler currentScheduler]`.
public var currentScheduler: (any Scheduler)? {
  // The main queue carries its mark as soon as somebody asks.
  _ = QueueScheduler.main
  return DispatchQueue.getSpecific(key: SchedulerMark.key)?.scheduler
}

/// What a queue carries to say whose it is.
///
/// Dispatch finds the mark of the innermost queue on the way from the running one to its targets.
final class SchedulerMark: Sendable {
  static let key = DispatchSpecificKey<SchedulerMark>()

  // Guard: the reference is weak, which is atomic. May touch it: anyone; it is not written again.
  private nonisolated(unsafe) weak var reference: (any Scheduler)?

  init(_ scheduler: any Scheduler) { reference = scheduler }

  var scheduler: (any Scheduler)? { reference }
}
