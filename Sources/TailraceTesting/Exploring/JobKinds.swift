import Tailrace
import TailraceSupport

/// What is known of a job.
extension UnownedJob {
  /// The number of its task; 0 for a job of no task.
  var taskNumber: UInt64 { numberOfTask(self) }

  /// Whether it only puts another job in line: the first of two that `Task.yield()` makes. As a choice of
  /// its own it would double the orders and show no new one.
  var isBare: Bool { taskNumber == 0 && kind == Self.kindOfYield }

  /// The lowest byte of the flags, which follow four words in the header of each job.
  private var kind: UInt8 {
    let address = unsafeBitCast(self, to: UInt.self)
    return UnsafeRawPointer(bitPattern: address)?
      .load(fromByteOffset: 4 * MemoryLayout<UInt>.size, as: UInt8.self) ?? 0
  }

  /// Found out once, from a task that yields: versions of the runtime differ in it. Without an answer a
  /// yield is two steps.
  private static let kindOfYield: UInt8? = {
    let executor = JobKindProbe()
    Task(executorPreference: executor) { await Task.yield() }
    executor.runFirst()
    let found = executor.jobs.withLock { $0.last }
    executor.runAll()
    guard let found, found.number == 0 else { return nil }
    return found.kind
  }()

  /// Keeps the jobs of one task.
  private final class JobKindProbe: TaskExecutor {
    struct Seen: Sendable {
      let job: UnownedJob
      let number: UInt64
      let kind: UInt8
    }

    let jobs = Locked([Seen]())

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.withLock { $0.append(Seen(job: job, number: job.taskNumber, kind: job.kind)) }
    }

    func runFirst() {
      let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst().job }
      job?.runSynchronously(on: asUnownedTaskExecutor())
    }

    func runAll() { while jobs.withLock({ !$0.isEmpty }) { runFirst() } }
  }
}

/// The name that a task was made with.
struct OwnName: Sendable {
  let text: String
  /// The number of the task.
  let task: UInt64

  /// That of the task that runs here. One that runs in another's step, such as an immediate task, has its own.
  static var ofRunningTask: OwnName? {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), let text = Task.name
    else { return nil }
    return withUnsafeCurrentTask { task in
      // Guard: a task is its own job. May touch it: this call.
      task.map { OwnName(text: text, task: numberOfTask(unsafeBitCast($0, to: UnownedJob.self))) }
    }
  }
}

/// The runtime's own number of a job's task, which a job's description contains, too.
@_silgen_name("swift_task_getJobTaskId")
private func numberOfTask(_ job: UnownedJob) -> UInt64
