import Tailrace
import Testing

@testable import TailraceLists
@testable import TailraceSignals

@Suite("A hot signal, as a value", .inTurn)
struct BroadcasterStateTests {
  final class Listener: Sendable {}
  typealias State = BroadcasterState<Listener, Int, Mishap>

  let pendingInbox = Listener()
  let other = Listener()
  let timer = ImmediateScheduler.shared.schedule(after: .seconds(3600)) {}

  static func shared(_ count: Int = 0, isKept: Bool) -> State {
    State(source: { _ in }, replaying: count, isKept: isKept)
  }

  /// Joins, and returns the number; 0 where it does not listen.
  static func join(_ state: inout State, _ listener: Listener) -> Int {
    switch state.join(listener).joining {
    case .pendingInbox(_, let number), .listens(let number): number
    case .ended, .cancelled: 0
    }
  }

  /// Its elements, in the order in which they were sent.
  static func past(_ state: State) -> [Int] {
    var past = state.past
    var all: [Int] = []
    while let element = past.popFirst() { all.append(element) }
    return all
  }

  @Test("the first subscription takes the pendingInbox, the others listen from then on")
  func firstSubscription() {
    var state = State(pendingInbox: pendingInbox, replaying: 0)
    guard case .pendingInbox(let taken, _) = state.join(other).joining else {
      Issue.record("no pendingInbox")
      return
    }
    #expect(taken === pendingInbox)
    guard case .listens = state.join(other).joining else {
      Issue.record("does not listen")
      return
    }
    #expect(state.listeners.count == 2)
  }

  @Test("after the ending the pendingInbox is still there, and the others get the ending")
  func ending() {
    var state = State(pendingInbox: pendingInbox, replaying: 0)
    #expect(state.end(with: Mishap(position: 1)).listeners.count == 1)
    #expect(state.end(with: nil).listeners.isEmpty, "the first ending counts")
    guard case .pendingInbox = state.join(other).joining else {
      Issue.record("no pendingInbox")
      return
    }
    guard case .ended(let failure) = state.join(other).joining else {
      Issue.record("no ending")
      return
    }
    #expect(failure == Mishap(position: 1))
  }

  @Test("the past has the newest elements, and gives back what it forgets", arguments: 0...3)
  func past(_ count: Int) {
    var state = State(pendingInbox: nil, replaying: count)
    let forgotten = (1...5).compactMap { state.remember($0) }
    #expect(Self.past(state) == Array((1...5).suffix(count)))
    #expect(forgotten == (count == 0 ? [] : Array((1...5).dropLast(count))))
    _ = state.end(with: nil)
    #expect(Self.past(state).count == count, "for those who come after the ending")
  }

  @Test("handlers run when the last listener has left and nobody can come", arguments: [0, 1, 2])
  func deserted(_ subscriptions: Int) {
    var state = State(pendingInbox: pendingInbox, replaying: 0)
    #expect(state.life.onTermination({ _ in }) == nil)
    let numbers = (0..<subscriptions).map { _ in Self.join(&state, other) }
    let (unused, departure) = state.becomeUnreachable()
    #expect((unused === pendingInbox) == (subscriptions == 0))
    #expect(departure.handlers == (subscriptions == 0 ? 1 : 0))
    var late = 0
    for number in numbers {
      #expect(state.life.isOpen)
      late += state.leave(number).departure.handlers
    }
    #expect(!state.life.isOpen)
    #expect(late == (subscriptions == 0 ? 0 : 1))
    #expect(state.life.onTermination({ _ in }) == .cancelled, "too late to wait for it")
  }

  @Test("a listener that leaves may be followed by another")
  func reachable() {
    var state = State(pendingInbox: pendingInbox, replaying: 0)
    let number = Self.join(&state, other)
    let (former, departure) = state.leave(number)
    #expect(former === pendingInbox, "to be released by the caller")
    guard case .nothing = departure else {
      Issue.record("does more than that")
      return
    }
    #expect(state.life.isOpen)
    #expect(state.leave(number).former == nil, "it has left")
    guard case .listens = state.join(other).joining else {
      Issue.record("does not listen")
      return
    }
  }

  @Test("a source is run once, by the first who reads; a listener that left before changes nothing")
  func start() {
    var state = Self.shared(isKept: false)
    let first = Self.join(&state, pendingInbox)
    guard case .nothing = state.leave(first).departure else {
      Issue.record("there is nothing to end")
      return
    }
    let second = Self.join(&state, other)
    #expect(state.start(for: second) != nil)
    #expect(state.start(for: second) == nil)
    #expect(state.leave(second).departure.isOver, "the last reader ends it")
    guard case .cancelled = state.join(pendingInbox).joining else {
      Issue.record("joins what is over")
      return
    }
    #expect(state.start(for: second) == nil)
  }

  @Test("a listener that has left starts nothing, whoever else listens", arguments: [false, true])
  func lateStart(_ isKept: Bool) {
    var state = Self.shared(isKept: isKept)
    let first = Self.join(&state, pendingInbox)
    _ = state.leave(first)
    #expect(state.start(for: first) == nil, "it would run for nobody, for ever")
    let second = Self.join(&state, other)
    #expect(state.start(for: first) == nil, "the other one has not read yet")
    #expect(state.start(for: second) != nil)
  }

  @Test("a source that was not run is let go of when nobody can come")
  func unread() {
    var state = Self.shared(2, isKept: true)
    guard case .end(let remains) = state.becomeUnreachable().departure,
      case .source? = remains.garbage?.0
    else {
      Issue.record("it is kept")
      return
    }
    #expect(state.remember(1) == nil && Self.past(state).isEmpty, "nobody will read it")
  }

  @Test("a kept source waits for a reader, until the time is up")
  func kept() {
    var state = Self.shared(2, isKept: true)
    let early = Self.join(&state, pendingInbox)
    _ = state.start(for: early)
    for number in 1...3 { _ = state.remember(number) }
    guard case .keepAlive(let first) = state.leave(early).departure else {
      Issue.record("does not wait")
      return
    }
    #expect(state.keep(timer, since: first) == nil)
    #expect(Self.past(state) == [2, 3])
    let (joining, former) = state.join(other)
    #expect(former != nil, "the timer is not needed now")
    #expect(!state.timeIsUp(since: first).isOver, "it went off all the same")
    guard case .listens(let late) = joining,
      case .keepAlive(let second) = state.leave(late).departure
    else {
      Issue.record("does not wait")
      return
    }
    #expect(!state.timeIsUp(since: first).isOver, "another departure is waited for now")
    #expect(state.keep(timer, since: first) != nil, "so its timer is not wanted")
    #expect(state.timeIsUp(since: second).isOver)
    #expect(state.keep(timer, since: second) != nil, "too late")
    #expect(Self.past(state) == [], "a state that is over holds nothing")
  }

  @Test("a kept source is not waited for any more", arguments: [true, false])
  func keptNoMore(_ ends: Bool) {
    var state = Self.shared(2, isKept: true)
    let number = Self.join(&state, pendingInbox)
    _ = state.start(for: number)
    _ = state.remember(1)
    guard case .keepAlive(let departure) = state.leave(number).departure else {
      Issue.record("does not wait")
      return
    }
    _ = state.keep(timer, since: departure)
    if ends {
      #expect(state.end(with: nil).remains.timer != nil)
      #expect(Self.past(state) == [1])
    } else {
      guard case .end(let remains) = state.becomeUnreachable().departure else {
        Issue.record("nobody can come")
        return
      }
      #expect(remains.timer != nil)
    }
    #expect(!state.timeIsUp(since: departure).isOver)
  }
}

extension BroadcasterState.Departure {
  fileprivate var handlers: Int {
    if case .end(let remains) = self { remains.handlers.count } else { 0 }
  }
  fileprivate var isOver: Bool { if case .end = self { true } else { false } }
}
