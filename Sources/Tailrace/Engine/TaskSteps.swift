/// The steps of a list that has a task: the closure of an asynchronous operator takes them one after the
/// other, for as long as the list lives.
///
/// The task holds the list's claim whenever it runs.
@usableFromInline
struct TaskSteps<Element: Sendable>: Sendable {
  @usableFromInline let evaluator: Evaluator<Element>
  @usableFromInline let task: StepTask

  @usableFromInline
  init(_ evaluator: Evaluator<Element>, _ task: StepTask) {
    self.evaluator = evaluator
    self.task = task
  }

  /// Takes a step, and as many more as are wanted, and waits for the next demand; until there are no
  /// more, or nobody can read.
  // A loop without a closure saves a return, at which the runtime looks up where to go on, under a
  // lock: `map` has one ("Async steps").
  @inlinable @inline(__always)
  nonisolated(nonsending) func take(
    _ step: nonisolated(nonsending) () async -> Step<Element>
  ) async {
    while begin() {
      if finish(await step()) { await task.park() }
    }
  }

  /// False if there is no other step to take; then the task has come to its end.
  @inlinable @inline(__always)
  func begin() -> Bool {
    if evaluator.asyncProducer == nil {
      task.end()
      return false
    }
    if Recorder.isOn { task.span = evaluator.beginStep(of: task) }
    return true
  }

  /// A step has been taken. True if the task has to park now, until the next is demanded.
  @inlinable @inline(__always)
  func finish(_ step: Step<Element>) -> Bool {
    if task.span != 0 { evaluator.endStep(step, of: task) }
    return evaluator.finish(step, of: task)
  }
}
