import Tailrace
import Testing

@testable import TailraceLists

/// A step beside others, its task, and two readers of its result.
private struct InFlightModel: Explorable {
  enum Event: Hashable { case begin, attach, enter(Int), leave(Int), raise, complete, cancel }

  enum Step: Hashable { case idle, running, done, unwanted }

  /// Readers are told apart by their identity, and printed by their number.
  final class Reader: Sendable, CustomStringConvertible {
    let number: Int
    init(_ number: Int) { self.number = number }
    var description: String { "reader \(number)" }
  }

  private static let readers = (0..<2).map(Reader.init)
  /// A task whose closure does nothing: only its identity counts.
  private static let task = InFlightState<Reader>.Running {}

  var state = InFlightState<Reader>()
  var step = Step.idle
  var hasBegun = false
  var isAttached = false
  var isWanted = true
  var isTaskCancelled = false
  var sleepers: [Int] = []
  /// Whether a task of higher priority has waited, and whether the step's task was raised to that.
  var hasAsked = false
  var isRaised = false
  var violation: String?

  var key: String {
    """
    \(state) \(state.waiters.first == nil) \(step) \(hasBegun) \(isAttached) \(isWanted) \
    \(isTaskCancelled) \(sleepers) \(hasAsked) \(isRaised)
    """
  }

  var events: [Event] {
    var events: [Event] = []
    if !hasBegun { events.append(.begin) }
    if hasBegun, step != .unwanted, !isAttached { events.append(.attach) }
    if step == .running { events.append(.complete) }
    events += sleepers.map { .leave($0) }
    // Readers of the inner cells of a recursive definition do not keep its list.
    for reader in 0..<2 where !sleepers.contains(reader) {
      events.append(.enter(reader))
    }
    if !sleepers.isEmpty { events.append(.raise) }
    if isWanted { events.append(.cancel) }
    return events
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .begin:
      hasBegun = true
      let begins = state.begin(at: .low)
      if begins != (step == .idle) { violation = "begin() gives \(begins)" }
      if begins { step = .running }
    case .attach:
      isAttached = true
      let (isKept, raised) = state.attach(Self.task, madeAt: .low)
      if raised != nil { isRaised = true }
      if !isKept { isTaskCancelled = true }
      if isKept != (isWanted || step == .done) { violation = "attach() gives \(isKept)" }
    case .enter(let reader):
      switch state.enter(Self.readers[reader]) {
      case nil:
        sleepers.append(reader)
        if step == .done { violation = "it waits for a result that is there" }
      case .lookAgain?: if step != .done { violation = "it looks for a result that is not there" }
      case .released?: if step != .unwanted { violation = "it gives up a result that will come" }
      case let reason?: violation = "enter() gives \(reason)"
      }
    case .leave(let reader):
      state.leave(Self.readers[reader])
      sleepers.removeAll { $0 == reader }
    case .raise:
      hasAsked = true
      if state.raise(to: .high) != nil {
        if isRaised { violation = "it is raised twice" }
        isRaised = true
      }
    case .complete:
      step = .done
      let woken = state.complete().map(\.number)
      if woken != sleepers { violation = "woken are \(woken) and not \(sleepers)" }
      sleepers.removeAll { woken.contains($0) }
    case .cancel:
      isWanted = false
      let (task, released) = state.cancel()
      if (task != nil) != (step == .running && isAttached) { violation = "cancel() gives a task" }
      if task != nil { isTaskCancelled = true }
      if step == .idle { step = .unwanted }
      sleepers.removeAll { sleeper in released.contains { $0.number == sleeper } }
    }
    if violation != nil { return }
    if step == .done, !sleepers.isEmpty { violation = "the result is there, and a reader sleeps" }
    if step == .unwanted, !sleepers.isEmpty { violation = "nothing will come, and a reader sleeps" }
    if step == .running, isAttached, !isWanted, !isTaskCancelled {
      violation = "a step that nobody wants runs on"
    }
    if step == .running, isAttached, hasAsked, !isRaised { violation = "the task is not raised" }
    if !hasAsked, isRaised { violation = "the task is raised for nobody" }
  }
}

@Suite("A step beside others: every order of events", .inTurn)
struct InFlightTransformOrdersTests {
  @Test("it runs if it is wanted, and all who wait are woken")
  func orders() async { await InFlightModel().expectSafe() }
}
