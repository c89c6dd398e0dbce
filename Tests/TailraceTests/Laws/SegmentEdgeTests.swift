import Tailrace
import TailraceTesting
import Testing

@Suite("Failures for now at the edges of segments", .inTurn)
struct SegmentEdgeTests {
  typealias List = LazyList<Int, any Error>

  /// Lists whose second part fails. None that looks ahead: what fails ahead of its reader is told to nobody.
  struct Shape: CustomTestStringConvertible {
    let testDescription: String
    let apply: @Sendable (_ first: List, _ second: List) -> List

    init(_ name: String, _ apply: @escaping @Sendable (_ first: List, _ second: List) -> List) {
      (testDescription, self.apply) = (name, apply)
    }
  }

  static let shapes = [
    Shape("first + second") { $0 + $1 },
    Shape("first + (second + more)") { $0 + ($1 + List([8, 9])) },
    Shape("(first + second) + more") { ($0 + $1) + List([8, 9]) },
    Shape("map of both") { first, second in (first + (second + List([8]))).map { $0 } },
    Shape("filter of the second") { first, second in first + second.filter { _ in true } },
    Shape("asynchronous map of the second") { $0 + $1.mapAsync { $0 } },
    Shape("asynchronous map of both") { first, second in (first + second).mapAsync { $0 } },
    Shape("joined") { first, second in LazyList([first, second, List([8])]).joined() },
    Shape("flatMap") { first, second in
      LazyList([0, 1, 2]).flatMap { $0 == 0 ? first : $0 == 1 ? second : List([8]) }
    },
    Shape("catch") { first, second in
      first + List.failing(Mishap(position: 1)).catch { _ in second + List([8]) }
    },
    Shape("onEach, dropFirst") { first, second in
      (List([0, 0]) + (first + second).onEach { _ in }).dropFirst(2)
    },
    Shape("zip") { first, second in zip(first + second, List(1...)).map { $0 + $1 } },
    Shape("chunks") { first, second in
      (first + second).chunks(ofCount: 2).flatMap { List(Array($0)) }
    },
  ]

  enum Question: CaseIterable {
    case array, reduce, iteration, count, span

    func ask(_ list: List) async throws {
      switch self {
      case .array: _ = try await list.array()
      case .reduce: _ = try await list.reduce(0) { $0 + $1 }
      case .iteration: for try await _ in list {}
      case .count: _ = try await list.count()
      case .span: try await list.forEachSpan { _ in }
      }
    }
  }

  enum Kind: CaseIterable { case plain, asynchronous, suspending }

  /// Gives elements; the attempts at some of them fail once.
  private static func failing(
    _ kind: Kind, at positions: Set<Int>, of count: Int, _ attempts: Probe<Int>
  ) -> List {
    @Sendable func play(_ state: inout Int) throws -> Int? {
      guard state < count else { return nil }
      attempts.record(state)
      if positions.contains(state), attempts.values.count(where: { $0 == state }) == 1 {
        throw Mishap(position: state)
      }
      state += 1
      return state
    }
    return switch kind {
    case .plain: List(state: 0, retryingFailures: true) { state throws in try play(&state) }
    case .asynchronous:
      List(state: 0, retryingFailures: true) { state async throws in try play(&state) }
    case .suspending:
      List(state: 0, retryingFailures: true) { state async throws in
        await Task.yield()
        return try play(&state)
      }
    }
  }

  @Test(
    "each failure is told once, to whoever wants all, wherever the cells are",
    arguments: shapes, Kind.allCases)
  func told(_ shape: Shape, _ kind: Kind) async {
    var wrong: [String] = []
    for first in [0, 1, 2, 6, 7, 8, 9, 20] {
      for failure in stride(from: first % 3, to: 20, by: Size.usual(3, full: 1)) {
        for question in Question.allCases {
          let attempts = Probe<Int>()
          let positions: Set = [failure, failure + 1, failure + 9]
          let second = Self.failing(kind, at: positions, of: 24, attempts)
          let list = shape.apply(List(0..<first), second)
          var told: [Int] = []
          if failure % 2 == 1 {
            do { _ = try await list.element(at: first / 2) } catch {
              told.append((error as? Mishap)?.position ?? -1)
            }
          }
          while told.count < 8 {
            do {
              try await question.ask(list)
              break
            } catch { told.append((error as? Mishap)?.position ?? -1) }
          }
          if told != positions.filter({ $0 < 24 }).sorted() {
            wrong.append("\(first), \(failure), \(question): \(told)")
          }
        }
      }
    }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(3))")
  }
}
