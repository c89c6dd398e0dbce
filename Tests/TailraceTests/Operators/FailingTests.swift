import Tailrace
import TailraceTesting
import Testing

@Suite("Lists that cannot fail stand beside lists that can")
struct FailingTests {
  private enum Wrong: Error { case wrong }
  private let safe = LazyList(1...3)
  private let unsafe = LazyList<Int, Wrong>(4...6) + .failing(.wrong)

  @Test("in +, zip and joined, with the error of the other")
  func beside() async throws {
    let after = safe.failing(as: Wrong.self) + unsafe
    #expect(try await after.prefix(6).array() == [1, 2, 3, 4, 5, 6])
    await #expect(throws: Wrong.wrong) { try await after.array() }
    #expect(try await safe.zip(unsafe).map { $0 + $1 }.array() == [5, 7, 9])
    #expect(try await unsafe.zip(safe).map { $0 - $1 }.prefix(3).array() == [3, 3, 3])
    await #expect(throws: Wrong.wrong) { try await unsafe.zip(LazyList(1...)).array() }
    let outer = LazyList([unsafe])
    let joined: LazyList<Int, Wrong> = outer.joined()
    await #expect(throws: Wrong.wrong) { try await joined.array() }
    let inner = LazyList<LazyList<Int, Never>, Wrong>([safe, safe]).joined()
    #expect(try await inner.array() == [1, 2, 3, 1, 2, 3])
  }

  @Test("nothing runs before a demand, and nothing twice")
  func demand() async throws {
    let probe = Probe<Int>()
    let list = safe.map { probe.pass($0) }.failing(as: Wrong.self)
    #expect(probe.values == [])
    #expect(try await list.head() == 1)
    #expect(try await list.array() == [1, 2, 3])
    #expect(probe.values == [1, 2, 3])
  }
}
