/// Runs each job where it is enqueued. A task that is made with it runs until it waits before its maker goes
/// on, and whoever is woken goes on inside of the wake-up.
final class InlineExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    job.runSynchronously(on: asUnownedTaskExecutor())
  }
}
