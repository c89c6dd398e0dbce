import Tailrace
import Testing

@testable import TailraceSchedulers

/// `#expect` does not take mutating calls.
private func check(_ isRight: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(isRight, sourceLocation: sourceLocation)
}

@Suite("WorkPhase: the life of a piece of work", .inTurn)
struct WorkPhaseTests {
  @Test("a turn, and the end")
  func once() {
    var phase = WorkPhase.waiting
    check(phase.begin())
    #expect(phase.isRunning && !phase.isOver)
    check(!phase.begin())
    check(phase.end(continues: false))
    #expect(phase.isOver && !phase.isRunning && !phase.isCancelled)
    check(!phase.begin())
    check(!phase.cancel())
    check(!phase.observe())
    #expect(!phase.isCancelled)
  }

  @Test("a cancellation before the turn ends the work, for one caller")
  func cancelled() {
    var phase = WorkPhase.waiting
    check(phase.cancel())
    #expect(phase.isOver && phase.isCancelled)
    check(!phase.cancel())
    check(!phase.begin())
    check(phase.queue() == .isOver)
  }

  @Test("a cancellation during a turn keeps the work from continuing")
  func cancelledRunning() {
    var phase = WorkPhase.waiting
    check(phase.begin())
    check(!phase.cancel())
    #expect(phase.isCancelled && !phase.isOver)
    check(!phase.abandon())
    check(phase.end(continues: true))
    #expect(phase.isOver)
  }

  @Test("work that continues waits for its next turn")
  func continued() {
    var phase = WorkPhase.waiting
    check(phase.observe())
    for _ in 0..<3 {
      check(phase.queue() == .queued)
      check(phase.queue() == .isQueued)
      check(phase.begin())
      check(!phase.end(continues: true))
    }
    check(phase.abandon())
    #expect(phase.isOver && phase.isObserved && !phase.isCancelled)
    check(!phase.abandon())
  }
}

@Suite("TurnState: the turns of recursive work", .inTurn)
struct TurnStateTests {
  @Test("each question is one more turn, one in the line at a time")
  func turns() {
    var state = TurnState()
    check(state.ask())
    check(!state.ask())
    check(state.begin())
    check(!state.ask())
    for _ in 0..<2 {
      check(state.end())
      check(!state.handedOver())
      check(state.begin())
    }
    check(!state.end())
    check(state.ask())
  }

  @Test("a turn that comes back while it is being queued is left to who queues it")
  func inPlace() {
    var state = TurnState()
    check(state.ask())
    check(state.begin())
    check(!state.ask())
    check(state.end())
    check(!state.begin())
    check(state.handedOver())
    check(!state.end())
  }
}
