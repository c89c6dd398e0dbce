import Synchronization

/// The place of the jobs of a list's task, as a value: one method per event, which returns what to
/// do.
///
/// | Event            | State before        | State after         |
/// |------------------|---------------------|---------------------|
/// | `starts`         | idle                | running             |
/// | `started`        | holding             | parked              |
/// | `drive`          | parked              | running             |
/// | `parks`          | running, holding    | parked              |
/// | `ends`           | running, holding    | ended               |
/// | `next`           | running; holding    | idle; running       |
/// | `runnerLeaves`   | running, holding    | idle                |
/// | `begin`          | idle, awaited       | running             |
/// | `arrived`        | running             | holding             |
/// | `arrived`, own   | holding another     | holding             |
/// | `arrived`, own   | awaited             | holding, for reader |
/// | `readerComes`    | idle                | awaited             |
/// | `readerLeaves`   | awaited             | idle                |
/// | `readerRuns`     | holding, for reader | running             |
/// | `readerDeclines` | holding, for reader | idle                |
///
/// The task's own job runs at one place at a time, and is never lost: it is parked here, held here
/// until the runner below takes it, run by a driver or by the executor, or with the code for which
/// the step has suspended.
///
/// `StepExecutor` stores it in one atomic word, updates it with each event, and acts afterwards.
@usableFromInline
struct JobSlot: RawRepresentable, AtomicRepresentable, Hashable, Sendable {
  /// A job's address, a multiple of 8.
  typealias Job = UInt

  enum State: Hashable, Sendable {
    /// No code runs jobs here: the step is suspended, or the task has not started.
    case idle
    /// A runner is here, and takes the next job itself.
    case running
    /// As idle, and a reader waits to run the task's own job.
    case awaited
    /// A job that has arrived, for the runner or for the reader.
    case holding(Job)
    /// The task waits for the next demand.
    case parked(Job)
    /// The task is over.
    case ended
  }

  @usableFromInline let rawValue: UInt
  @usableFromInline static var parkedTag: UInt { 4 }

  @inlinable
  init(rawValue: UInt) { self.rawValue = rawValue }

  init(_ state: State) {
    rawValue =
      switch state {
      case .idle: 0
      case .running: 1
      case .awaited: 2
      case .ended: 3
      case .holding(let job): job
      case .parked(let job): job | Self.parkedTag
      }
  }

  /// Whether the state is `parked` or `ended`.
  @inlinable var isResting: Bool { rawValue & Self.parkedTag != 0 || rawValue == 3 }

  private(set) var state: State {
    get {
      switch rawValue {
      case 0: .idle
      case 1: .running
      case 2: .awaited
      case 3: .ended
      case let job where job & Self.parkedTag == 0: .holding(job)
      case let job: .parked(job & ~Self.parkedTag)
      }
    }
    set { self = JobSlot(newValue) }
  }

  private func trap(_ event: StaticString) -> Never {
    fatalError("JobSlot: \(event) in the state \(state)")
  }

  // MARK: The task's life

  /// The task is being made; its job arrives.
  mutating func starts() {
    guard case .idle = state else { trap("a list's task was started twice") }
    state = .running
  }

  /// The task is made. Its job rests until the first demand.
  mutating func started() -> Job {
    guard case .holding(let job) = state else { trap("a list's task was made and has no job") }
    state = .parked(job)
    return job
  }

  /// A demand runs the parked task.
  mutating func drive() -> Job {
    guard case .parked(let job) = state else { trap("a list's task was driven while it ran") }
    state = .running
    return job
  }

  /// The task's own job waits for the next demand. Returns another job that was held.
  mutating func parks(_ own: Job) -> Job? {
    switch state {
    case .running:
      state = .parked(own)
      return nil
    case .holding(let other) where other != own:
      state = .parked(own)
      return other
    default: trap("a list's task parked where it does not run")
    }
  }

  /// The last step has been taken. Returns another job that was held.
  mutating func ends() -> Job? {
    switch state {
    case .running:
      state = .ended
      return nil
    case .holding(let other):
      state = .ended
      return other
    default: trap("a list's task ended where it does not run")
    }
  }

  // MARK: The runner

  /// The runner has run a job, and the task has not parked. Returns the next job to run; `nil` if the
  /// step is suspended: the runner leaves.
  mutating func next() -> Job? {
    switch state {
    case .running:
      state = .idle
      return nil
    case .holding(let job):
      state = .running
      return job
    case .idle, .awaited, .parked, .ended: trap("a runner was there, and was not known")
    }
  }

  /// The task's own job runs where suspended steps go on. True if a reader waited
  /// to run it, which is to be forgotten.
  mutating func begin() -> Bool {
    defer { state = .running }
    switch state {
    case .idle: return false
    case .awaited: return true
    default: trap("the job of a list's task ran twice")
    }
  }

  /// The runner leaves, although there may be more to run. Returns the held job.
  mutating func runnerLeaves() -> Job? {
    switch state {
    case .running:
      state = .idle
      return nil
    case .holding(let job):
      state = .idle
      return job
    default: trap("a runner left, and was not known")
    }
  }

  // MARK: Arriving jobs

  enum Arrival: Hashable, Sendable {
    case held
    /// That job runs where suspended steps go on: the new one, or the one that it replaces.
    case dispatch(Job)
    /// The reader that waits is to run it.
    case wakeReader
  }

  /// A job arrives: the task's own, that of a child, or that of an actor that a step has called.
  mutating func arrived(_ job: Job, isOwn: Bool) -> Arrival {
    switch state {
    case .running:
      state = .holding(job)
      return .held
    case .holding(let other) where isOwn && other != job:
      // The task's own job comes first.
      state = .holding(job)
      return .dispatch(other)
    case .awaited where isOwn:
      state = .holding(job)
      return .wakeReader
    default: return .dispatch(job)
    }
  }

  // MARK: Readers that wait to run the job

  /// A reader is about to wait. False if there is nothing to wait for.
  mutating func readerComes() -> Bool {
    guard case .idle = state else { return false }
    state = .awaited
    return true
  }

  /// The reader leaves. False if it is not waited for any more.
  mutating func readerLeaves() -> Bool {
    guard case .awaited = state else { return false }
    state = .idle
    return true
  }

  /// The woken reader runs the job that was held for it.
  mutating func readerRuns() -> Job {
    guard case .holding(let job) = state else { trap("a reader was woken for a job, and had none") }
    state = .running
    return job
  }

  /// The reader was woken for another reason before: its job runs elsewhere.
  mutating func readerDeclines() {
    guard case .holding = state else { trap("a reader declined a job, and had none") }
    state = .idle
  }
}
