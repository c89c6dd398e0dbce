import Tailrace

/// A scheduler whose time passes when a test says so.
///
/// ```swift
/// let scheduler = VirtualScheduler()
/// let probe = Probe<Int>()
/// scheduler.schedule(every: .seconds(60)) { probe.record(1) }
/// scheduler.advance(by: .seconds(3600))
/// probe.count                               // 60; at once
/// ```
///
/// Nothing runs by itself. `advance(by:)`, `advance(to:)` and `run()` run what is due on the
/// calling thread: closures, jobs of tasks that prefer this scheduler, and jobs of actors that live
/// on it, in the order of their dates, and those of one date in the order in which they came. While
/// one runs, ``now`` is its date. A task that awaits only what happens on the scheduler goes on in
/// the same call, so that a test of real `await`s is deterministic:
///
/// <!-- continues -->
/// ```swift
/// let task = scheduler.schedule {
///   try? await scheduler.clock.sleep(for: .seconds(10))
///   probe.record(2)
/// }
/// scheduler.advance(by: .seconds(10))       // the task is over
/// ```
///
/// What a task awaits elsewhere, such as an actor of its own, comes back in its own time: wait for it
/// with a ``Gate`` or a ``Probe``, then advance. Each scheduler is a world of its own; tests can run
/// in parallel.
///
/// Releasing the scheduler runs nothing: work that is pending is cancelled. A scheduler is kept alive
/// by those who hold it, and by a task that runs on it, but not by its work.
///
/// - Isolation: the thread that advances it. Two that do so at once, and work that advances its own
///   scheduler, stop the program.
///
/// Replaces `RACTestScheduler`.
public final class VirtualScheduler: Scheduler, SerialExecutor {
  private let agenda = Locked(Agenda())

  /// Creates a scheduler at the ``Instant/start`` of its time.
  public init() {}

  deinit {
    for work in agenda.withLock({ $0.removeAll() }) { work.cancel() }
  }

  /// What the clock shows: the date of the work that runs, or how far a test has come.
  public var now: Instant { agenda.withLock { $0.now } }

  /// How many pieces of work and jobs are still to run. Work that was cancelled does not count.
  public var pendingCount: Int { agenda.withLock { $0.pendingCount } }

  // MARK: Passing the time

  /// Runs all that is due until a duration from now, and lets that much time pass.
  ///
  /// ```swift
  /// scheduler.advance(by: .seconds(10))
  /// ```
  ///
  /// A negative duration is none. Zero runs what is due now.
  ///
  /// - Parameters:
  ///   - duration: how much time passes.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  public func advance(
    by duration: Duration, file: StaticString = #fileID, line: UInt = #line
  ) {
    let instant = Instant(offset: now.offset.saturatingSum(max(duration, .zero)))
    advance(to: instant, file: file, line: line)
  }

  /// Runs all that is due until a point in time, which is then ``now``.
  ///
  /// A time in the past is now: time does not go back.
  ///
  /// - Parameters:
  ///   - instant: when it is then.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  public func advance(to instant: Instant, file: StaticString = #fileID, line: UInt = #line) {
    exclusively(file, line) {
      while let entry = agenda.withLock({ $0.next(until: instant) }) { perform(entry) }
      agenda.withLock { $0.pass(to: instant) }
    }
  }

  /// Runs all there is, whenever it is due, until there is nothing left.
  ///
  /// Never returns if work repeats itself without end.
  ///
  /// - Parameters:
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  ///
  /// Replaces `-[RACTestScheduler stepAll]`.
  public func run(file: StaticString = #fileID, line: UInt = #line) {
    exclusively(file, line) {
      while let entry = agenda.withLock({ $0.next(until: nil) }) { perform(entry) }
    }
  }

  /// Runs the next piece of work, whenever it is due. False if there is none.
  ///
  /// - Parameters:
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  ///
  /// Replaces `-[RACTestScheduler step]`.
  @discardableResult
  public func step(file: StaticString = #fileID, line: UInt = #line) -> Bool {
    exclusively(file, line) {
      guard let entry = agenda.withLock({ $0.next(until: nil) }) else { return false }
      perform(entry)
      return true
    }
  }

  /// Waits until that much work waits for its time: tasks that sleep, timers, and work that is delayed.
  ///
  /// ```swift
  /// let poller = Task { await poll(every: .seconds(1), on: scheduler.clock) }   // somewhere else
  /// await scheduler.waitForSleepers(1)   // it sleeps now, for certain
  /// scheduler.advance(by: .seconds(1))
  /// ```
  ///
  /// Code that does not run on the scheduler begins to sleep in its own time. Advanced too early, the
  /// clock would pass the deadline before that is made. What was cancelled does not count.
  public func waitForSleepers(_ count: Int) async {
    await withCheckedContinuation { continuation in
      if agenda.withLock({ $0.isAsleep(count, continuation) }) { continuation.resume() }
    }
  }

  private func exclusively<Value>(
    _ file: StaticString, _ line: UInt, _ body: () -> Value
  ) -> Value {
    let isFree = agenda.withLock { $0.begin() }
    guard isFree else {
      fatalError(
        "VirtualScheduler: advanced while it runs work already; advance it from one place in the "
          + "test, and not from its own work", file: file, line: line)
    }
    defer { agenda.withLock { $0.end() } }
    return performAsCurrent(body)
  }

  private func perform(_ entry: Agenda.Entry) {
    switch entry.piece {
    case .work(let work): work.run()
    case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  // MARK: Taking work

  public func enqueue(_ work: ScheduledWork) { add(.work(work), at: nil) }

  public func enqueue(_ work: ScheduledWork, at instant: Instant, tolerance: Duration?) {
    add(.work(work), at: instant)
  }

  /// Takes a job of a task that prefers this scheduler; it runs when time is advanced.
  public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job)), at: nil) }

  private func add(_ piece: Agenda.Piece, at date: Instant?) {
    for watcher in agenda.withLock({ $0.add(piece, at: date) }) { watcher.resume() }
  }

  // MARK: An executor for actors

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  public func isIsolatingCurrentContext() -> Bool? { currentScheduler === self }

  public func checkIsolated() {
    guard currentScheduler === self else {
      fatalError(
        "VirtualScheduler: this code is isolated to an actor that lives on the scheduler, and runs "
          + "elsewhere; advance the scheduler and let it run there")
    }
  }
}
