import Tailrace
import Testing

/// The messages themselves are in `Tests/CallSites/Mistakes.swift`; here is what they say to write.
@Suite("+ of lists that fail in different ways", .inTurn)
struct DifferingTests {
  private enum Wrong: Error { case wrong }
  private let safe = LazyList(1...3)
  private let unsafe = LazyList<Int, Wrong>(4...6) + .failing(.wrong)

  @Test("of one that cannot fail and one that can")
  func safeLeft() async throws {
    let after = safe.setFailureType(to: Wrong.self) + unsafe
    #expect(try await after.prefix(6).array() == [1, 2, 3, 4, 5, 6])
    await #expect(throws: Wrong.wrong) { try await after.array() }
  }

  @Test("of two that fail in ways of their own")
  func anyway() async {
    let others: LazyList<Int, CancellationError> = [1] + .failing(CancellationError())
    await #expect(throws: Wrong.wrong) {
      try await (unsafe.setFailureType() + others.setFailureType()).array()
    }
  }
}
