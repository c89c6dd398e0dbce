/// Which tasks of the process belong to a run, as a value.
///
/// A job belongs to the run if code of the run puts it in line, on the thread that the run drives, and its
/// task is one of the run, or new. A task is new if its number is above that of a task which was made when
/// the run began, and if no other thread has put it in line. A job of a task of the run belongs to the
/// run wherever it is put in line.
struct RunTasks: Sendable {
  /// Tasks that are made during the run have greater numbers.
  private let first: UInt64
  /// The task that explores. Code that runs in it belongs to the run, while that drives.
  private let explorer: UInt64
  private var own: Set<UInt64> = []
  /// Tasks that others have made during the run.
  private var foreign: Set<UInt64> = []

  init(after first: UInt64, explorer: UInt64) { (self.first, self.explorer) = (first, explorer) }

  enum Claim: Sendable, Equatable {
    case isOwn
    /// It belongs to the run from now on.
    case isNew
    case isForeign
  }

  /// A task is found on the thread that the run drives: it runs there, or is put in line by code of the
  /// run. One that an actor starts for itself is never put in line before it runs.
  mutating func meets(_ task: UInt64) -> Claim {
    if own.contains(task) { return .isOwn }
    guard task > first, task != explorer, !foreign.contains(task) else { return .isForeign }
    own.insert(task)
    return .isNew
  }

  /// Whether code of a task is code of the run. 0 is no task: a job of an actor, or of the run itself.
  mutating func meets(caller task: UInt64) -> Claim {
    task == 0 || task == explorer ? .isOwn : meets(task)
  }

  /// A task is put in line by another thread. Whether it belongs to the run.
  mutating func isOwn(elsewhere task: UInt64) -> Bool {
    if own.contains(task) { return true }
    if task > first { foreign.insert(task) }
    return false
  }
}
