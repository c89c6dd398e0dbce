internal import Dispatch

extension Scheduler {
  /// Runs work whose turn has come. For schedulers: to be called where the work belongs.
  public func perform(_ work: ScheduledWork) {
    performAsCurrent { work.run() }
  }

  /// Runs a job whose turn has come. For schedulers: to be called where the job belongs.
  public func perform(_ job: UnownedJob) {
    performAsCurrent { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Runs a closure that finds this scheduler as the ``currentScheduler``.
  ///
  /// Replaces `-[RACScheduler performAsCurrentScheduler:]`.
  public func performAsCurrent<Value>(_ body: () -> Value) -> Value {
    SchedulerMark.queue(of: self).sync(execute: body)
  }
}

extension SchedulerMark {
  /// The queues that carry the marks of schedulers that have no queue. No work is queued there:
  /// `sync` on a concurrent queue without barriers runs in place, and says where it is.
  private static let queues = Locked(MarkedQueues())

  fileprivate static func queue(of scheduler: some Scheduler) -> DispatchQueue {
    if let queue = queues.withLock({ $0[scheduler] }) { return queue }
    let queue = DispatchQueue(label: "\(type(of: scheduler))", attributes: .concurrent)
    let mark = SchedulerMark(scheduler)
    queue.setSpecific(key: key, value: mark)
    queues.withLock { $0.add(queue, mark, for: scheduler) }
    return queue
  }
}

/// One queue for each scheduler that is alive and has performed something.
private struct MarkedQueues {
  private var queues: [ObjectIdentifier: (queue: DispatchQueue, mark: SchedulerMark)] = [:]
  private var limit = 16

  /// A scheduler may be where another one was that is gone; then the mark is no longer its own.
  subscript(scheduler: some Scheduler) -> DispatchQueue? {
    guard let (queue, mark) = queues[ObjectIdentifier(scheduler)], mark.scheduler === scheduler
    else { return nil }
    return queue
  }

  mutating func add(_ queue: DispatchQueue, _ mark: SchedulerMark, for scheduler: some Scheduler) {
    if queues.count >= limit {
      queues = queues.filter { $0.value.mark.scheduler != nil }
      limit = max(16, queues.count * 2)
    }
    queues[ObjectIdentifier(scheduler)] = (queue, mark)
  }
}
