import Tailrace
import Testing

@testable import TailraceLists

/// A queue of waiters, and beside it who waits for what, as a list in the order of arrival.
private struct WaitQueueModel: Explorable {
  enum Event: Hashable {
    case enter(Int, until: Int)
    case leave(Int)
    case publish
    case empty
  }

  /// Waiters are told apart by their identity, and printed by their number.
  final class Guest: Sendable, CustomStringConvertible {
    let number: Int
    init(_ number: Int) { self.number = number }
    var description: String { "guest \(number)" }
  }

  var queue = WaitQueue<Guest>()
  let guests = (0..<3).map(Guest.init)
  var waiting: [(guest: Int, end: Int)] = []
  var published = 0
  /// A set of waiters keeps one of them apart, so that it needs no allocation.
  var apart: Int?
  var violation: String?

  var key: String { "\(queue), \(waiting), \(published), \(apart ?? -1)" }

  var events: [Event] {
    var events = guests.indices.map(Event.leave) + [.empty]
    for guest in guests.indices where !waiting.contains(where: { $0.guest == guest }) {
      events += stride(from: published + 1, through: 3, by: 1).map { .enter(guest, until: $0) }
    }
    return published < 3 ? events + [.publish] : events
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .enter(let guest, until: let end):
      queue.enter(guests[guest], until: end)
      waiting.append((guest, end))
      apart = apart ?? guest
    case .leave(let guest):
      _ = queue.leave(guests[guest])
      waiting.removeAll { $0.guest == guest }
    case .publish:
      published += 1
      let (served, wanted) = queue.published(before: published)
      expect(served, waiting.filter { $0.end <= published }.map(\.guest), "served")
      waiting.removeAll { $0.end <= published }
      if wanted != waiting.map(\.end).max() ?? 0 { violation = "wanted \(wanted)" }
    case .empty:
      expect(queue.empty(), waiting.map(\.guest), "emptied")
      waiting = []
    }
    if !waiting.contains(where: { $0.guest == apart }) { apart = nil }
    if queue.isEmpty != waiting.isEmpty { violation = "isEmpty is \(queue.isEmpty)" }
  }

  private mutating func expect(_ guests: [Guest], _ numbers: [Int], _ name: String) {
    if guests.map(\.number) != numbers {
      violation = "\(name) \(guests.map(\.number)) and not \(numbers)"
    }
  }
}

/// The readers of a list that cancels unwaited steps, each doing one thing after the other, and its step.
///
/// A reader asks: it runs an attempt, if nobody holds the claim, and waits for it; or it waits for that of
/// another. It may be cancelled while it waits, and asks again. The step must be told exactly when the
/// last one who wants it has left.
private struct UnwaitedStepModel: Explorable {
  enum Event: Hashable {
    case ask(Int)
    case enter(Int)
    case departs(Int)
    case leave(Int)
    case begin
    case end
  }

  enum Reader: Hashable {
    case away
    /// Runs the step, or is on its way to wait for it.
    case runs(UInt32)
    case waits
  }

  enum Step: Hashable {
    case none
    /// The claim is held, and the step has not begun to wait.
    case taken
    case waits
    /// It was told that nobody waits.
    case told
  }

  typealias Guest = WaitQueueModel.Guest

  var queue = WaitQueue<Guest>()
  let guests = (0..<3).map(Guest.init)
  let stepGuest = Guest(9)
  var readers = [Reader](repeating: .away, count: 3)
  var step = Step.none
  var attempt: UInt32 = 0
  var asked = [0, 0, 0]
  var violation: String?

  var key: String { "\(queue), \(readers), \(step), \(attempt), \(asked)" }

  /// Whether somebody wants the step that is in flight.
  var isWanted: Bool {
    readers.contains { $0 == .waits || $0 == .runs(attempt) }
  }

  var events: [Event] {
    var events: [Event] = []
    for (number, reader) in readers.enumerated() {
      switch reader {
      case .away: if asked[number] < 2 { events.append(.ask(number)) }
      case .runs: events += [.enter(number), .departs(number)]
      case .waits: events.append(.leave(number))
      }
    }
    switch step {
    case .none: break
    case .taken: events.append(.begin)
    case .waits, .told: events.append(.end)
    }
    return events
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .ask(let number):
      asked[number] += 1
      if step == .none {
        attempt += 1
        queue.runs(attempt)
        readers[number] = .runs(attempt)
        step = .taken
      } else {
        queue.enter(guests[number], until: 1)
        readers[number] = .waits
      }
    case .enter(let number):
      guard case .runs(let own) = readers[number] else { return }
      if step == .none {
        // The claim is free: it looks again.
        told(queue.departs(own))
        readers[number] = .away
      } else {
        queue.enter(guests[number], until: 1, attempt: own)
        readers[number] = .waits
      }
    case .departs(let number):
      guard case .runs(let own) = readers[number] else { return }
      readers[number] = .away
      told(queue.departs(own))
    case .leave(let number):
      readers[number] = .away
      told(queue.leave(guests[number]))
    case .begin:
      let goesOn = queue.stepWaits(with: stepGuest, isRun: false)
      if goesOn != isWanted { violation = "a step begins: \(goesOn), and is wanted: \(isWanted)" }
      step = goesOn ? .waits : .none
      if step == .none { finish() }
    case .end:
      let left = queue.stepGoesOn()
      if (left == nil) != (step == .told) { violation = "told twice, or never" }
      step = .none
      finish()
    }
    if step == .waits, !isWanted { violation = "nobody waits, and the step was not told" }
  }

  /// The claim is free: all who wait look again, or have their element.
  mutating func finish() {
    for guest in queue.empty() { readers[guest.number] = .away }
  }

  mutating func told(_ guest: Guest?) {
    guard guest != nil else { return }
    if isWanted { violation = "the step was told, and somebody waits" }
    if step != .waits { violation = "told in the state \(step)" }
    step = .told
  }
}

@Suite("WaitQueue: every order of events", .inTurn)
struct WaitQueueOrdersTests {
  @Test(
    "a waiter is served when its cells are there, in the order of arrival, and nobody else is")
  func orders() { WaitQueueModel().expectSafe() }

  @Test("a step is told that nobody waits when the last one has left, and not before")
  func unwaited() { UnwaitedStepModel().expectSafe() }
}
