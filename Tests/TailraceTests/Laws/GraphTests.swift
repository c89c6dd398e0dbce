import Tailrace
import TailraceSupport
import Testing

/// Lists whose steps read earlier elements of each other: no element needs itself. Random graphs of
/// them are those of `MixedGraphTests`.
@Suite("Lists that feed each other without a cycle", .inTurn)
struct GraphTests {
  @Test("a chain of lists that pass one element around", .timeLimit(.minutes(15)), arguments: 2...4)
  func ring(_ count: Int) async throws {
    // list[0][i] = list[count - 1][i - 1] + 1; list[k][i] = list[k - 1][i].
    let length = 200
    let lists = Locked([LazyList<Int, any Error>]())
    let made = (0..<count).map { number in
      Steps<Int, any Error>(length) { position in
        if number == 0, position == 0 { return 0 }
        let source = lists.withLock { $0[(number + count - 1) % count] }
        let index = number == 0 ? position - 1 : position
        return try await source.element(at: index).map { number == 0 ? $0 + 1 : $0 } ?? -1
      }.memoized().named("\(number)")
    }
    lists.withLock { $0 = made }
    try await withThrowingTaskGroup(of: [Int].self) { group in
      for reader in 0..<count * 3 {
        group.addTask {
          if reader % 2 == 0 { return try await made[reader % count].array() }
          var seen: [Int] = []
          for try await element in made[reader % count] { seen.append(element) }
          return seen
        }
      }
      for try await elements in group { #expect(elements == Array(0..<length)) }
    }
    lists.withLock { $0 = [] }
  }
}
