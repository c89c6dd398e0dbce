import Dispatch
import Foundation
import Tailrace

/// An executor of one thread with a small stack, as secondary threads have on Apple's platforms.
///
/// A job that blocks its thread, or uses up its stack, ends the test.
// Guard: the condition's lock. May touch the jobs: whoever holds it.
final class OneThread: TaskExecutor, SerialExecutor, @unchecked Sendable {
  private let condition = NSCondition()
  private var jobs: [UnownedJob] = []
  /// How many of the jobs have been taken.
  private var taken = 0
  private var isOver = false

  /// How many times as large the sanitizers make frames: the one of addresses several times, the one of
  /// threads less.
  private static let frames =
    if dlsym(nil, "__asan_init") != nil { 8 } else if dlsym(nil, "__tsan_init") != nil { 2 } else {
      1
    }

  private init(stack: Int) {
    let thread = Thread { [self] in
      while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
    thread.stackSize = stack * Self.frames
    thread.start()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isLate = condition.withLock {
      if !isOver {
        jobs.append(job)
        condition.signal()
      }
      return isOver
    }
    // Tasks that look ahead are not waited for, and may come to their end a moment later.
    if isLate {
      DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  private func next() -> UnownedJob? {
    condition.withLock {
      if taken == jobs.count { (jobs, taken) = ([], 0) }
      while jobs.isEmpty, !isOver { condition.wait() }
      guard !jobs.isEmpty else { return nil }
      taken += 1
      return jobs[taken - 1]
    }
  }

  private func end() {
    condition.withLock {
      isOver = true
      condition.signal()
    }
  }

  /// Runs an asynchronous closure, and all that it waits for, on a new thread.
  static func run<Output: Sendable>(
    stack: Int = 512 * 1024, _ body: @escaping @Sendable () async -> Output
  ) async -> Output {
    let thread = OneThread(stack: stack)
    let output = await $current.withValue(thread) {
      await Task(executorPreference: thread) { await body() }.value
    }
    thread.end()
    return output
  }

  /// The executor of the closure that runs.
  @TaskLocal static var current: OneThread?
}
