internal import Dispatch
import Tailrace

/// An executor that runs tasks as a busy machine does: late, one at a time, or in another order.
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
/// A race needs two events that are close to each other. On a machine that does nothing else they mostly
/// come in the same order, so that a test passes a thousand times. This executor brings them in other
/// orders. What it draws follows from its seed; print the executor when a test fails, and make it again
/// from what was printed.
///
/// - With ``slowness``, `enqueue` takes its time to return, as where the thread loses its core at that
///   moment. A task can then be over before the call that started it has returned.
/// - With ``isSerial``, one job runs at a time: a job that blocks its thread until another one has run
///   never ends.
/// - With ``reordering``, a job lets others pass that came after it.
///
/// A serial executor runs the same jobs in the same order each time, if these await only what runs on it.
/// Otherwise threads race, and the seed tells only what was drawn.
///
/// - Isolation: jobs run on threads of the executor's own. Only the thread that starts a task is kept
///   waiting, by ``slowness``; it is a thread of the executor's own, too, where a task that runs here
///   starts another.
public final class PerturbingExecutor: TaskExecutor {
  /// What the executor draws from: the same seed, the same numbers.
  public let seed: UInt64
  /// How long `enqueue` may take to return.
  public let slowness: Duration
  /// Whether one job runs at a time.
  public let isSerial: Bool
  /// How many times a job may go to the end of the line when it is its turn.
  public let reordering: Int

  private let queue: DispatchQueue
  private let draws: Locked<Draws>
  private let pause: @Sendable (Duration) -> Void

  /// Creates an executor; without arguments it runs jobs on its own threads, and perturbs nothing.
  ///
  /// - Parameters:
  ///   - seed: what it draws from; a random number if there is none.
  ///   - slowness: how long `enqueue` may take to return; zero or more. Each call takes a time between
  ///     none and this one.
  ///   - isSerial: whether one job runs at a time.
  ///   - reordering: how many times a job may go to the end of the line when it is its turn; 0 or more.
  ///     Each job does so between no times and this many.
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
      // Nobody signals: it waits for that long.
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + duration / .seconds(1))
    }
  }

  /// - Parameter pause: keeps the calling thread for so long.
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

  /// Takes a job of a task that prefers this executor, and returns after a while.
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
  /// The call that makes an executor that draws the same.
  public var description: String {
    var arguments = ["seed: \(seed)"]
    if slowness > .zero { arguments.append("slowness: .nanoseconds(\(slowness.nanoseconds))") }
    if isSerial { arguments.append("isSerial: true") }
    if reordering > 0 { arguments.append("reordering: \(reordering)") }
    return "PerturbingExecutor(\(arguments.joined(separator: ", ")))"
  }
}

/// What comes after a seed.
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
  /// In whole nanoseconds; what is longer than centuries is as long as that.
  fileprivate var nanoseconds: Int64 {
    Int64(exactly: (self / .nanoseconds(1)).rounded(.down)) ?? .max
  }
}
