internal import Dispatch
import Tailrace
import TailraceSupport

/// An executor that runs tasks like a busy machine: late, one at a time, or in another order.
///
/// ```swift
/// let executor = PerturbingExecutor(seed: 1, isSerial: true, reordering: 3)
/// let order = await withTaskExecutorPreference(executor) {
///   await withTaskGroup(of: Int.self) { group in
///     for number in 1...4 { group.addTask { number } }
///     return await group.reduce(into: []) { $0.append($1) }
///   }
/// }
/// order == [1, 2, 3, 4]   // false; in that order they were started
/// ```
///
/// A race needs two events close to each other. On an idle machine they mostly come in the same
/// order, so that a test passes a thousand times. This executor changes the order. Its random
/// choices follow from its seed; print the executor when a test fails, and recreate it from the
/// printed text.
///
/// - With ``slowness``, `enqueue` returns late, as if the thread lost its core at that moment. A
///   task can then end before the call that started it has returned.
/// - With ``isSerial``, one job runs at a time: a job that blocks its thread until another has run
///   never ends.
/// - With ``reordering``, later jobs may pass a job.
///
/// A serial executor runs the same jobs in the same order each time, if they await only events on
/// it. Otherwise threads race, and the seed tells only the choices.
///
/// - Isolation: jobs run on the executor's own threads. ``slowness`` delays only the thread that
///   starts a task. If a task on this executor starts another, that is one of the executor's
///   threads.
public final class PerturbingExecutor: TaskExecutor {
  /// The seed of the random choices: the same seed makes the same ones.
  public let seed: UInt64
  /// How long `enqueue` may take to return.
  public let slowness: Duration
  /// Whether one job runs at a time.
  public let isSerial: Bool
  /// How many times a job may go to the end of the queue on its turn.
  public let reordering: Int

  private let queue: DispatchQueue
  private let draws: Locked<Draws>
  private let pause: @Sendable (Duration) -> Void

  /// Creates an executor; without arguments it uses its own threads and perturbs nothing.
  ///
  /// - Parameters:
  ///   - seed: of the random choices; random by default.
  ///   - slowness: the longest time that `enqueue` takes to return; zero or more. Each call takes
  ///     a time between zero and this.
  ///   - isSerial: whether one job runs at a time.
  ///   - reordering: how many times a job may go to the end of the queue on its turn; 0 or more.
  ///     Each job does so between 0 times and this many.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  public convenience init(
    seed: UInt64 = .random(in: 0...UInt64(UInt32.max)), slowness: Duration = .zero,
    isSerial: Bool = false, reordering: Int = 0, file: StaticString = #fileID, line: UInt = #line
  ) {
    guard slowness >= .zero, reordering >= 0 else {
      fatalError(
        "PerturbingExecutor(seed:slowness:isSerial:reordering:) takes a slowness of zero or more and a "
          + "reordering of 0 or more, not \(slowness) and \(reordering)", file: file, line: line)
    }
    self.init(seed, slowness, isSerial, reordering) { duration in
      // Never signalled: this waits for the whole time.
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + duration / .seconds(1))
    }
  }

  /// - Parameter pause: blocks the calling thread for this long.
  init(
    _ seed: UInt64, _ slowness: Duration, _ isSerial: Bool, _ reordering: Int,
    pause: @escaping @Sendable (Duration) -> Void
  ) {
    self.seed = seed
    self.slowness = slowness
    self.isSerial = isSerial
    self.reordering = reordering
    self.pause = pause
    queue = DispatchQueue(
      label: "PerturbingExecutor", attributes: isSerial ? [] : .concurrent)
    draws = Locked(Draws(state: seed))
  }

  /// Takes a job of a task that prefers this executor, and returns after a delay.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let (detours, delay) = draws.withLock { draws in
      (Int.random(in: 0...reordering, using: &draws), draws.duration(upTo: slowness))
    }
    submit(job, detours: detours)
    if delay > .zero { pause(delay) }
  }

  private func submit(_ job: UnownedJob, detours: Int) {
    queue.async { [self] in
      if detours > 0 {
        submit(job, detours: detours - 1)
      } else {
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }
}

extension PerturbingExecutor: CustomStringConvertible {
  /// The call that creates an executor with the same choices.
  public var description: String {
    var arguments = ["seed: \(seed)"]
    if slowness > .zero { arguments.append("slowness: .nanoseconds(\(slowness.nanoseconds))") }
    if isSerial { arguments.append("isSerial: true") }
    if reordering > 0 { arguments.append("reordering: \(reordering)") }
    return "PerturbingExecutor(\(arguments.joined(separator: ", ")))"
  }
}

/// The random numbers of a seed.
private struct Draws: RandomNumberGenerator {
  var state: UInt64

  // SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func duration(upTo longest: Duration) -> Duration {
    longest > .zero ? .nanoseconds(Int64.random(in: 0...longest.nanoseconds, using: &self)) : .zero
  }
}

extension Duration {
  /// In whole nanoseconds; centuries at most.
  fileprivate var nanoseconds: Int64 {
    Int64(exactly: (self / .nanoseconds(1)).rounded(.down)) ?? .max
  }
}
