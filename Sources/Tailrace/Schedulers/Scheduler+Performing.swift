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
  private typealias MarkedQueue = (queue: DispatchQueue, mark: SchedulerMark)

  /// The queues that carry the marks of schedulers that have no queue. No work is queued there:
  /// `sync` on a concurrent queue without barriers runs in place, and says where it is.
  private static let queues = Locked([ObjectIdentifier: MarkedQueue]())

  fileprivate static func queue(of scheduler: some Scheduler) -> DispatchQueue {
    let id = ObjectIdentifier(scheduler)
    // There may be the queue of a scheduler that was at this place, and is gone.
    let found = queues.withLock { $0[id] }
    if let (queue, mark) = found, mark.scheduler === scheduler { return queue }
    let queue = DispatchQueue(label: "\(type(of: scheduler))", attributes: .concurrent)
    let mark = SchedulerMark(scheduler)
    queue.setSpecific(key: key, value: mark)
    let all = queues.withLock { queues in
      queues[id] = (queue, mark)
      return queues.count.nonzeroBitCount == 1 ? queues : [:]
    }
    // Asks outside of the lock: to ask may be to hold the last reference to a scheduler.
    let gone = all.filter { $0.value.mark.scheduler == nil }
    if !gone.isEmpty { forget(gone) }
    return queue
  }

  private static func forget(_ gone: [ObjectIdentifier: MarkedQueue]) {
    queues.withLock { queues in
      for (id, (_, mark)) in gone where queues[id]?.mark === mark { queues[id] = nil }
    }
  }
}
