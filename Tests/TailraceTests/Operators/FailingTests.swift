import Tailrace
import TailraceTesting
import Testing

@Suite("Lists that cannot fail stand beside lists that can", .inTurn)
struct FailingTests {
  private enum Wrong: Error { case wrong }
  private let safe = LazyList(1...3)
  private let unsafe = LazyList<Int, Wrong>(4...6) + .failing(.wrong)

  @Test("in zip and joined, with the error of the other")
  func beside() async throws {
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
    let list = safe.map { probe.pass($0) }.setFailureType(to: Wrong.self)
    #expect(probe.values == [])
    #expect(try await list.head() == 1)
    #expect(try await list.array() == [1, 2, 3])
    #expect(probe.values == [1, 2, 3])
  }

  @Test("and has the cells of the list that it was made of")
  func cells() async throws {
    let probe = Probe<Int>()
    let list = safe.map { probe.pass($0) }
    let other = list.setFailureType(to: Wrong.self)
    let third = other.setFailureType()
    #expect(try await other.prefix(2).array() == [1, 2])
    #expect([list.evaluatedCount, third.evaluatedCount] == [2, 2])
    #expect(await list.array() == [1, 2, 3])
    #expect(other.evaluatedPrefix == [1, 2, 3])
    #expect(probe.values == [1, 2, 3])
  }

  @Test("where each fails in a way of its own, the result may fail in any way")
  func anyway() async throws {
    let others: LazyList<Int, CancellationError> = [1] + .failing(CancellationError())
    let joined: LazyList<Int, any Error> = LazyList([others]).setFailureType(to: Wrong.self)
      .joined()
    await #expect(throws: CancellationError.self) { try await joined.array() }
    let pairs = unsafe.zip(others.dropFirst(0))
    await #expect(throws: CancellationError.self) { try await pairs.array() }
    #expect(try await zip(safe, unsafe).map { $0 * $1 }.array() == [4, 10, 18])
    let triples = zip(
      safe.setFailureType(), unsafe.setFailureType(), others.setFailureType())
    #expect(try await triples.head() ?? (0, 0, 0) == (1, 4, 1))
    await #expect(throws: CancellationError.self) { try await triples.count() }
  }

  @Test("an element that needs itself is an error there, and none for who may ask for no error")
  func cycle() async {
    let list = LazyList<Int, Never>.recursive { list in list.map { $0 + 1 } }.named("itself")
    await #expect(throws: CyclicEvaluationError.self) {
      try await list.setFailureType().head()
    }
    #expect(list.debugDescription.contains("needs itself"))
  }
}
