import Tailrace
import TailraceTesting
import Testing

/// One operator over a list that cannot fail, in one of its kinds.
///
/// Where a closure throws, the source is widened: that is a stage of its own, which must be as lazy, as
/// exact and as silent as all others.
struct NeverRow: Sendable, CustomTestStringConvertible {
  typealias Source = LazyList<Int, Never>

  let testDescription: String
  let forHead: Int
  let elements: [Int]
  let apply: @Sendable (Source, Calls) -> LazyList<Int, any Error>

  /// An operator whose closures throw.
  init(
    throwing name: String, _ forHead: Int, _ elements: [Int],
    _ apply: @escaping @Sendable (Source, Calls) -> LazyList<Int, any Error>
  ) {
    testDescription = name
    self.forHead = forHead
    self.elements = elements
    self.apply = apply
  }

  /// An operator whose result cannot fail either: it is widened behind it.
  init(
    _ name: String, _ forHead: Int, _ elements: [Int],
    _ apply: @escaping @Sendable (Source, Calls) -> Source
  ) {
    self.init(throwing: name, forHead, elements) { list, calls in
      apply(list, calls).map { (number: Int) throws -> Int in number }
    }
  }

  static let all: [NeverRow] = [
    NeverRow("map, plain", 1, [2, 4, 6, 8]) { list, calls in list.map { calls.plain($0, $0 * 2) } },
    NeverRow(throwing: "map, throwing", 1, [2, 4, 6, 8]) { list, calls in
      list.map { try calls.throwing($0, $0 * 2) }
    },
    NeverRow("map, async", 1, [2, 4, 6, 8]) { list, calls in
      list.mapAsync { await calls.async($0, $0 * 2) }
    },
    NeverRow(throwing: "map, async throwing", 1, [2, 4, 6, 8]) { list, calls in
      list.map { try await calls.asyncThrowing($0, $0 * 2) }
    },
    NeverRow(throwing: "compactMap, throwing", 2, [2, 4]) { list, calls in
      list.compactMap { try calls.throwing($0, $0 % 2 == 0 ? $0 : nil) }
    },
    NeverRow(throwing: "compactMap, async throwing", 2, [2, 4]) { list, calls in
      list.compactMap { try await calls.asyncThrowing($0, $0 % 2 == 0 ? $0 : nil) }
    },
    NeverRow("filter, plain", 2, [2, 4]) { list, calls in
      list.filter { calls.plain($0, $0 % 2 == 0) }
    },
    NeverRow(throwing: "filter, throwing", 2, [2, 4]) { list, calls in
      list.filter { try calls.throwing($0, $0 % 2 == 0) }
    },
    NeverRow("filter, async", 2, [2, 4]) { list, calls in
      list.filterAsync { await calls.async($0, $0 % 2 == 0) }
    },
    NeverRow(throwing: "filter, async throwing", 2, [2, 4]) { list, calls in
      list.filter { try await calls.asyncThrowing($0, $0 % 2 == 0) }
    },
    NeverRow(throwing: "flatMap, throwing", 2, [2, 2, 4, 4]) { list, calls in
      list.flatMap { try calls.throwing($0, [Int](repeating: $0, count: $0 % 2 == 0 ? 2 : 0)) }
    },
    NeverRow(throwing: "flatMap, async throwing", 2, [2, 2, 4, 4]) { list, calls in
      list.flatMap {
        try await calls.asyncThrowing($0, [Int](repeating: $0, count: $0 % 2 == 0 ? 2 : 0))
      }
    },
    NeverRow(throwing: "prefix while, throwing", 1, [1, 2]) { list, calls in
      list.prefix { try calls.throwing($0, $0 < 3) }
    },
    NeverRow(throwing: "drop while, async throwing", 3, [3, 4]) { list, calls in
      list.drop { try await calls.asyncThrowing($0, $0 < 3) }
    },
    NeverRow(throwing: "reductions, throwing", 1, [1, 3, 6, 10]) { list, calls in
      list.reductions(0) { try calls.throwing($1, $0 + $1) }
    },
    NeverRow(throwing: "reductions, async throwing", 1, [1, 3, 6, 10]) { list, calls in
      list.reductions(0) { try await calls.asyncThrowing($1, $0 + $1) }
    },
    NeverRow(throwing: "removeDuplicates by, throwing", 1, [1, 2, 4]) { list, calls in
      list.removeDuplicates { try calls.throwing($1, $0 / 2 == $1 / 2) }
    },
    NeverRow(throwing: "layers of all kinds", 1, [2, 3, 4, 5]) { list, calls in
      list.map { calls.plain($0, $0) }.mapAsync { $0 }.map { try calls.throwing($0, $0 + 1) }
        .map { $0 }
    },
  ]
}

@Suite("Lists that cannot fail, under closures that can", .timeLimit(.minutes(15)), .inTurn)
struct NeverTests {
  enum Kind: CaseIterable, Sendable {
    case plain, asynchronous

    func make(_ pulls: Probe<Int>) -> NeverRow.Source {
      switch self {
      case .plain: LazyList(1...4).map { pulls.pass($0) }
      case .asynchronous:
        Steps<Int, Never>(4) { position in
          await Task.yield()
          return pulls.pass(position + 1)
        }.memoized()
      }
    }
  }

  @Test(
    "nothing runs before a demand, nothing more than it needs, and nothing twice",
    arguments: NeverRow.all, Kind.allCases)
  func laws(_ row: NeverRow, _ kind: Kind) async throws {
    let (pulls, calls) = (Probe<Int>(), Calls())
    let list = row.apply(kind.make(pulls), calls)
    _ = (list.description, list.tail, list.dropFirst(2))
    #expect(pulls.count == 0)
    #expect(try await list.head() == row.elements.first)
    #expect(pulls.count == row.forHead)
    try await withThrowingTaskGroup(of: [Int].self) { group in
      for reader in 0..<6 {
        group.addTask {
          if reader % 2 == 0 { return try await list.array() }
          var seen: [Int] = []
          for try await element in list { seen.append(element) }
          return seen
        }
      }
      for try await elements in group { #expect(elements == row.elements) }
    }
    #expect(Set(pulls.values).count == pulls.count)
    #expect(list.evaluatedPrefix == row.elements)
  }

  @Test("a reader that is cancelled throws, though its source cannot", arguments: NeverRow.all)
  func cancelled(_ row: NeverRow) async throws {
    let gate = Gate()
    let source = Steps<Int, Never>(4) { position in
      await gate.wait()
      return position + 1
    }.memoized()
    let list = row.apply(source, Calls())
    let reader = Task { try await list.array() }
    await gate.waitForArrivals(1)
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    gate.open()
    #expect(try await list.array() == row.elements)
  }

  @Test("an error of a closure is its element's fate")
  func failure() async {
    let list = LazyList(1...4).mapAsync { $0 }.map { (number: Int) throws -> Int in
      if number == 3 { throw Mishap(position: 2) }
      return number
    }
    for _ in 0..<2 {
      await #expect(throws: Mishap(position: 2)) { try await list.array() }
      #expect(list.evaluatedPrefix == [1, 2])
    }
  }
}
