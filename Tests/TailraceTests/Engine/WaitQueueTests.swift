import Testing

@testable import Tailrace

@Suite("WaitQueue: a wait has a position", .inTurn)
struct WaitQueueTests {
  private final class Guest: Sendable {}

  @Test("nobody is in a new room")
  func empty() {
    var room = WaitQueue<Guest>()
    #expect(room.isEmpty)
    #expect(room.empty().isEmpty)
    #expect(room.published(before: 100) == ([], 0))
  }

  @Test("those are served whose cells are published, in the order in which they came")
  func served() {
    var room = WaitQueue<Guest>()
    let guests = (0..<6).map { _ in Guest() }
    for (guest, end) in zip(guests, [3, 1, 2, 3, 9, 1]) { room.enter(guest, until: end) }
    #expect(room.published(before: 0) == ([], 9))
    #expect(room.published(before: 1) == ([guests[1], guests[5]], 9))
    #expect(room.published(before: 1) == ([], 9))
    #expect(room.published(before: 3) == ([guests[0], guests[2], guests[3]], 9))
    #expect(!room.isEmpty)
    #expect(room.published(before: 10) == ([guests[4]], 0))
    #expect(room.isEmpty)
  }

  @Test("who leaves takes the mark along, and may be gone already")
  func leaving() {
    var room = WaitQueue<Guest>()
    let (near, far) = (Guest(), Guest())
    room.enter(near, until: 2)
    room.enter(far, until: 7)
    room.leave(far)
    room.leave(far)
    #expect(room.published(before: 0) == ([], 2))
    #expect(room.published(before: 2) == ([near], 0))
    room.leave(near)
    #expect(room.isEmpty)
  }

  @Test("the reader that began a failed attempt is told, whether it waits already or comes late")
  func beginner() {
    struct Refused: Error {}
    var room = WaitQueue<Guest>()
    let (beginner, other) = (Guest(), Guest())
    room.enter(beginner, until: 1, attempt: 7)
    room.enter(other, until: 1)
    #expect(room.keep(Refused(), of: 7).map(ObjectIdentifier.init) == [ObjectIdentifier(beginner)])
    #expect(room.failure(of: 7) is Refused)
    #expect(room.failure(of: 6) == nil)
    #expect(room.keep(Refused(), of: 7).isEmpty)
    room.forgetFailure()
    #expect(room.failure(of: 7) == nil)
    #expect(room.empty().map(ObjectIdentifier.init) == [ObjectIdentifier(other)])
  }

  @Test("everybody looks again when the claim is free")
  func emptied() {
    var room = WaitQueue<Guest>()
    let guests = (0..<3).map { _ in Guest() }
    for guest in guests { room.enter(guest, until: .max) }
    #expect(room.empty().map(ObjectIdentifier.init) == guests.map(ObjectIdentifier.init))
    #expect(room.isEmpty)
  }
}

/// What a room answers, by identity.
private func == <Guest: AnyObject>(
  answer: (served: [Guest], wanted: Int), expected: ([Guest], Int)
) -> Bool {
  answer.served.map(ObjectIdentifier.init) == expected.0.map(ObjectIdentifier.init)
    && answer.wanted == expected.1
}
