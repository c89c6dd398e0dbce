import CProcessExecutors
import Synchronization
import TailraceSupport
import TailraceTesting

/// Takes the jobs of the run that is explored out of those that are put in line for the executors of the
/// process.
final class ProcessCatcher: ProcessCatching {
  static let shared = ProcessCatcher()

  /// The run that is explored, and its tasks.
  private struct Caught: Sendable {
    let run: ExplorationScheduler
    var tasks: RunTasks
    /// Its tasks, retained, but for those of async let. The first is that of the body.
    var handles: [TaskHandle] = []

    /// A new task of the run. It is retained for the run's end.
    mutating func holds(_ job: UnownedJob) {
      guard job.isTask, !tailrace_is_async_let(job.address) else { return }
      tailrace_retain(job.address)
      handles.append(TaskHandle(job))
    }

    /// Whether the running task belongs to the run.
    mutating func meetsCaller() -> Bool {
      guard let current = UnownedJob.current else { return true }
      switch tasks.meets(caller: current.number) {
      case .isOwn: return true
      case .isNew:
        holds(current)
        return true
      case .isForeign: return false
      }
    }

    /// Whether a job that code of the run puts in line belongs to it. A job of no task is an actor's.
    ///
    /// - Parameter isAlarm: whether the job ends a sleep. It may be a task of its own, which nobody cancels.
    mutating func meets(_ job: UnownedJob, isAlarm: Bool) -> Bool {
      let number = job.number
      if number == 0 { return true }
      switch tasks.meets(number) {
      case .isOwn: return true
      case .isNew:
        if !isAlarm { holds(job) }
        return true
      case .isForeign: return false
      }
    }
  }

  private let caught = Locked(Caught?.none)
  /// Whether a run is explored: looked at before the lock is taken.
  private let isExploring = Atomic(false)

  // MARK: Jobs that are put in line

  private enum Owner: Sendable {
    case other
    case run(ExplorationScheduler, isOutside: Bool)
  }

  private func owner(of job: UnownedJob, isAlarm: Bool) -> Owner {
    guard isExploring.load(ordering: .acquiring) else { return .other }
    let isDriving = tailrace_is_driving()
    return caught.withLock { caught in
      guard let run = caught?.run else { return .other }
      if isDriving {
        // An actor that the run shares with others may run their code on this thread.
        guard caught?.meetsCaller() == true, caught?.meets(job, isAlarm: isAlarm) == true else {
          return .other
        }
        return .run(run, isOutside: false)
      }
      let number = job.number
      guard number != 0, caught?.tasks.isOwn(elsewhere: number) == true else { return .other }
      return .run(run, isOutside: true)
    }
  }

  /// False if the job is not one of the run.
  func takes(_ job: UnownedJob, onMainActor: Bool) -> Bool {
    guard case .run(let run, let isOutside) = owner(of: job, isAlarm: false) else { return false }
    return run.take(job, onMainActor: onMainActor, isOutside: isOutside)
  }

  /// Takes the job that ends a sleep.
  func takes(_ job: UnownedJob, after delay: @autoclosure () -> Duration?) -> Bool {
    // A delay that is measured is measured by the clock that the job's owner sees.
    guard isExploring.load(ordering: .acquiring), let delay = delay(),
      case .run(let run, let isOutside) = owner(of: job, isAlarm: true)
    else { return false }
    return run.take(job, after: delay, isOutside: isOutside)
  }

  func sees(_ job: UnownedJob, for run: ExplorationScheduler) {
    caught.withLock { caught in
      guard caught?.run === run else { return }
      _ = caught?.meets(job, isAlarm: false)
    }
  }

  // MARK: A run

  func begins(_ run: ExplorationScheduler) {
    let tasks = RunTasks(after: TaskNumbering.next(), explorer: UnownedJob.current?.number ?? 0)
    caught.withLock { $0 = Caught(run: run, tasks: tasks) }
    isExploring.store(true, ordering: .releasing)
  }

  func ends(_ run: ExplorationScheduler) {
    isExploring.store(false, ordering: .releasing)
    // Released outside of the lock.
    for handle in caught.withLock({ $0.take()?.handles ?? [] }) { handle.release() }
  }

  private func handles(of run: ExplorationScheduler) -> [TaskHandle] {
    caught.withLock { caught in caught?.run === run ? caught?.handles ?? [] : [] }
  }

  func tasksLeft(of run: ExplorationScheduler) -> Int {
    handles(of: run).dropFirst().count { $0.isHeldByOthers }
  }

  func cancelTasks(of run: ExplorationScheduler) { for task in handles(of: run) { task.cancel() } }

  // MARK: The thread that drives

  func drives(_ run: ExplorationScheduler) {
    timeIs(run.now.offset)
    tailrace_set_driving(true)
  }

  func rests() { tailrace_set_driving(false) }

  func timeIs(_ offset: Duration) {
    let (seconds, attoseconds) = offset.components
    // After 292 years the clocks of the system stand still.
    let (nanoseconds, isLate) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isLater) = nanoseconds.addingReportingOverflow(attoseconds / 1_000_000_000)
    tailrace_set_time(isLate || isLater ? .max : sum)
  }

  func run(_ job: UnownedJob, onMainActor: Bool) {
    // Both of two words that are zero: no actor, and no preference. So a step ends wherever a task goes to
    // an actor, and does not go on there at once.
    let nowhere = unsafeBitCast((UInt(0), UInt(0)), to: UnownedTaskExecutor.self)
    let noActor = unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)
    job.runSynchronously(
      isolatedTo: onMainActor ? MainActor.sharedUnownedExecutor : noActor, taskExecutor: nowhere)
  }

  // MARK: Exploring

  /// One exploration at a time: it has the main actor, and the clock.
  private static let turn: Gate = {
    let gate = Gate()
    gate.pass()
    return gate
  }()

  private enum Check: Sendable {
    case isDue
    case passed
    case failed(String)
  }

  private let check = Locked(Check.isDue)

  func explores(
    _ search: @MainActor @Sendable () async throws -> ExplorationSummary
  ) async throws -> ExplorationSummary {
    guard ProcessExecutors.areReplaced else {
      throw ExplorationUnavailable(reason: ProcessExecutors.reason)
    }
    require(
      !tailrace_is_driving(),
      "explore(.wholeProcess): called inside of a body that explores the whole process; there is one "
        + "exploration at a time, so that call them one after the other")
    await Self.turn.wait()
    defer { Self.turn.pass() }
    let patience = MainActorPatience()
    defer { patience.end() }
    return try await exploresInTurn(patience, search)
  }

  @MainActor private func exploresInTurn(
    _ patience: MainActorPatience,
    _ search: @MainActor @Sendable () async throws -> ExplorationSummary
  ) async throws -> ExplorationSummary {
    patience.end()
    tailrace_start_time()
    if case .isDue = check.withLock({ $0 }) {
      let result = await checks()
      check.withLock { $0 = result }
    }
    if case .failed(let reason) = check.withLock({ $0 }) {
      throw ExplorationUnavailable(reason: reason)
    }
    return try await search()
  }

  /// Whether a small run comes out as it must: a runtime that has changed is found here.
  @MainActor private func checks() async -> Check {
    var options = ExplorationOptions(runs: 1, preemptions: 0, randomRuns: 0, patience: .seconds(1))
    options.catcher = self
    let runner = Runner(options, watches: false) { run in
      let begin = ContinuousClock.now
      let plain = await Task { 1 }.value
      let detached = await Task.detached { await MainActor.run { 1 } }.value
      let main = await Task { @MainActor in 1 }.value
      try run.require(plain + detached + main == 3)
      try await Task.sleep(for: .seconds(3600))
      try run.require(run.clock.now.offset == .seconds(3600), "a sleep is not exact")
      try run.require(
        ContinuousClock.now - begin == .seconds(3600), "the clock of the system is not virtual")
    }
    do {
      _ = try await runner.explore()
      return .passed
    } catch let failure as ExplorationFailure {
      return .failed("the runtime does not behave as this package knows it (\(failure.reason))")
    } catch {
      return .failed("the exploration was cancelled")
    }
  }
}

/// A task that was retained by hand.
private struct TaskHandle: Sendable {
  private let bits: UInt

  init(_ job: UnownedJob) { bits = UInt(bitPattern: job.address) }

  // Guard: the handle's own reference, until `release`.
  private var address: UnsafeMutableRawPointer {
    guard let address = UnsafeMutableRawPointer(bitPattern: bits) else {
      fatalError("explore: a task has no address")
    }
    return address
  }

  var isHeldByOthers: Bool { tailrace_retain_count(address) > 1 }
  func cancel() { tailrace_cancel(address) }
  func release() { tailrace_release(address) }
}

extension UnownedJob {
  fileprivate var number: UInt64 { numberOfTask(self) }
  fileprivate var isTask: Bool { tailrace_is_task(address) }

  fileprivate var address: UnsafeMutableRawPointer {
    unsafeBitCast(self, to: UnsafeMutableRawPointer.self)
  }

  /// The task that runs on this thread.
  fileprivate static var current: UnownedJob? {
    tailrace_current_task().map { unsafeBitCast($0, to: UnownedJob.self) }
  }
}

/// The runtime's own number of a job's task.
@_silgen_name("swift_task_getJobTaskId")
private func numberOfTask(_ job: UnownedJob) -> UInt64

/// Learns the number that the runtime gives to a task that is made now.
private final class TaskNumbering: TaskExecutor {
  private struct Made: Sendable {
    let number: UInt64
    let job: UnownedJob
  }

  private let made = Locked(Made?.none)

  static func next() -> UInt64 {
    let executor = TaskNumbering()
    Task(executorPreference: executor) {}
    guard let made = executor.made.withLock({ $0 }) else { return .max }
    made.job.runSynchronously(on: executor.asUnownedTaskExecutor())
    return made.number
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    made.withLock { $0 = Made(number: job.number, job: job) }
  }
}
