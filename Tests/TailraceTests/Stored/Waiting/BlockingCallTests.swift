import FileReading
import Foundation
import Testing

// One after the other: calls have 64 queues, and more of them at a time share these.
@Suite("Calls that may wait for a disk", .serialized, .hangLimit, .inTurn)
struct BlockingCallTests {
  /// Where calls wait for each other.
  // Guard: the condition. May touch it: whoever has locked that.
  private final class Meeting: @unchecked Sendable {
    private let condition = NSCondition()
    private var missing: Int

    init(of count: Int) { missing = count }

    /// Waits, on its thread, until all are there. False if some are not in time.
    func join() -> Bool {
      condition.withLock {
        missing -= 1
        condition.broadcast()
        let limit = Date(timeIntervalSinceNow: 120)
        while missing > 0 { if !condition.wait(until: limit) { return false } }
        return true
      }
    }
  }

  @Test("they do not wait for each other, however few the cores")
  func together() async throws {
    let count = 12
    let meeting = Meeting(of: count)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<count {
        group.addTask { try await elsewhere { () throws(SystemError) in meeting.join() }.get() }
      }
      for try await isTogether in group { #expect(isTogether, "a call waits for another one") }
    }
  }

  @Test("more of them than there are threads for are all made")
  func many() async throws {
    let count = 500
    let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<count {
        group.addTask { try await elsewhere { () throws(SystemError) in number }.get() }
      }
      return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
    }
    #expect(numbers.count == count)
  }
}
