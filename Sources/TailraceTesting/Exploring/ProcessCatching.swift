/// Catches jobs that are put in line for the executors of the process, for the run that is explored.
///
/// The scheduler of a run tells it when code of the run is about to run. It gives the scheduler the jobs
/// that belong to the run, and runs them when the scheduler says so.
package protocol ProcessCatching: AnyObject, Sendable {
  /// Explores on the main actor, one exploration at a time.
  ///
  /// - Failure: throws what the search throws, or that nothing can be caught here.
  func explores(
    _ search: @MainActor @Sendable () async throws -> ExplorationSummary
  ) async throws -> ExplorationSummary

  /// A run begins: its tasks are those that are made from now on by its code.
  func begins(_ run: ExplorationScheduler)
  func ends(_ run: ExplorationScheduler)

  /// This thread runs code of the run, until it rests.
  func drives(_ run: ExplorationScheduler)
  func rests()
  /// The clocks of the system show so much time since the begin, to code of the run.
  func timeIs(_ offset: Duration)
  /// Runs a job of the run, which was put in line for the main actor or the default executor.
  func run(_ job: UnownedJob, onMainActor: Bool)
  /// A job has been put in line for the run's own executor.
  func sees(_ job: UnownedJob, for run: ExplorationScheduler)

  /// How many tasks of the run have not ended, but for its body.
  func tasksLeft(of run: ExplorationScheduler) -> Int
  func cancelTasks(of run: ExplorationScheduler)
}
