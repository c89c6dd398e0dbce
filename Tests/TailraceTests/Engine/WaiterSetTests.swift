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
  enum Event: Hashable { case enter(Int, mark: Int), leave(Int), remove(mark: Int), removeAll }

  private static let guests = (0..<3).map(Guest.init)

  var set = WaiterSet<Guest, Int>()
  var waiting: [(guest: Int, mark: Int)] = []
  var violation: String?

  /// A set remembers how many have ever entered: no more than the order of those who wait counts.
  var key: String { "\(set) \(set.first == nil) \(waiting)" }

  var events: [Event] {
    Self.guests.indices.flatMap { guest -> [Event] in
      waiting.contains { $0.guest == guest }
        ? [.leave(guest)] : [.leave(guest), .enter(guest, mark: 0), .enter(guest, mark: 1)]
    } + [.remove(mark: 0), .remove(mark: 1), .removeAll]
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .enter(let guest, let mark):
      set.enter(Self.guests[guest], mark)
      waiting.append((guest, mark))
    case .leave(let guest):
      set.leave(Self.guests[guest])
      waiting.removeAll { $0.guest == guest }
    case .remove(let mark):
      let removed = set.remove { $0 == mark }.map(\.number)
      let expected = waiting.filter { $0.mark == mark }.map(\.guest)
      if removed != expected { violation = "removed \(removed) and not \(expected)" }
      waiting.removeAll { $0.mark == mark }
    case .removeAll:
      let removed = set.removeAll().map(\.number)
      if removed != waiting.map(\.guest) { violation = "removed \(removed) and not \(waiting)" }
      waiting = []
    }
    if set.count != waiting.count || set.isEmpty != waiting.isEmpty {
      violation = "\(set.count) waiters and not \(waiting.count)"
    }
    if set.entries.map(\.waiter.number) != waiting.map(\.guest) {
      violation = "the order is \(set)"
    }
    let sum = set.reduce(0) { $0 + $1 }
    if sum != waiting.reduce(0, { $0 + $1.mark }) { violation = "the marks are \(set)" }
  }
}

@Suite("WaiterSet: waiters in the order of arrival, each with a mark", .inTurn)
struct WaiterSetTests {
  @Test("every order of events: who enters, leaves, and is removed by its mark")
  func orders() { WaiterSetModel().expectSafe() }

  @Test("many, removed by their marks")
  func many() {
    var set = WaiterSet<Guest, Int>()
    let guests = (0..<100).map(Guest.init)
    for guest in guests { set.enter(guest, guest.number % 3) }
    for guest in guests where guest.number % 2 == 0 { set.leave(guest) }
    let ones = set.remove { $0 == 1 }.map(\.number)
    #expect(ones == (0..<100).filter { $0 % 2 == 1 && $0 % 3 == 1 })
    #expect(set.removeAll().map(\.number) == (0..<100).filter { $0 % 2 == 1 && $0 % 3 != 1 })
    #expect(set.isEmpty && set.removeAll().isEmpty)
  }

  @Test("it lets go of who leaves")
  func released() {
    var set = WaiterSet<Guest, Void>()
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
