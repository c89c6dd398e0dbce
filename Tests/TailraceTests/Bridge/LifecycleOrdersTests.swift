import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals

/// A life, and beside it what was first, and which handlers wait for it.
private struct LifecycleModel: Explorable {
  typealias Life = Lifecycle<Int, Mishap>

  enum Event: Hashable { case complete, fail, cancel, register, tell }

  /// The handlers that have run since it was emptied, each with the termination that it got.
  private static let told = Locked([(handler: Int, how: Life.Termination)]())

  var life = Life()
  var termination: Life.Termination?
  var isCancelled = false
  /// The handlers that are to be told.
  var waiting: [Int] = []
  var registered = 0
  var violation: String?

  var key: String { "\(life) \(String(describing: termination)) \(isCancelled) \(waiting)" }

  var events: [Event] {
    [.complete, .fail, .cancel, .tell] + (registered < 3 ? [.register] : [])
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .complete: end(with: nil, .completed)
    case .fail: end(with: Mishap(position: 1), .failed(Mishap(position: 1)))
    case .cancel:
      let isNew = life.cancel()
      if isNew == isCancelled { violation = "cancel() gives \(isNew)" }
      isCancelled = true
      termination = termination ?? .cancelled
    case .register:
      let handler = registered
      registered += 1
      let late = life.onTermination { how in Self.told.withLock { $0.append((handler, how)) } }
      if late != termination { violation = "a late handler gets \(String(describing: late))" }
      if late == nil { waiting.append(handler) }
    case .tell:
      Self.told.withLock { $0 = [] }
      for handler in life.takeHandlers() { handler() }
      let told = Self.told.withLock { $0 }
      let expected = termination == nil ? [] : Array(waiting.reversed())
      if told.map(\.handler) != expected { violation = "told \(told) and not \(expected)" }
      if told.contains(where: { $0.how != termination }) { violation = "told \(told)" }
      if termination != nil { waiting = [] }
    }
    if life.isOpen != (termination == nil) { violation = "isOpen is \(life.isOpen)" }
  }

  private mutating func end(with failure: Mishap?, _ how: Life.Termination) {
    let isFirst = life.end(with: failure)
    if isFirst != (termination == nil) { violation = "end(with:) gives \(isFirst)" }
    termination = termination ?? how
  }
}

@Suite("Lifecycle: every order of events", .inTurn)
struct LifecycleOrdersTests {
  @Test("the first ending is the termination, and each handler gets it once, the latest first")
  func orders() async { await LifecycleModel().expectSafe() }
}
