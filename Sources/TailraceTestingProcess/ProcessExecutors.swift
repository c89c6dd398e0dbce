import TailraceTesting

// The names below are for the toolchain's own use, and differ from one version to the next. Each new version
// needs a look.
#if compiler(>=6.3) && compiler(<6.4) && canImport(Glibc)
  @_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) public import _Concurrency

  /// The executors of the process: they pass on all jobs but those of the run that is explored.
  enum ProcessExecutors {
    static let areReplaced = true
    static let reason = ""

    fileprivate struct Factory: ExecutorFactory {
      static let main = CatchingMainExecutor(PlatformExecutorFactory.mainExecutor)
      static let general = CatchingExecutor(PlatformExecutorFactory.defaultExecutor)
      static var mainExecutor: any MainExecutor { main }
      static var defaultExecutor: any TaskExecutor { general }
    }
  }

  @_cdecl("tailrace_install_executors")
  func installExecutors() { _createExecutors(factory: ProcessExecutors.Factory.self) }

  /// An executor whose sleeps take virtual time, if they are sleeps of the run that is explored.
  private protocol CatchingSleeps: SchedulingExecutor {
    var catchesSleeps: Bool { get }
    /// Takes the others.
    var scheduling: any SchedulingExecutor { get }
  }

  extension CatchingSleeps {
    fileprivate var catchesSleeps: Bool { true }

    // A clock that does not measure in seconds is the scheduling executor's business.
    fileprivate func sleeps<C: _Concurrency.Clock>(
      _ job: consuming ExecutorJob, after delay: C.Duration, _ tolerance: C.Duration?, _ clock: C
    ) {
      let job = UnownedJob(job)
      if catchesSleeps, ProcessCatcher.shared.takes(job, after: delay as? Duration) { return }
      scheduling.enqueue(ExecutorJob(job), after: delay, tolerance: tolerance, clock: clock)
    }

    fileprivate func sleeps<C: _Concurrency.Clock>(
      _ job: consuming ExecutorJob, at instant: C.Instant, _ tolerance: C.Duration?, _ clock: C
    ) {
      let job = UnownedJob(job)
      if catchesSleeps,
        ProcessCatcher.shared.takes(job, after: clock.now.duration(to: instant) as? Duration)
      {
        return
      }
      scheduling.enqueue(ExecutorJob(job), at: instant, tolerance: tolerance, clock: clock)
    }
  }

  /// An executor of the platform can also run jobs later.
  private func schedules(_ executor: any Executor) -> any SchedulingExecutor {
    guard let executor = executor as? any SchedulingExecutor else {
      fatalError("explore: \(type(of: executor)) cannot run jobs later")
    }
    return executor
  }

  /// The default executor.
  private final class CatchingExecutor: TaskExecutor, CatchingSleeps, Sendable {
    private let original: any TaskExecutor
    let scheduling: any SchedulingExecutor

    init(_ original: any TaskExecutor) {
      (self.original, scheduling) = (original, schedules(original))
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      if ProcessCatcher.shared.takes(job, onMainActor: false) { return }
      original.enqueue(ExecutorJob(job))
    }

    func enqueue<C: _Concurrency.Clock>(
      _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) { sleeps(job, after: delay, tolerance, clock) }

    func enqueue<C: _Concurrency.Clock>(
      _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) { sleeps(job, at: instant, tolerance, clock) }
  }

  /// The executor of the main actor.
  private final class CatchingMainExecutor: MainExecutor, CatchingSleeps, Sendable {
    private let original: any MainExecutor
    let scheduling: any SchedulingExecutor

    init(_ original: any MainExecutor) {
      (self.original, scheduling) = (original, schedules(original))
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      if ProcessCatcher.shared.takes(job, onMainActor: true) { return }
      original.enqueue(ExecutorJob(job))
    }

    func enqueue<C: _Concurrency.Clock>(
      _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) { sleeps(job, after: delay, tolerance, clock) }

    func enqueue<C: _Concurrency.Clock>(
      _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) { sleeps(job, at: instant, tolerance, clock) }

    func run() throws { try original.run() }
    func runUntil(_ condition: () -> Bool) throws { try original.runUntil(condition) }
    func stop() { original.stop() }
    var isMainExecutor: Bool { true }
    func checkIsolated() { original.checkIsolated() }
    func isIsolatingCurrentContext() -> Bool? { original.isIsolatingCurrentContext() }
  }

  // `Task.sleep` of a task that prefers the run's executor takes virtual time, too.
  @_spi(ExperimentalScheduling) extension ExplorationScheduler: SchedulingExecutor, CatchingSleeps {
    // An exploration without `.wholeProcess` is as it is without this product.
    fileprivate var catchesSleeps: Bool { catcher != nil }
    fileprivate var scheduling: any SchedulingExecutor { ProcessExecutors.Factory.general }

    public func enqueue<C: _Concurrency.Clock>(
      _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) { sleeps(job, after: delay, tolerance, clock) }

    public func enqueue<C: _Concurrency.Clock>(
      _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) { sleeps(job, at: instant, tolerance, clock) }
  }
#else
  enum ProcessExecutors {
    static let areReplaced = false
    static let reason =
      "it takes the compiler 6.3 on Linux with glibc, where the executors of the process can be replaced"
  }

  @_cdecl("tailrace_install_executors")
  func installExecutors() {}
#endif
