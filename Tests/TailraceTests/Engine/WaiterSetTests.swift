import Tailrace
import Testing

@testable import TailraceLists

/// Waiters are told apart by their identity, and printed by their number.
private final class Guest: Sendable, CustomStringConvertible {
  let number: Int
  init(_ number: Int) { self.number = number }
  var description: String { "guest \(number)" }
}

/// A set of waiters, and beside it who is in it, as a list in the order of arrival.
private struct WaiterSetModel: Explorable {
  enum Event: Hashable { case enter(Int), leave(Int), removeAll }

  private static let guests = (0..<3).map(Guest.init)

  var set = WaiterSet<Guest>()
  var waiting: [Int] = []
  var violation: String?

  /// A set remembers how many have ever entered: no more than the order of those who wait counts.
  var key: String { "\(set) \(set.first == nil) \(waiting)" }

  var events: [Event] {
    Self.guests.indices.flatMap { guest -> [Event] in
      waiting.contains(guest) ? [.leave(guest)] : [.leave(guest), .enter(guest)]
    } + [.removeAll]
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .enter(let guest):
      set.enter(Self.guests[guest])
      waiting.append(guest)
    case .leave(let guest):
      set.leave(Self.guests[guest])
      waiting.removeAll { $0 == guest }
    case .removeAll:
      let removed = set.removeAll().map(\.number)
      if removed != waiting { violation = "removed \(removed) and not \(waiting)" }
      waiting = []
    }
    if set.count != waiting.count || set.isEmpty != waiting.isEmpty {
      violation = "\(set.count) waiters and not \(waiting.count)"
    }
    if set.entries.map(\.waiter.number) != waiting {
      violation = "the order is \(set)"
    }
  }
}

@Suite("WaiterSet: waiters in the order of arrival", .inTurn)
struct WaiterSetTests {
  @Test("every order of events: who enters, leaves, and is removed")
  func orders() async { await WaiterSetModel().expectSafe() }

  @Test("many, of whom some leave")
  func many() {
    var set = WaiterSet<Guest>()
    let guests = (0..<100).map(Guest.init)
    for guest in guests { set.enter(guest) }
    for guest in guests where guest.number % 2 == 0 { set.leave(guest) }
    #expect(set.removeAll().map(\.number) == (0..<100).filter { $0 % 2 == 1 })
    #expect(set.isEmpty && set.removeAll().isEmpty)
  }

  @Test("it lets go of who leaves")
  func released() {
    var set = WaiterSet<Guest>()
    weak var known: Guest?
    do {
      let guests = (0..<2).map(Guest.init)
      for guest in guests { set.enter(guest) }
      known = guests[1]
      set.leave(guests[1])
    }
    #expect(known == nil && set.count == 1)
  }
}
