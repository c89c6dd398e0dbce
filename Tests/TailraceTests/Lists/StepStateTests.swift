import Testing

@testable import Tailrace

/// Every event in every state, without a single await.
@Suite("The state machine of a step")
struct StepStateTests {
  final class Flight {}
  final class Waiter {}
  typealias State = StepState<String, Flight, Waiter>

  let flight = Flight()
  let waiter = Waiter()
  let other = Waiter()

  private func computing(_ waiters: [Waiter] = []) -> State {
    .computing(flight, waiters: waiters)
  }

  /// What a state is, in words that can be compared.
  private func name(_ state: State) -> String {
    switch state {
    case .idle: "idle"
    case .computing(_, let waiters): "computing \(waiters.count)"
    case .delivered(let outcome): "delivered \(outcome)"
    case .abandoned: "abandoned"
    }
  }

  @Test("demand")
  func demand() {
    var idle = State.idle
    guard case .compute = idle.demand() else { return #expect(Bool(false)) }
    #expect(name(idle) == "idle")

    var busy = computing([waiter])
    guard case .wait = busy.demand() else { return #expect(Bool(false)) }
    #expect(name(busy) == "computing 1")

    var delivered = State.delivered("x")
    guard case .commit("x") = delivered.demand() else { return #expect(Bool(false)) }
    #expect(name(delivered) == "idle", "an outcome is written down once")

    var abandoned = State.abandoned
    guard case .refuse = abandoned.demand() else { return #expect(Bool(false)) }
  }

  @Test("begin: one flight at a time")
  func begin() {
    var idle = State.idle
    let answer1 = idle.begin(flight)
    #expect(answer1)
    #expect(name(idle) == "computing 0")
    for state in [computing([waiter]), .delivered("x"), .abandoned] {
      var unchanged = state
      let answer2 = unchanged.begin(Flight())
      #expect(!answer2)
      #expect(name(unchanged) == name(state))
    }
  }

  @Test("wait: parked while a step is in flight, sent back otherwise")
  func wait() {
    var busy = computing([other])
    guard case .parked(let parkedFor) = busy.wait(waiter) else { return #expect(Bool(false)) }
    #expect(parkedFor === flight)
    #expect(name(busy) == "computing 2")
    for state in [State.idle, .delivered("x"), .abandoned] {
      var unchanged = state
      guard case .retry = unchanged.wait(waiter) else { return #expect(Bool(false)) }
      #expect(name(unchanged) == name(state))
    }
  }

  @Test("leave: the one that leaves, and nobody else")
  func leave() {
    var busy = computing([waiter, other])
    busy.leave(waiter)
    #expect(name(busy) == "computing 1")
    busy.leave(waiter)
    #expect(name(busy) == "computing 1", "it has left already")
    let answer7 = busy.finish("x")
    #expect(answer7.first === other)
    for state in [State.idle, .delivered("x"), .abandoned] {
      var unchanged = state
      unchanged.leave(waiter)
      #expect(name(unchanged) == name(state))
    }
  }

  @Test("finish: everybody is woken once; without an outcome the next demand tries again")
  func finish() {
    var succeeded = computing([waiter, other])
    let answer8 = succeeded.finish("x")
    #expect(answer8.count == 2)
    #expect(name(succeeded) == "delivered x")
    let answer9 = succeeded.finish("y")
    #expect(answer9.isEmpty)
    #expect(name(succeeded) == "delivered x")
    var failed = computing([waiter])
    let answer10 = failed.finish(nil)
    #expect(answer10.count == 1)
    #expect(name(failed) == "idle")
    for state in [State.idle, .abandoned] {
      var unchanged = state
      let answer11 = unchanged.finish("x")
      #expect(answer11.isEmpty)
      #expect(name(unchanged) == name(state))
    }
  }

  @Test("abandon: the step in flight is to be cancelled")
  func abandon() {
    var busy = computing([])
    let cancelled = busy.abandon()
    #expect(cancelled === flight)
    #expect(name(busy) == "abandoned")
    for state in [State.idle, .delivered("x"), .abandoned] {
      var changed = state
      let answer12 = changed.abandon()
      #expect(answer12 == nil)
      #expect(name(changed) == "abandoned")
    }
  }
}
