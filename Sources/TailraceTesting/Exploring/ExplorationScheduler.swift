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

  init(_ state: RunState) { self.state = Locked(state) }

  /// The virtual time. It begins at ``VirtualScheduler/Instant/start`` in each run.
  public var now: VirtualScheduler.Instant { state.withLock { $0.now } }

  // MARK: Taking work

  public func enqueue(_ work: ScheduledWork) { take(.work(work), task: 0, isBare: false) }

  public func enqueue(
    _ work: ScheduledWork, at instant: VirtualScheduler.Instant, tolerance: Duration?
  ) {
    let isKept = state.withLock { state in
      let number = state.beginsSleep()
      return state.sleeps(.work(work), number, until: instant)
    }
    if !isKept { work.cancel() }
  }

  /// Takes a job of a task that prefers this scheduler.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    take(.job(job), task: job.taskNumber, isBare: job.isBare)
  }

  private func take(_ piece: RunState.Piece, task: UInt64, isBare: Bool) {
    let isOutside = thread.load(ordering: .relaxed) != Self.currentThread
    let (isClosed, idler) = state.withLock { state in
      state.isClosed
        ? (true, nil)
        : (false, state.arrives(piece, task: task, isBare: isBare, isOutside: isOutside))
    }
    idler?.resume(returning: true)
    // The run is over, and a job of it comes late.
    if isClosed { discard(piece) }
  }

  /// A job always runs, or its task would never end.
  private func discard(_ piece: RunState.Piece) {
    switch piece {
    case .job(let job): globalConcurrentExecutor.enqueue(ExecutorJob(job))
    case .work(let work): work.cancel()
    }
  }

  private static var currentThread: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }

  // MARK: Driving

  enum Pause { case idle, over, tooLong }

  /// Makes the first task of the run, which comes from here.
  func start<Made>(_ make: () -> Made) -> Made {
    thread.store(Self.currentThread, ordering: .relaxed)
    defer { thread.store(0, ordering: .relaxed) }
    return make()
  }

  /// Runs steps here, until nothing can run.
  func drive() -> Pause {
    thread.store(Self.currentThread, ordering: .relaxed)
    defer { thread.store(0, ordering: .relaxed) }
    return performAsCurrent {
      while true {
        switch state.withLock({ $0.next() }) {
        case .run(.job(let job)): job.runSynchronously(on: asUnownedTaskExecutor())
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

  /// Runs to its end what is left of a run, which has been cancelled; then takes nothing more.
  func close() {
    for sleeping in state.withLock({ $0.close(steps: 10_000) }) {
      switch sleeping {
      case .task(let continuation): continuation.resume(returning: false)
      case .work(let work): work.cancel()
      }
    }
    _ = drive()
    for piece in state.withLock({ $0.closed() }) { discard(piece) }
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
  /// Time passes only when no task can run; then it goes on to the next date for which a task sleeps.
  public struct Clock: _Concurrency.Clock {
    let scheduler: ExplorationScheduler

    /// A point in virtual time.
    public typealias Instant = VirtualScheduler.Instant

    /// The virtual time.
    public var now: Instant { scheduler.now }

    /// The smallest step of virtual time: an attosecond.
    public var minimumResolution: Duration { Duration(attoseconds: 1) }

    /// Waits until a point in virtual time; returns at once if that has passed.
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
    guard date > now else { return !Task.isCancelled }
    let number = state.withLock { $0.beginsSleep() }
    defer { state.withLock { $0.endsSleep(number) } }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Bool, Never>) in
        if !state.withLock({ $0.sleeps(.task(continuation), number, until: date) }) {
          continuation.resume(returning: false)
        }
      }
    } onCancel: {
      if case .task(let continuation)? = state.withLock({ $0.cancelsSleep(number) }) {
        continuation.resume(returning: false)
      }
    }
  }
}
