/// What is told of a run: its steps, with the names of the tasks, as a value. Kept only of a run that is
/// known to fail.
struct Story: Sendable {
  struct Step: Sendable {
    let number: Int
    let time: VirtualScheduler.Instant
    let task: String
    var choice = 0
    var width = 1
    var wakesFrom: VirtualScheduler.Instant?
    var notes: [String] = []

    var isWorthTelling: Bool { choice != 0 || !notes.isEmpty }
  }

  private var names: [UInt64: String] = [:]
  private var childCounts: [String: Int] = [:]
  private(set) var current = "body"
  private(set) var steps: [Step] = []
  /// Which tasks were resumed by others, and how often.
  private(set) var outside: [String: Int] = [:]
  /// The name for the next task that arrives for the first time.
  private var announced: String?

  mutating func announces(_ name: String?) { announced = name }

  /// A task has become ready. One that is new is a child of the task that runs.
  mutating func arrives(_ task: UInt64) {
    guard names[task] == nil else { return }
    if let name = announced {
      names[task] = name
    } else {
      childCounts[current, default: 0] += 1
      names[task] = "\(current).\(childCounts[current, default: 0])"
    }
  }

  mutating func arrivesFromOutside(_ task: UInt64) {
    if names[task] == nil { names[task] = task == 0 ? "an actor" : "a task from outside" }
    outside[names[task] ?? "", default: 0] += 1
  }

  /// - Parameter task: `nil` for a piece of work, and 0 for a job of an actor.
  mutating func takes(
    _ task: UInt64?, at time: VirtualScheduler.Instant, choice: Int, of width: Int
  ) {
    current = task.map { $0 == 0 ? "an actor" : names[$0] ?? "a task" } ?? "work"
    steps.append(
      Step(number: steps.count + 1, time: time, task: current, choice: choice, width: width))
  }

  mutating func wakes(_ date: VirtualScheduler.Instant, choice: Int, of width: Int) {
    current = "a sleeper"
    steps.append(
      Step(
        number: steps.count + 1, time: date, task: current, choice: choice, width: width,
        wakesFrom: date))
  }

  mutating func notes(_ text: String) {
    if steps.isEmpty { steps.append(Step(number: 1, time: .start, task: current)) }
    steps[steps.count - 1].notes.append(text)
  }

  /// The steps that differ from first come, first served, or have notes.
  var lines: [String] {
    let told = steps.filter(\.isWorthTelling)
    let width = told.map(\.task.count).max() ?? 0
    return told.flatMap { step in
      var texts = step.notes
      if step.choice != 0 {
        let passed = step.choice == 1 ? "one that was" : "\(step.choice) that were"
        texts.insert("(goes before \(passed) ready earlier)", at: 0)
      }
      return texts.map { text in
        let number = String(step.number)
        let time = "\(step.time.offset)"
        return String(repeating: " ", count: max(0, 5 - number.count)) + number + "  " + time + "  "
          + step.task + String(repeating: " ", count: width - step.task.count) + "  " + text
      }
    }
  }
}
