import Tailrace
import TailraceTesting
import Testing

/// One operator, as the laws see it. A new operator adds a row to `Row.all`.
struct Row: Sendable, Testing.CustomTestStringConvertible {
  typealias Source = LazyList<Int, any Error>

  let name: String
  /// How many elements of the source the head, and then the second element, need.
  let forHead: Int
  let forSecond: Int
  /// How many more it may pull, beside those who read.
  let ahead: Int
  /// Whether a failure of its source is not one of its own.
  let recovers: Bool
  /// Its elements for a source of 1, 2, 3, 4, 5, 6.
  let elements: [Int]
  let apply: @Sendable (Source, Calls) -> Source

  /// - Parameter apply: its result has no type but its own. `AsyncSequence` has operators of the same
  ///   names, which memoize nothing: if one of them is chosen, the row says so.
  init<Result: AsyncSequence & SendableMetatype>(
    _ name: String, _ forHead: Int, _ forSecond: Int, _ elements: [Int], ahead: Int = 0,
    recovers: Bool = false,
    _ apply: @escaping @Sendable (Source, Calls) -> Result
  ) {
    self.name = name
    self.forHead = forHead
    self.forSecond = forSecond
    self.elements = elements
    self.ahead = ahead
    self.recovers = recovers
    self.apply = { source, calls in
      guard let list = apply(source, calls) as? Source else {
        fatalError(
          "the row `\(name)` gives \(Result.self), not a list that fails as its source does: only the "
            + "plain throwing kind of an operator is @_disfavoredOverload")
      }
      return list
    }
  }

  var testDescription: String { name }
}

/// The calls of an operator's closures, in each of the four kinds.
struct Calls: Sendable {
  let probe = Probe<Int>()
  /// The task-local word that each call saw.
  let words = Probe<String>()
  /// Called by an asynchronous closure before it gives its result.
  var beforeAsync: @Sendable (Int) async -> Void = { _ in }

  func plain<T>(_ element: Int, _ result: T) -> T {
    probe.record(element)
    words.record(ContextTests.word)
    return result
  }

  func throwing<T>(_ element: Int, _ result: T) throws -> T { plain(element, result) }

  func async<T: Sendable>(_ element: Int, _ result: T) async -> T {
    await Task.yield()
    await beforeAsync(element)
    return plain(element, result)
  }

  func asyncThrowing<T: Sendable>(_ element: Int, _ result: T) async throws -> T {
    await async(element, result)
  }
}

/// Where the elements come from: 1, 2, 3 … up to a number, each pull recorded.
enum SourceKind: CaseIterable, Sendable {
  case plain
  case asynchronous
  case asyncSequence

  func make(upTo last: Int = 6, _ pulls: Probe<Int>, failingAt failure: Int? = nil) -> Row.Source {
    switch self {
    case .plain:
      return Row.Source(state: 0) { state throws in
        try Self.step(&state, last, pulls, failure)
      }
    case .asynchronous:
      return Row.Source(state: 0) { state async throws in
        await Task.yield()
        return try Self.step(&state, last, pulls, failure)
      }
    case .asyncSequence:
      return Pulled(last: last, pulls: pulls, failure: failure).memoized()
    }
  }

  static func step(
    _ state: inout Int, _ last: Int, _ pulls: Probe<Int>, _ failure: Int?
  ) throws -> Int? {
    pulls.record(state + 1)
    if state + 1 == failure { throw Mishap(position: state) }
    guard state < last else { return nil }
    state += 1
    return state
  }

  private struct Pulled: AsyncSequence {
    typealias Element = Int
    typealias Failure = any Error

    let last: Int
    let pulls: Probe<Int>
    let failure: Int?

    func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

    struct Iterator: AsyncIteratorProtocol {
      let sequence: Pulled
      var state = 0

      mutating func next(isolation actor: isolated (any Actor)?) async throws -> Int? {
        try SourceKind.step(&state, sequence.last, sequence.pulls, sequence.failure)
      }

      mutating func next() async throws -> Int? { try await next(isolation: nil) }
    }
  }
}
