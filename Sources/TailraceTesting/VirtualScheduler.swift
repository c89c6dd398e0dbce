import Tailrace
import TailraceSupport

/// A scheduler whose time passes only when a test advances it.
///
/// ```swift
/// let scheduler = VirtualScheduler()
/// let probe = Probe<Int>()
/// scheduler.schedule(every: .seconds(60)) { probe.record(1) }
/// scheduler.advance(by: .seconds(3600))
/// probe.count                               // 60; at once
/// ```
///
/// Nothing runs by itself. `advance(by:)`, `advance(to:)` and `run()` run due work on the calling
/// thread: closures, jobs of tasks that prefer this scheduler, and jobs of actors on it. Work runs
/// in the order of its dates, and for one date in the order of arrival. While work runs, ``now``
/// is its date. A task that awaits only events on the scheduler continues in the same call, so a
/// test of real `await`s is deterministic:
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
/// If a task awaits something elsewhere, such as another actor, the scheduler does not control
/// when that happens: wait for it with a ``Gate`` or a ``Probe``, then advance. A plain closure is no
/// task, so what it starts prefers no executor, and runs in the global pool: a `Task { }`, or an
/// asynchronous step that it requests, such as that of `Memos.refresh`. Use an asynchronous closure
/// there. Schedulers are independent; tests can run in parallel.
///
/// Releasing the scheduler cancels its pending work. Its holders, and a task that runs on it,
/// retain a scheduler; its work does not.
///
/// - Isolation: the thread that advances it. Two threads that do so at once, and work that
///   advances its own scheduler, stop the program.
///
/// Replaces `RACTestScheduler`.
public final class VirtualScheduler: Scheduler, SerialExecutor {
  private let agenda = Locked(Agenda())

  /// Creates a scheduler at ``Instant/start``.
  public init() {}

  deinit {
    for work in agenda.withLock({ $0.removeAll() }) { work.cancel() }
  }

  /// The virtual time: the date of the running work, or the time advanced to.
  public var now: Instant { agenda.withLock { $0.now } }

  /// How many pieces of work and jobs are still to run, without cancelled ones.
  public var pendingCount: Int { agenda.withLock { $0.pendingCount } }

  /// The date of the next piece of work or job that is still to run, cancelled ones aside; `nil` if
  /// there is none.
  ///
  /// ```swift
  /// let scheduler = VirtualScheduler()
  /// scheduler.schedule(after: .seconds(3)) {}
  /// print(scheduler.nextDate?.offset ?? .zero)   // 3.0 seconds
  /// ```
  ///
  /// - Complexity: O(``pendingCount``).
  public var nextDate: Instant? { agenda.withLock { $0.nextDate } }

  // MARK: Passing the time

  /// Advances time by a duration, and runs all work that becomes due.
  ///
  /// ```swift
  /// scheduler.advance(by: .seconds(10))
  /// ```
  ///
  /// A negative duration counts as zero. Zero runs the work due now.
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

  /// Runs all work due until a point in time, which is then ``now``.
  ///
  /// A past time means now: time does not go back.
  ///
  /// - Parameters:
  ///   - instant: the new time.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  public func advance(to instant: Instant, file: StaticString = #fileID, line: UInt = #line) {
    exclusively(file, line) {
      while let entry = next(until: instant) { perform(entry) }
    }
  }

  /// Runs all work, whenever it is due, until none is left.
  ///
  /// Never returns if work repeats forever.
  ///
  /// - Parameters:
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  ///
  /// Replaces `-[RACTestScheduler stepAll]`.
  public func run(file: StaticString = #fileID, line: UInt = #line) {
    exclusively(file, line) {
      while let entry = next(until: nil) { perform(entry) }
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
      guard let entry = next(until: nil) else { return false }
      perform(entry)
      return true
    }
  }

  /// Waits until that many sleeps are pending: sleeping tasks, timers and delayed work.
  ///
  /// ```swift
  /// let poller = Task { await poll(every: .seconds(1), on: scheduler.clock) }
  /// await scheduler.waitForSleepers(1)   // it sleeps now, for certain
  /// scheduler.advance(by: .seconds(1))
  /// ```
  ///
  /// Code outside the scheduler starts to sleep at a time the test does not control. If the clock
  /// is advanced too early, it passes the deadline before that exists. Cancelled work does not
  /// count.
  ///
  /// Every sleep counts, also that of a deadline or of a timer beside the one that the test means:
  /// then wait for that one, with ``waitForSleeper(due:)``.
  public func waitForSleepers(_ count: Int) async {
    let mark = Exploring.waits(
      for: Exploring.Wait("\(count) sleepers on ", "a VirtualScheduler", self))
    defer { mark?.end() }
    await withCheckedContinuation { continuation in
      if agenda.withLock({ $0.isAsleep(count, continuation) }) { continuation.resume() }
    }
  }

  /// Waits until a sleep until a point in time is pending: of a task, a timer or delayed work.
  ///
  /// ```swift
  /// let scheduler = VirtualScheduler()
  /// let deadline = scheduler.schedule(after: .seconds(60)) { print("too late") }
  /// let answer = Task {   // somewhere else
  ///   try await scheduler.clock.sleep(for: .seconds(1))
  ///   return "tea"
  /// }
  /// await scheduler.waitForSleeper(due: .start + .seconds(1))   // the deadline is not enough
  /// scheduler.advance(by: .seconds(1))
  /// print(try await answer.value)   // tea
  /// deadline.cancel()
  /// ```
  ///
  /// Returns at once if that time has come, and as soon as it comes, since then nothing begins to
  /// sleep until it. Cancelled work does not count.
  public func waitForSleeper(due instant: Instant) async {
    await withCheckedContinuation { continuation in
      let isThere = agenda.withLock { $0.isAsleep(until: instant, continuation) }
      if isThere { continuation.resume() }
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

  private func next(until limit: Instant?) -> Agenda.Entry? {
    while true {
      let (entry, watchers) = agenda.withLock { ($0.next(until: limit), $0.takeMissed()) }
      for watcher in watchers { watcher.resume() }
      // A task that was woken may run here, and be due now.
      if entry != nil || watchers.isEmpty { return entry }
    }
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

  /// Takes a job of a task that prefers this scheduler; advancing time runs it.
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
