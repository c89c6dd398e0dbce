import Tailrace
import TailraceTesting
import Testing

@Suite("zip, of any number of lists", .inTurn)
struct ZipTests {
  typealias Source = LazyList<Int, any Error>

  struct Arity: Sendable, CustomTestStringConvertible {
    let count: Int
    /// Whether it is the free function.
    var isFree = false
    let zipped: @Sendable ([Source]) -> LazyList<[Int], any Error>
    var testDescription: String { isFree ? "\(count), free" : "\(count)" }

    static let all = [
      Arity(count: 2) { $0[0].zip($0[1]).map { [$0, $1] } },
      Arity(count: 3) { zip($0[0], $0[1], $0[2]).map { [$0, $1, $2] } },
      Arity(count: 4) { zip($0[0], $0[1], $0[2], $0[3]).map { [$0, $1, $2, $3] } },
      Arity(count: 5) {
        zip($0[0], $0[1], $0[2], $0[3], $0[4]).map { [$0, $1, $2, $3, $4] }
      },
      Arity(count: 6) {
        zip($0[0], $0[1], $0[2], $0[3], $0[4], $0[5])
          .map { [$0, $1, $2, $3, $4, $5] }
      },
      Arity(count: 2, isFree: true) { zip($0[0], $0[1]).map { [$0, $1] } },
      Arity(count: 7) {
        zip($0[0], $0[1], $0[2], $0[3], $0[4], $0[5], $0[6])
          .map { [$0, $1, $2, $3, $4, $5, $6] }
      },
    ]
  }

  @Test(
    "the shortest ends it, and those after it are not touched then",
    arguments: Arity.all, SourceKind.allCases)
  func shortest(_ arity: Arity, _ kind: SourceKind) async throws {
    for short in 0..<arity.count {
      let probes = (0..<arity.count).map { _ in Probe<Int>() }
      let sources = (0..<arity.count).map { kind.make(upTo: $0 == short ? 2 : 9, probes[$0]) }
      let rows = arity.zipped(sources)
      #expect(probes.allSatisfy { $0.count == 0 })
      #expect(try await rows.head() == Array(repeating: 1, count: arity.count))
      #expect(probes.allSatisfy { $0.count == 1 })
      #expect(
        try await rows.array()
          == [1, 2].map { Array(repeating: $0, count: arity.count) })
      for (index, probe) in probes.enumerated() {
        #expect(probe.values.prefix(3).elementsEqual(index <= short ? [1, 2, 3] : [1, 2]))
      }
    }
  }

  @Test("the first failure in the order of the lists", arguments: Arity.all, SourceKind.allCases)
  func failure(_ arity: Arity, _ kind: SourceKind) async throws {
    for failing in 0..<arity.count {
      let sources = (0..<arity.count).map { index in
        kind.make(upTo: 9, Probe(), failingAt: index == failing ? 2 : index > failing ? 1 : nil)
      }
      let rows = arity.zipped(sources)
      // A list after it has failed already, at the position before.
      let position = failing == arity.count - 1 ? 1 : 0
      for _ in 1...2 {
        await #expect(throws: Mishap(position: position)) { try await rows.array() }
      }
      #expect(rows.evaluatedCount == position)
    }
  }

  @Test("of three, of endless lists, and of one that is empty")
  func several() async {
    typealias List = LazyList<Int, Never>
    #expect(
      await zip(List(1...3), List(1...), List(4...)).map { $0 + $1 + $2 }.array() == [6, 9, 12])
    #expect(await zip(List(1...), List.empty).isEmpty())
    #expect(await zip(List(1...), List(1...)).prefix(1000).count() == 1000)
  }

  @Test("an optional element is an element")
  func optionals() async {
    let list = LazyList<Int?, Never>([1, nil, 3])
    #expect(await zip(list, list).count() == 3)
  }
}
