import TailraceSupport
internal import Dispatch

extension Scheduler {
  /// Runs work in its turn, with this scheduler as the ``currentScheduler``. Schedulers call it where
  /// the work belongs.
  ///
  /// Replaces `-[RACScheduler performAsCurrentScheduler:]`.
  public func perform(_ work: ScheduledWork) {
    performAsCurrent { work.run() }
  }

  /// Runs a job in its turn. Schedulers call it where the job belongs.
  public func perform(_ job: UnownedJob) {
    performAsCurrent { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Runs a closure with this scheduler as the ``currentScheduler``.
  package func performAsCurrent<Value>(_ body: () -> Value) -> Value {
    SchedulerMark.queue(of: self).sync(execute: body)
  }
}

extension SchedulerMark {
  private typealias MarkedQueue = (queue: DispatchQueue, mark: SchedulerMark)

  /// The queues that carry the marks of schedulers without a queue. No work is queued there:
  /// `sync` on a concurrent queue without barriers runs in place, and shows the mark.
  private static let queues = Locked([ObjectIdentifier: MarkedQueue]())

  fileprivate static func queue(of scheduler: some Scheduler) -> DispatchQueue {
    let id = ObjectIdentifier(scheduler)
    // The queue may belong to a released scheduler that had this address.
    let found = queues.withLock { $0[id] }
    if let (queue, mark) = found, mark.scheduler === scheduler { return queue }
    let queue = DispatchQueue(label: "\(type(of: scheduler))", attributes: .concurrent)
    let mark = SchedulerMark(scheduler)
    queue.setSpecific(key: key, value: mark)
    let all = queues.withLock { queues in
      queues[id] = (queue, mark)
      return queues.count.nonzeroBitCount == 1 ? queues : [:]
    }
    // Outside the lock: the check may hold the last reference to a scheduler.
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
