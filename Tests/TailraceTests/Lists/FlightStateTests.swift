import Testing

@testable import Tailrace

/// Every event in every order that can happen, without a single await.
@Suite("The state machine of a flight")
struct FlightStateTests {
  typealias State = FlightState<Int, String>

  private func name(_ wake: Wake?) -> String {
    switch wake {
    case .retry: "retry"
    case .cancelled: "cancelled"
    case .failedTransiently: "failed"
    case .cycle: "cycle"
    case nil: "flying"
    }
  }

  private func name(_ parking: State.Parking) -> String {
    switch parking {
    case .seated(let orders): "seated \(name(orders))"
    case .dismissed(let orders): "dismissed \(name(orders))"
    }
  }

  private func name(_ orders: State.Orders) -> String {
    "\(orders.isUnwanted ? "unwanted" : "wanted") \(orders.priority?.rawValue ?? 0)"
  }

  @Test("park, then land: the reader is woken once, the task let go of")
  func landing() {
    var state = State()
    #expect(name(state.landed) == "flying")
    #expect(name(state.park("reader", 7)) == "seated wanted 0")
    let first = state.land(.retry)
    #expect(first.reader == "reader")
    #expect(first.handle == 7)
    #expect(name(state.landed) == "retry")
    let second = state.land(.cancelled)
    #expect(second.reader == nil && second.handle == nil)
    #expect(name(state.landed) == "retry", "it lands once")
    #expect(state.leave() == nil)
  }

  @Test("land, then park: the reader goes on at once, with what the flight left")
  func landedEarly() {
    struct Broken: Error {}
    var state = State()
    let landing = state.land(.failedTransiently(Broken()))
    #expect(landing.reader == nil && landing.handle == nil)
    #expect(name(state.park("reader", 7)) == "dismissed wanted 0")
    #expect(name(state.landed) == "failed")
    #expect(state.cancel() == nil, "the task is not kept when it is over")
    #expect(state.raise(to: .high) == nil)
    #expect(name(state.attach(7)) == "wanted 0")
  }

  @Test("leave: before and after the reader has sat down, and the flight goes on")
  func leaving() {
    var seated = State()
    _ = seated.park("reader", 7)
    #expect(seated.leave() == "reader")
    #expect(seated.leave() == nil)
    #expect(name(seated.landed) == "flying")
    #expect(seated.cancel() == 7, "its task is still known")
    #expect(seated.land(.retry).reader == nil)

    var early = State()
    #expect(early.leave() == nil)
    #expect(name(early.park("reader", 7)) == "dismissed wanted 0")
    #expect(name(early.landed) == "flying")
    #expect(early.cancel() == 7)
    #expect(early.land(.retry).reader == nil)
  }

  @Test("orders wait for the task: to be cancelled, to be raised to the highest priority")
  func orders() {
    for parks in [false, true] {
      var state = State()
      #expect(state.raise(to: .low) == nil)
      #expect(state.raise(to: .high) == nil)
      #expect(state.raise(to: .medium) == nil)
      #expect(state.cancel() == nil)
      let told = "unwanted \(TaskPriority.high.rawValue)"
      if parks {
        #expect(name(state.park("reader", 7)) == "seated \(told)")
      } else {
        #expect(name(state.attach(7)) == told)
      }
      #expect(state.raise(to: .low) == 7)
      #expect(state.cancel() == 7)
    }
  }

  @Test("orders and a leave, both before the reader parks: the task is told all the same")
  func leftEarly() {
    var state = State()
    #expect(state.cancel() == nil)
    #expect(state.leave() == nil)
    #expect(name(state.park("reader", 7)) == "dismissed unwanted 0")
  }
}
