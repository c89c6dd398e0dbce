import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals

@Suite("The life of what is sent into, as a value", .inTurn)
struct LifecycleTests {
  typealias Life = Lifecycle<Int, Mishap>

  enum Event: CaseIterable {
    case complete, fail, cancel
  }

  /// Applies an event; false if it changes nothing.
  static func apply(_ event: Event, to life: inout Life) -> Bool {
    switch event {
    case .complete: life.end(with: nil)
    case .fail: life.end(with: Mishap(position: 1))
    case .cancel: life.cancel()
    }
  }

  static let orders: [[Event]] = Event.allCases.flatMap { first in
    Event.allCases.flatMap { second in Event.allCases.map { [first, second, $0] } }
  }

  @Test("the first event is the termination, whatever comes after it", arguments: orders)
  func first(_ events: [Event]) {
    let termination: Life.Termination =
      switch events[0] {
      case .complete: .completed
      case .fail: .failed(Mishap(position: 1))
      case .cancel: .cancelled
      }
    var life = Life()
    let told = Probe<Life.Termination>()
    #expect(life.onTermination { told.record($0) } == nil && life.takeHandlers().isEmpty)
    var isCancelled = false
    for (index, event) in events.enumerated() {
      // Only leaving is something new, once, after the ending.
      let changes = index == 0 || event == .cancel && !isCancelled
      isCancelled = isCancelled || event == .cancel
      #expect(Self.apply(event, to: &life) == changes)
      for handler in life.takeHandlers() { handler() }
      #expect(told.values == [termination], "once")
      #expect(!life.isOpen && life.onTermination { _ in } == termination, "told at once")
      switch life.phase {
      case .open: Issue.record("open")
      case .ended(let failure): #expect(!isCancelled && Life.Termination(failure) == termination)
      case .cancelled(let first): #expect(isCancelled && first == termination)
      }
    }
    #expect(life.takeHandlers().isEmpty, "one that came too late is not kept")
  }

  @Test("handlers are run in reverse")
  func reverse() {
    var life = Life()
    let ran = Probe<Int>()
    for number in 1...3 { _ = life.onTermination { _ in ran.record(number) } }
    _ = life.cancel()
    for handler in life.takeHandlers() { handler() }
    #expect(ran.values == [3, 2, 1])
  }
}
