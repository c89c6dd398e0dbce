import Synchronization
import Tailrace
import TailraceSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Where the tasks of an exploration run, one step at a time, in virtual time.
///
/// ```swift
/// try await explore { run in
///   run.executor.schedule(after: .seconds(1)) { run.note("a second later") }
///   try await run.clock.sleep(for: .seconds(2))
/// }
/// ```
///
/// It is an executor that tasks can prefer, and on which an actor can live, and a scheduler with a
/// clock. The body and its child tasks prefer it. Each run of the body has another one.
///
/// - Isolation: one job or piece of work at a time, on the thread that explores.
public final class ExplorationScheduler: Scheduler, SerialExecutor {
  let state: Locked<RunState>
  private let thread = Atomic<UInt>(0)
  /// What catches the jobs of the process for this run.
  package let catcher: (any ProcessCatching)?
  private let watch: StepWatch?

  init(_ state: RunState, catcher: (any ProcessCatching)? = nil, watch: StepWatch? = nil) {
    self.state = Locked(state)
    (self.catcher, self.watch) = (catcher, watch)
  }

  /// The virtual time. It begins at ``VirtualScheduler/Instant/start`` in each run.
  public var now: VirtualScheduler.Instant { state.withLock { $0.now } }

  // MARK: Taking work

  public func enqueue(_ work: ScheduledWork) { take(.work(work), task: 0, isBare: false) }

  public func enqueue(
    _ work: ScheduledWork, at instant: VirtualScheduler.Instant, tolerance: Duration?
  ) {
    let bedtime = state.withLock { [isOutside] state in
      hears(&state, isOutside: isOutside)
      let number = state.beginsSleep()
      return state.sleeps(.work(work), number, until: instant, isOutside: isOutside)
    }
    switch bedtime {
    case .sleeps(let idler): idler?.resume(returning: true)
    case .isOver: work.cancel()
    }
  }

  /// Takes a job of a task that prefers this scheduler.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    catcher?.sees(job, for: self)
    take(.job(job, on: .executor), task: job.taskNumber, isBare: job.isBare)
  }

  /// Takes a job that was put in line for an executor of the process.
  ///
  /// - Returns: false if the run is over, and takes nothing more.
  package func take(_ job: UnownedJob, onMainActor: Bool, isOutside: Bool) -> Bool {
    let piece = RunState.Piece.job(job, on: onMainActor ? .main : .global)
    let (task, isBare) = (job.taskNumber, job.isBare)
    let (isKept, idler) = state.withLock { state in
      hears(&state, isOutside: isOutside)
      return state.isClosed
        ? (false, nil)
        : (true, state.arrives(piece, task: task, isBare: isBare, isOutside: isOutside))
    }
    idler?.resume(returning: true)
    return isKept
  }

  /// Takes the job that ends a sleep of the standard library, when that is over in virtual time.
  ///
  /// - Returns: false if the run is over, and takes nothing more.
  package func take(_ job: UnownedJob, after delay: Duration, isOutside: Bool) -> Bool {
    let (isKept, idler) = state.withLock { state in
      hears(&state, isOutside: isOutside)
      return state.isClosed
        ? (false, nil) : (true, state.sleeps(job, for: delay, isOutside: isOutside))
    }
    idler?.resume(returning: true)
    return isKept
  }

  private func take(_ piece: RunState.Piece, task: UInt64, isBare: Bool) {
    let isOutside = isOutside
    let (isClosed, goesOn, idler) = state.withLock { state in
      hears(&state, isOutside: isOutside)
      return state.isClosed
        ? (true, state.arrivesLate(), nil)
        : (false, true, state.arrives(piece, task: task, isBare: isBare, isOutside: isOutside))
    }
    idler?.resume(returning: true)
    guard isClosed else { return }
    // The run is over. A job that comes late runs elsewhere, or its task could not end; but a task that
    // comes again and again does not end anyway.
    switch piece {
    case .job(let job, on: _): if goesOn { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    case .work(let work): work.cancel()
    }
  }

  /// Learns the name of the task that calls, if the run is told.
  private func hears(_ state: inout RunState, isOutside: Bool) {
    guard !isOutside, state.story != nil, let name = OwnName.ofRunningTask else { return }
    state.story?.isCalled(name)
  }

  /// Whether other code than that of the run calls.
  private var isOutside: Bool { thread.load(ordering: .relaxed) != Self.currentThread }

  private static var currentThread: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }

  // MARK: Driving

  enum Pause { case idle, over, tooLong }

  /// Runs code of the run here: what it puts in line comes from the run.
  func driving<Value>(_ body: () -> Value) -> Value {
    thread.store(Self.currentThread, ordering: .relaxed)
    catcher?.drives(self)
    defer {
      catcher?.rests()
      watch?.rests()
      thread.store(0, ordering: .relaxed)
    }
    return body()
  }

  /// Runs steps here, until nothing can run.
  func drive() -> Pause {
    driving {
      performAsCurrent {
        while true {
          let (next, now) = state.withLock { ($0.next(), $0.now) }
          catcher?.timeIs(now.offset)
          watch?.begins()
          switch next {
          case .run(.job(let job, on: .executor)):
            job.runSynchronously(on: asUnownedTaskExecutor())
          case .run(.job(let job, on: let place)):
            catcher?.run(job, onMainActor: place == .main)
          case .run(.work(let work)): work.run()
          case .wake(let continuation): continuation.resume(returning: true)
          case .again: break
          case .idle: return .idle
          case .over: return .over
          case .tooLong: return .tooLong
          }
        }
      }
    }
  }

  /// Runs to its end what is left of a run; then takes nothing more. A task that does not end, although it
  /// is cancelled, never runs again.
  ///
  /// - Parameter cancel: cancels the tasks of the run.
  func close(_ cancel: () -> Void) {
    driving {
      cancel()
      catcher?.cancelTasks(of: self)
      for sleeping in state.withLock({ $0.close(steps: 1_000) }) {
        switch sleeping {
        case .task(let continuation): continuation.resume(returning: false)
        case .work(let work): work.cancel()
        case .job(let job): _ = take(job, after: .zero, isOutside: false)
        }
      }
    }
    _ = drive()
    for work in state.withLock({ $0.closed() }) { work.cancel() }
  }

  // MARK: An executor for actors

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  public func isIsolatingCurrentContext() -> Bool? { currentScheduler === self }

  public func checkIsolated() {
    guard currentScheduler === self else {
      fatalError(
        "ExplorationScheduler: this code is isolated to an actor that lives on the scheduler, and runs "
          + "elsewhere; let a task of the run call it")
    }
  }
}

extension ExplorationScheduler {
  /// The clock of an exploration's run: exact, and virtual.
  ///
  /// Time passes only when no task can run; then it continues to the next date for which a task sleeps.
  public struct Clock: _Concurrency.Clock {
    let scheduler: ExplorationScheduler

    /// A point in virtual time.
    public typealias Instant = VirtualScheduler.Instant

    /// The virtual time.
    public var now: Instant { scheduler.now }

    /// The smallest step of virtual time: an attosecond.
    public var minimumResolution: Duration { Duration(attoseconds: 1) }

    /// Waits until a point in virtual time. If that has passed, other tasks may go on first.
    ///
    /// - Cancellation: throws `CancellationError` at once.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
      guard await scheduler.sleeps(until: deadline) else { throw CancellationError() }
    }
  }

  /// This scheduler's clock.
  public var clock: Clock { Clock(scheduler: self) }

  /// Waits for a point in time. False if the task is cancelled first.
  private nonisolated(nonsending) func sleeps(until date: VirtualScheduler.Instant) async -> Bool {
    let number = state.withLock { $0.beginsSleep() }
    defer { state.withLock { $0.endsSleep(number) } }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Bool, Never>) in
        let bedtime = state.withLock { [isOutside] state in
          hears(&state, isOutside: isOutside)
          return state.sleeps(.task(continuation), number, until: date, isOutside: isOutside)
        }
        switch bedtime {
        case .sleeps(let idler): idler?.resume(returning: true)
        case .isOver: continuation.resume(returning: false)
        }
      }
    } onCancel: {
      if case .task(let continuation)? = state.withLock({ $0.cancelsSleep(number) }) {
        continuation.resume(returning: false)
      }
    }
  }
}
