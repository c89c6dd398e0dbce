import Tailrace
import Testing

@testable import TailraceLists

@Suite("WaitQueue: a wait has a position", .inTurn)
struct WaitQueueTests {
  private final class Guest: Sendable {}

  @Test("nobody is in a new queue")
  func empty() {
    var queue = WaitQueue<Guest>()
    #expect(queue.isEmpty)
    #expect(queue.empty().isEmpty)
    #expect(queue.published(before: 100) == ([], 0))
  }

  @Test("those are served whose cells are published, in the order in which they came")
  func served() {
    var queue = WaitQueue<Guest>()
    let guests = (0..<6).map { _ in Guest() }
    for (guest, end) in zip(guests, [3, 1, 2, 3, 9, 1]) { queue.enter(guest, until: end) }
    #expect(queue.published(before: 0) == ([], 9))
    #expect(queue.published(before: 1) == ([guests[1], guests[5]], 9))
    #expect(queue.published(before: 1) == ([], 9))
    #expect(queue.published(before: 3) == ([guests[0], guests[2], guests[3]], 9))
    #expect(!queue.isEmpty)
    #expect(queue.published(before: 10) == ([guests[4]], 0))
    #expect(queue.isEmpty)
  }

  @Test("a waiter that leaves takes its mark along, and may be gone already")
  func leaving() {
    var queue = WaitQueue<Guest>()
    let (near, far) = (Guest(), Guest())
    queue.enter(near, until: 2)
    queue.enter(far, until: 7)
    _ = queue.leave(far)
    _ = queue.leave(far)
    #expect(queue.published(before: 0) == ([], 2))
    #expect(queue.published(before: 2) == ([near], 0))
    _ = queue.leave(near)
    #expect(queue.isEmpty)
  }

  @Test("the reader that began a failed attempt is told, whether it waits already or comes late")
  func beginner() {
    struct Refused: Error {}
    var queue = WaitQueue<Guest>()
    let (beginner, other) = (Guest(), Guest())
    queue.enter(beginner, until: 1, attempt: 7)
    queue.enter(other, until: 1)
    #expect(queue.keep(Refused(), of: 7).map(ObjectIdentifier.init) == [ObjectIdentifier(beginner)])
    #expect(queue.failure(of: 7) is Refused)
    #expect(queue.failure(of: 6) == nil)
    #expect(queue.keep(Refused(), of: 7).isEmpty)
    #expect(queue.forgetFailure() is Refused)
    #expect(queue.failure(of: 7) == nil)
    #expect(queue.empty().map(ObjectIdentifier.init) == [ObjectIdentifier(other)])
  }

  @Test("everybody looks again when the claim is free")
  func emptied() {
    var queue = WaitQueue<Guest>()
    let guests = (0..<3).map { _ in Guest() }
    for guest in guests { queue.enter(guest, until: .max) }
    #expect(queue.empty().map(ObjectIdentifier.init) == guests.map(ObjectIdentifier.init))
    #expect(queue.isEmpty)
  }
}

/// Compares a queue's answer with the expected one, guests by their identity.
private func == <Guest: AnyObject>(
  answer: (served: [Guest], wanted: Int), expected: ([Guest], Int)
) -> Bool {
  answer.served.map(ObjectIdentifier.init) == expected.0.map(ObjectIdentifier.init)
    && answer.wanted == expected.1
}
