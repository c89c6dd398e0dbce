import Testing

@testable import Tailrace

@Suite("A hot signal, as a value")
struct HubStateTests {
  final class Listener: Sendable {}
  typealias State = HubState<Listener, Mishap>

  let seat = Listener()
  let other = Listener()

  @Test("the first subscription takes the seat, the others listen from then on")
  func seats() {
    var state = State(seat: seat)
    guard case .seat(let taken) = state.join(other) else {
      Issue.record("no seat")
      return
    }
    #expect(taken === seat)
    guard case .listens = state.join(other) else {
      Issue.record("does not listen")
      return
    }
    #expect(state.listeners.count == 2)
  }

  @Test("after the ending the seat is still there, and the others get the ending")
  func ending() {
    var state = State(seat: seat)
    #expect(state.end(with: Mishap(position: 1)).listeners.count == 1)
    #expect(state.end(with: nil).listeners.isEmpty, "the first ending counts")
    guard case .seat = state.join(other) else {
      Issue.record("no seat")
      return
    }
    guard case .ended(let failure) = state.join(other) else {
      Issue.record("no ending")
      return
    }
    #expect(failure == Mishap(position: 1))
  }

  @Test("handlers run when the last listener has left and nobody can come", arguments: [0, 1, 2])
  func deserted(_ subscriptions: Int) {
    var state = State(seat: seat)
    #expect(state.onCancel({}) == true)
    let listeners = [seat, other].prefix(subscriptions)
    for _ in listeners { _ = state.join(other) }
    let (unused, handlers) = state.becomeUnreachable()
    #expect((unused === seat) == (subscriptions == 0))
    #expect(handlers.count == (subscriptions == 0 ? 1 : 0))
    var late = 0
    for listener in listeners {
      #expect(!state.isOver)
      late += state.leave(listener).count
    }
    #expect(state.isOver)
    #expect(late == (subscriptions == 0 ? 0 : 1))
    #expect(state.onCancel({}) == false, "too late to wait for it")
  }

  @Test("a listener that leaves may be followed by another")
  func reachable() {
    var state = State(seat: seat)
    _ = state.join(other)
    #expect(state.leave(seat).isEmpty)
    #expect(!state.isOver)
    guard case .listens = state.join(other) else {
      Issue.record("does not listen")
      return
    }
  }
}
