import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals

/// A hot signal, listeners that come and go, its source, and the timers that keep it.
private struct BroadcasterModel: Explorable {
  final class Listener: Sendable {}
  typealias State = BroadcasterState<Listener, Int, Mishap>

  enum Event: Hashable {
    case subscribe
    /// A listener reads for the first time, and leaves.
    case read(Int), leave(Int)
    case becomeUnreachable
    /// The timer that was made for an absence is stored, and comes to its end.
    case keep(Int), fire(Int)
    case end
  }

  enum Timer: Hashable { case made, kept, over }

  enum Origin: Hashable { case sender, source, running }

  static let subscriptions = 3
  private static let pending = Listener()
  private static let work = ImmediateScheduler.shared.schedule(after: .seconds(3600)) {}

  var state: State
  let isKept: Bool
  var origin: Origin
  /// The numbers of those that listen, and of the inbox that waits for the first of them.
  var listeners: [Int] = []
  /// The numbers of those that have left.
  var former: [Int] = []
  var pending: Int?
  var subscribed = 0
  /// By the number of the last listener before the absence.
  var timers: [Int: Timer] = [:]
  var isReachable = true
  var isOver = false
  var runs = 0
  var endings = 0
  var violation: String?

  /// A signal of senders, whose elements wait for the first subscription.
  init() {
    state = State(pendingInbox: Self.pending, replaying: 0)
    (origin, isKept, pending) = (.sender, false, 1)
    _ = state.life.onTermination { _ in }
  }

  /// A signal of a source.
  init(isKept: Bool) {
    state = State(source: { _ in }, replaying: 0, isKept: isKept)
    (origin, self.isKept) = (.source, isKept)
    _ = state.life.onTermination { _ in }
  }

  var key: String {
    let timers = timers.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    let parts: [Any] = [
      origin, listeners, former, pending ?? 0, subscribed, timers, isReachable, isOver, runs,
      endings,
      state.listeners.count, state.timer != nil, state.life.isOpen, state.isReachable,
    ]
    return "\(parts)"
  }

  var events: [Event] {
    // A task may read while another one leaves for it.
    var events = listeners.map { Event.leave($0) } + (listeners + former).map { .read($0) }
    if isReachable {
      events.append(.becomeUnreachable)
      if subscribed < Self.subscriptions { events.append(.subscribe) }
    }
    for (number, timer) in timers.sorted(by: { $0.key < $1.key }) {
      if timer == .made { events.append(.keep(number)) }
      if timer != .over { events.append(.fire(number)) }
    }
    if !isOver { events.append(.end) }
    return events
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .subscribe: subscribe()
    case .read(let number):
      let starts = state.start(for: number) != nil
      let isThere = listeners.contains(number)
      if starts != (isThere && origin == .source && !isOver) {
        violation = "start(for:) gives \(starts)"
      }
      if starts {
        origin = .running
        runs += 1
      }
    case .leave(let number):
      listeners.removeAll { $0 == number }
      former.append(number)
      // One that was told the ending is not there any more.
      let (former, departure) = state.leave(number)
      if (former == nil) != isOver { violation = "leave(\(number)) gives \(former != nil)" }
      act(on: departure)
    case .becomeUnreachable:
      isReachable = false
      let (unused, departure) = state.becomeUnreachable()
      if (unused != nil) != (pending != nil) { violation = "the unused inbox is not given back" }
      pending = nil
      act(on: departure)
    case .keep(let number):
      timers[number] = state.keep(Self.work, since: number) == nil ? .kept : .over
    case .fire(let number):
      timers[number] = .over
      let departure = state.timeIsUp(since: number)
      if case .end = departure, !listeners.isEmpty { violation = "it ends, and somebody listens" }
      if case .end = departure, number != subscribed { violation = "it ends for a former absence" }
      act(on: departure)
    case .end:
      let (told, remains) = state.end(with: nil)
      if told.count != listeners.count + (pending == nil ? 0 : 1) {
        violation = "\(told.count) are told the ending"
      }
      act(on: .end(remains))
    }
    check()
  }

  private mutating func subscribe() {
    subscribed += 1
    let (joining, timer) = state.join(Listener())
    if timer != nil { cancelTimer() }
    switch joining {
    case .pendingInbox(let listener, let number):
      if pending != number || listener !== Self.pending { violation = "it takes inbox \(number)" }
      pending = nil
      // After the ending it has all that was sent before, and listens no more.
      if !isOver { listeners.append(number) }
    case .listens(let number):
      if isOver || pending != nil { violation = "it listens" }
      listeners.append(number)
    case .ended, .cancelled: if !isOver { violation = "it is told an ending" }
    }
  }

  private mutating func act(on departure: State.Departure) {
    switch departure {
    case .nothing: break
    case .keepAlive(since: let number): timers[number] = .made
    case .end(let remains):
      if isOver { violation = "it ends twice" }
      isOver = true
      listeners = []
      endings += remains.handlers.count
      if remains.timer != nil { cancelTimer() }
    }
  }

  /// The timer that is stored is cancelled.
  private mutating func cancelTimer() {
    for (number, timer) in timers where timer == .kept { timers[number] = .over }
  }

  private mutating func check() {
    if violation != nil { return }
    if state.life.isOpen == isOver { violation = "isOpen is \(state.life.isOpen)" }
    if endings != (isOver ? 1 : 0) { violation = "the handler runs \(endings) times" }
    if runs > 1 { violation = "the source runs \(runs) times" }
    if !listeners.isEmpty, state.timer != nil { violation = "a timer runs, and somebody listens" }
    guard !isOver, listeners.isEmpty, pending == nil else { return }
    if !isReachable { violation = "it goes on, and nobody can hear it" }
    if origin == .running, !timers.values.contains(where: { $0 != .over }) {
      violation = "the source runs for nobody, and nothing ends it"
    }
  }
}

@Suite("A hot signal: every order of events", .inTurn)
struct BroadcasterOrdersTests {
  @Test("it ends once, when nobody listens any more, and its source runs for somebody")
  func orders() async {
    await BroadcasterModel().expectSafe()
    await BroadcasterModel(isKept: false).expectSafe()
    await BroadcasterModel(isKept: true).expectSafe()
  }
}
