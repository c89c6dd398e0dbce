import Tailrace
import TailraceTesting
import Testing

/// `TAILRACE_STARTS` sets how many lists are read, `TAILRACE_SEED` where they begin.
@Suite("Steps that are over before whoever started them goes on", .hangLimit, .inTurn)
struct SlowStartTests {
  @Test("the elements before a failure, and then the failure, to everybody, for ever")
  func failing() async {
    await Fuzz.run(
      SlowStart.self,
      rounds: RandomCases.count("TAILRACE_STARTS", debug: 300, optimised: 3_000, full: 10))
  }
}

/// Closures that run side by side, one of which fails, on an executor that is slow to start them.
struct SlowStart: FuzzCase {
  enum Kind: CaseIterable { case concurrentMap, unordered, overPrefetching, retried, twice }

  var kind: Kind
  var limit: Int
  var length: Int
  /// The element whose closure fails.
  var failing: Int
  /// How many turns a step of the source takes, and how many a closure.
  var pauses: (source: Int, closure: Int)
  var slowness: Int
  var seed: UInt64
  var readers: Int

  init(_ generator: inout SeededGenerator) {
    kind = Kind.allCases.randomElement(using: &generator)!
    limit = Int.random(in: 2...4, using: &generator)
    length = Int.random(in: 4...16, using: &generator)
    failing = Int.random(in: 0..<length, using: &generator)
    pauses = (Int.random(in: 0...2, using: &generator), Int.random(in: 0...2, using: &generator))
    slowness = Int.random(in: 0...300, using: &generator)
    seed = UInt64.random(in: 0..<1000, using: &generator)
    readers = Int.random(in: 1...2, using: &generator)
  }

  var executor: PerturbingExecutor {
    PerturbingExecutor(seed: seed, slowness: .microseconds(slowness))
  }

  var description: String {
    """
    \(kind), limit \(limit), \(length) elements, \(failing) fails, turns \(pauses), \
    \(readers) readers on \(executor)
    """
  }

  var smaller: [SlowStart] {
    var cases: [SlowStart] = []
    func add(_ change: (inout SlowStart) -> Void) {
      var smaller = self
      change(&smaller)
      cases.append(smaller)
    }
    if kind != .concurrentMap { add { $0.kind = .concurrentMap } }
    if readers > 1 { add { $0.readers = 1 } }
    if limit > 2 { add { $0.limit = 2 } }
    if length > failing + 1 { add { $0.length = failing + 1 } }
    if failing > 0 { add { $0.failing -= 1 } }
    if pauses.source > 0 { add { $0.pauses.source = 0 } }
    if pauses.closure > 0 { add { $0.pauses.closure = 0 } }
    return cases
  }

  func problems() async -> [String] {
    let (list, executor, problems) = (list(), executor, Probe<String>())
    await withTaskGroup { group in
      for reader in 0..<readers {
        group.addTask(executorPreference: executor) {
          var seen: [Int] = []
          do {
            if reader == 0 {
              for try await element in list { seen.append(element) }
            } else {
              seen = try await list.array()
            }
            problems.record("\(seen), and then the end")
          } catch {
            guard error as? Mishap == Mishap(position: failing) else {
              return problems.record("\(error)")
            }
            if reader == 0, !isRight(seen) { problems.record("\(seen), and then the failure") }
          }
        }
      }
    }
    // It is remembered.
    if await (try? list.count()) != nil { problems.record("it has an end afterwards") }
    return problems.values
  }

  /// The elements before a failure.
  private func isRight(_ elements: [Int]) -> Bool {
    if kind == .unordered {
      return Set(elements).count == elements.count && !elements.contains(failing)
    }
    return elements == Array(0..<failing)
  }

  private func list() -> LazyList<Int, any Error> {
    let (pauses, length, failing) = (pauses, length, failing)
    let source = LazyList<Int, Never>(state: 0) { position async -> Int? in
      for _ in 0..<pauses.source { await Task.yield() }
      position += 1
      return position <= length ? position - 1 : nil
    }
    let step: @Sendable (Int) async throws -> Int = { element in
      for _ in 0..<pauses.closure { await Task.yield() }
      if element == failing { throw Mishap(position: element) }
      return element
    }
    switch kind {
    case .concurrentMap: return source.concurrentMap(limit: limit, step)
    case .unordered: return source.concurrentMapUnordered(limit: limit, step)
    case .overPrefetching: return source.prefetching(2).concurrentMap(limit: limit, step)
    case .retried: return source.concurrentMap(limit: limit, retryingFailures: true, step)
    case .twice:
      return source.concurrentMap(limit: limit) { $0 }.concurrentMap(limit: limit, step)
    }
  }
}
