import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@Suite(
  "Lists that are defined by themselves: the closure's list does not outlive the definition",
  .inTurn)
struct RecursiveTests {
  /// The list that the closure of a definition gets, and the elements that were read before the
  /// definition was released.
  static func leftover<Failure: Error>(
    _ failure: Failure.Type, reading count: Int
  ) async -> LazyList<Int, Failure> {
    let inner = Locked(LazyList<Int, Failure>.empty)
    let list = LazyList<Int, Failure>.recursive { list in
      inner.withLock { $0 = list }
      return [1, 2] + list.map { $0 * 10 }
    }
    _ = try? await list.prefix(count).array()
    return inner.withLock { $0 }
  }

  @Test("elements that were evaluated can be read", arguments: [1, 2, 4])
  func evaluated(count: Int) async throws {
    let list = await Self.leftover(Never.self, reading: count)
    #expect(await list.prefix(count).array() == Array([1, 2, 10, 20].prefix(count)))
    let failing = await Self.leftover((any Error).self, reading: count)
    #expect(try await failing.prefix(count).array() == Array([1, 2, 10, 20].prefix(count)))
  }

  @Test("a demand of an element that was not is an error where the list can fail")
  func thrown() async throws {
    let list = await Self.leftover((any Error).self, reading: 2)
    await #expect(throws: CancellationError.self) { try await list.element(at: 2) }
    await #expect(throws: CancellationError.self) { try await list.map { $0 + 1 }.array() }
    #expect(try await list.element(at: 1) == 2)
  }

  @Test("a demand of an element that was not traps where it cannot")
  func trap() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = await Self.leftover(Never.self, reading: 2).element(at: 2)
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("after the recursive list itself had been released"), "\(said)")
  }
}
