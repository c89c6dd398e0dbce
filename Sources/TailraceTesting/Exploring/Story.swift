/// What is told of a run: its steps, with the names of the tasks, as a value. Kept only of a run that is
/// known to fail.
struct Story: Sendable {
  struct Step: Sendable {
    let number: Int
    let time: VirtualScheduler.Instant
    var task: String
    var choice = 0
    var width = 1
    var wakesFrom: VirtualScheduler.Instant?
    var notes: [String] = []

    var isWorthTelling: Bool { choice != 0 || !notes.isEmpty }
  }

  private var names: [UInt64: String] = [:]
  private var childCounts: [String: Int] = [:]
  /// How many tasks have given themselves each name.
  private var ownNameCounts: [String: Int] = [:]
  private var ownNames: Set<UInt64> = []
  private var currentTask: UInt64?
  /// Who began each sleep.
  private var sleepers: [Int: String] = [:]
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

  /// A task that runs has a name of its own, as `Task(name:)` gives one. The runtime tells it of a task that
  /// runs, and of no other; so it counts from then on, and for the step that runs, if that is the task's.
  mutating func isCalled(_ own: OwnName) {
    guard ownNames.insert(own.task).inserted else { return }
    ownNameCounts[own.text, default: 0] += 1
    let count = ownNameCounts[own.text, default: 1]
    let name = count == 1 ? own.text : "\(own.text) #\(count)"
    names[own.task] = name
    guard own.task == currentTask else { return }
    current = name
    if !steps.isEmpty { steps[steps.count - 1].task = name }
  }

  /// Whether the step is told with that name, or with its number of several.
  func isTold(of name: String) -> Bool { current == name || current.hasPrefix("\(name) #") }

  /// The running task goes to sleep.
  mutating func sleeps(_ number: Int) { sleepers[number] = current }

  mutating func arrivesFromOutside(_ task: UInt64) {
    if names[task] == nil { names[task] = task == 0 ? "an actor" : "a task from outside" }
    outside[names[task] ?? "", default: 0] += 1
  }

  /// - Parameter task: `nil` for a piece of work, and 0 for a job of an actor.
  mutating func takes(
    _ task: UInt64?, at time: VirtualScheduler.Instant, choice: Int, of width: Int
  ) {
    current = task.map { $0 == 0 ? "an actor" : names[$0] ?? "a task" } ?? "work"
    currentTask = task == 0 ? nil : task
    steps.append(
      Step(number: steps.count + 1, time: time, task: current, choice: choice, width: width))
  }

  mutating func wakes(
    _ sleep: Int, _ date: VirtualScheduler.Instant, choice: Int, of width: Int
  ) {
    current = sleepers[sleep] ?? "a sleeper"
    currentTask = nil
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
        let verb = step.wakesFrom == nil ? "goes" : "wakes"
        texts.insert("(\(verb) before \(passed) ready earlier)", at: 0)
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
