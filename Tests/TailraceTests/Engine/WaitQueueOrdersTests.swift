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
      queue.leave(guests[guest])
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

@Suite("WaitQueue: every order of events", .inTurn)
struct WaitQueueOrdersTests {
  @Test(
    "a waiter is served when its cells are there, in the order of arrival, and nobody else is")
  func orders() { WaitQueueModel().expectSafe() }
}
