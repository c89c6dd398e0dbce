import Synchronization

/// The place of the job of a list's task, as a value: one method per event.
///
/// | Event    | State before | State after |
/// |----------|--------------|-------------|
/// | `parks`  | running      | parked      |
/// | `drive`  | parked       | running     |
/// | `ends`   | running      | ended       |
///
/// Whoever changes *parked* to *running* runs the job, or has it run. While the task runs, only the task changes
/// the slot.
@usableFromInline
struct JobSlot: RawRepresentable, AtomicRepresentable, Hashable, Sendable {
  /// A job's address, a multiple of 8.
  typealias Job = UInt

  enum State: Hashable, Sendable {
    /// The task has not been made, takes a step, or is on its way to where it takes one.
    case running
    /// The task waits for the next demand.
    case parked(Job)
    /// The task is over.
    case ended
  }

  @usableFromInline let rawValue: UInt

  @inlinable
  init(rawValue: UInt) { self.rawValue = rawValue }

  init(_ state: State) {
    rawValue =
      switch state {
      case .running: 0
      case .ended: 1
      case .parked(let job): job
      }
  }

  /// Whether the state is `parked` or `ended`.
  @inlinable var isResting: Bool { rawValue != 0 }

  var state: State {
    switch rawValue {
    case 0: .running
    case 1: .ended
    case let job: .parked(job)
    }
  }

  mutating func parks(_ job: Job) {
    guard case .running = state else { fatalError("JobSlot: a list's task parked twice") }
    self = JobSlot(.parked(job))
  }

  /// The job, if it is parked.
  mutating func drive() -> Job? {
    guard case .parked(let job) = state else { return nil }
    self = JobSlot(.running)
    return job
  }

  mutating func ends() {
    guard case .running = state else { fatalError("JobSlot: a list's task ended while it rested") }
    self = JobSlot(.ended)
  }
}
