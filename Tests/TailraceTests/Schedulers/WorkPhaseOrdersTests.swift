import Tailrace
import Testing

@testable import TailraceSchedulers

/// A piece of work, and beside it whose its closure is.
private struct WorkPhaseModel: Explorable, Hashable {
  enum Event: Hashable { case queue, begin, end(continues: Bool), cancel, abandon, observe }

  enum Closure: Hashable {
    case kept, running
    /// By whom; nobody may touch it afterwards.
    case released
  }

  var phase = WorkPhase.waiting
  var closure = Closure.kept
  var isQueued = false
  var isCancelled = false
  var isObserved = false
  /// How many were told that they end the work, and so have to tell who observes it.
  var endings = 0
  var violation: String?

  static func == (left: WorkPhaseModel, right: WorkPhaseModel) -> Bool {
    left.phase == right.phase && left.closure == right.closure && left.isQueued == right.isQueued
      && left.isCancelled == right.isCancelled && left.isObserved == right.isObserved
      && left.endings == right.endings && left.violation == right.violation
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(phase.rawValue)
    hasher.combine(closure)
    hasher.combine(endings)
    hasher.combine(violation)
    hasher.combine([isQueued, isCancelled, isObserved])
  }

  var events: [Event] {
    [.queue, .begin, .cancel, .abandon, .observe]
      + (closure == .running ? [.end(continues: true), .end(continues: false)] : [])
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .queue:
      let queueing = phase.queue()
      let expected: WorkPhase.Queueing =
        closure == .released ? .isOver : isQueued ? .isQueued : .queued
      if queueing != expected { violation = "queue() gives \(queueing) and not \(expected)" }
      if queueing == .queued { isQueued = true }
    case .begin:
      let begins = phase.begin()
      if begins != (closure == .kept) { violation = "begin() gives \(begins)" }
      if begins {
        closure = .running
        isQueued = false
      }
    case .end(let continues):
      let isLast = phase.end(continues: continues)
      if isLast != (!continues || isCancelled) { violation = "end(continues:) gives \(isLast)" }
      closure = .kept
      if isLast { release() }
    case .cancel:
      let isOver = phase.cancel()
      if isOver != (closure == .kept) { violation = "cancel() gives \(isOver)" }
      if closure != .released { isCancelled = true }
      if isOver { release() }
    case .abandon:
      let isOver = phase.abandon()
      if isOver != (closure == .kept) { violation = "abandon() gives \(isOver)" }
      if isOver { release() }
    case .observe:
      let isInTime = phase.observe()
      if isInTime != (closure != .released) { violation = "observe() gives \(isInTime)" }
      if isInTime { isObserved = true }
    }
    if phase.isOver != (closure == .released) { violation = "isOver is \(phase.isOver)" }
    if phase.isRunning != (closure == .running) { violation = "isRunning is \(phase.isRunning)" }
    if phase.isCancelled != isCancelled { violation = "isCancelled is \(phase.isCancelled)" }
    if phase.isObserved != isObserved { violation = "isObserved is \(phase.isObserved)" }
    if endings > 1 { violation = "it ends \(endings) times" }
  }

  private mutating func release() {
    if closure != .kept { violation = "the closure is released while it is \(closure)" }
    closure = .released
    endings += 1
  }
}

@Suite("WorkPhase: every order of events", .inTurn)
struct WorkPhaseOrdersTests {
  @Test("the work ends once, its closure has one owner, and no turn begins after the end")
  func orders() async { await WorkPhaseModel().expectSafe() }
}
