import Tailrace
import TailraceSupport
import Testing

@testable import TailraceLists

/// A step ends while a reader comes to wait for it, on several processors.
@Suite("Steps that end: a reader that comes at the same moment is woken", .inTurn, .hangLimit)
struct PublicationTests {
  private static let rounds = RandomCases.count(
    "TAILRACE_PUBLICATIONS", usual: 2_000, debug: 10_000, optimised: 100_000, full: 20)

  /// The list that the other one's step reads.
  private final class Knot: Sendable {
    let list = Locked(LazyList<Int, any Error>())
  }

  @Test("two lists whose steps need each other in turn")
  func knots() async throws {
    let watch = HangWatch()
    defer { watch.stop() }
    for round in 0..<Self.rounds {
      watch.begins { "round \(round)" }
      let knot = Knot()
      defer { knot.list.withLock { $0 = [] } }
      let first = LazyList<Int, any Error>(state: 0) { number async throws -> Int? in
        if number == 0 { await Task.yield() }
        if number == 1 { _ = try await knot.list.withLock { $0 }.head() }
        number += 1
        return number < 3 ? number : nil
      }
      // Later and later, so that it comes when the first element is published.
      let delay = round % 97
      let second = LazyList<Int, any Error>(state: 0) { number async throws -> Int? in
        for _ in 0..<(delay & 3) { await Task.yield() }
        for spin in 0..<(delay * 8) where spin & 1023 == 1023 { await Task.yield() }
        if number == 0 { _ = try await first.element(at: 0) }
        number += 1
        return number < 3 ? number : nil
      }
      knot.list.withLock { $0 = second }
      async let one = first.array()
      async let two = second.array()
      let found = try await [one, two]
      if found != [[1, 2], [1, 2]] {
        Issue.record("round \(round): \(found)")
        return
      }
    }
  }
}
