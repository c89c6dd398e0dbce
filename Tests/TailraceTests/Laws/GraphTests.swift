import Dispatch
import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

/// Lists whose steps read earlier elements of each other: no element needs itself.
///
/// `TAILRACE_SCHEDULES` sets how many graphs are read, `TAILRACE_SEED` where they begin.
@Suite("Lists that feed each other, in random graphs without a cycle", .inTurn)
struct GraphTests {
  private static let graphs = RandomCases.count("TAILRACE_SCHEDULES", debug: 60, optimised: 5_000)

  @Test("where lists cannot fail", .timeLimit(.minutes(30)))
  func never() async { await run(Never.self) }

  @Test("where lists can fail", .timeLimit(.minutes(30)))
  func anyError() async { await run((any Error).self) }

  private func run<Failure: Error>(_: Failure.Type) async {
    for number in 0..<Self.graphs {
      let seed = RandomCases.firstSeed &+ UInt64(number)
      let problems = await Graph<Failure>(seed: seed).read()
      guard problems.isEmpty else {
        Issue.record("TAILRACE_SEED=\(seed): \(problems.prefix(4).joined(separator: "; "))")
        return
      }
    }
  }

  @Test("a chain of lists that pass one element around", .timeLimit(.minutes(5)), arguments: 2...4)
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

/// A random graph of lists, what its elements must be, and some readers.
struct Graph<Failure: Error>: Sendable {
  /// An element that a step reads, and the way in which it does.
  struct Need: Sendable {
    let list: Int
    let index: Int
    let way: Int
  }

  struct Node: Sendable {
    let needs: [Need]
    let pause: Int
  }

  let nodes: [[Node]]
  let values: [[Int]]
  private let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed
    var generator = SeededGenerator(seed: seed)
    let count = Int.random(in: 2...5, using: &generator)
    let length = Int.random(in: 5...40, using: &generator)
    nodes = (0..<count).map { list in
      (0..<length).map { index in
        let needs = (0..<Int.random(in: 0...2, using: &generator)).compactMap { _ -> Need? in
          let other = Int.random(in: 0..<count, using: &generator)
          // The same position of the lists before it, and earlier ones of all.
          let end = other < list ? index + 1 : index
          guard end > 0 else { return nil }
          let isLast = Bool.random(using: &generator)
          return Need(
            list: other, index: isLast ? end - 1 : Int.random(in: 0..<end, using: &generator),
            way: Int.random(in: 0...6, using: &generator))
        }
        return Node(needs: needs, pause: Int.random(in: 0...7, using: &generator))
      }
    }
    var values = [[Int]](repeating: [], count: count)
    for index in 0..<length {
      for list in 0..<count {
        values[list].append(
          nodes[list][index].needs.reduce(1) { ($0 + values[$1.list][$1.index]) & 0xFFFF })
      }
    }
    self.values = values
  }

  /// Reads the lists in several tasks. Returns what was wrong.
  func read() async -> [String] {
    let lists = Locked([LazyList<Int, Failure>]())
    let (steps, problems) = (Probe<[Int]>(), Probe<String>())
    let made = nodes.indices.map { number in
      Steps<Int, Failure>(nodes[number].count) { position async throws(Failure) in
        steps.record([number, position])
        return try await compute(number, position, lists.withLock { $0 })
      }.memoized().named("list \(number)")
    }
    lists.withLock { $0 = made }
    var generator = SeededGenerator(seed: ~seed)
    await withTaskGroup { group in
      for _ in 0..<Int.random(in: 2...8, using: &generator) {
        let number = Int.random(in: 0..<made.count, using: &generator)
        let (kind, leaves) = (
          Int.random(in: 0...4, using: &generator), Int.random(in: 0...4, using: &generator) == 0
        )
        let turns = Int.random(in: 0...20, using: &generator)
        group.addTask {
          let reader = Task { await read(made[number], number, kind, problems) }
          if leaves {
            for _ in 0..<turns { await Task.yield() }
            reader.cancel()
          }
          await reader.value
        }
      }
    }
    lists.withLock { $0 = [] }
    // Looked at once: a step that nobody waits for any more may begin meanwhile.
    let ran = steps.values
    if Set(ran).count != ran.count { problems.record("a step ran twice") }
    return problems.values
  }

  private func compute(
    _ number: Int, _ position: Int, _ lists: [LazyList<Int, Failure>]
  ) async throws(Failure) -> Int {
    switch nodes[number][position].pause {
    case 0: await Task.yield()
    case 1:
      await withUnsafeContinuation { continuation in
        DispatchQueue.global().async { continuation.resume() }
      }
    default: break
    }
    // A step that was wanted by somebody who has left since: there is nobody to see what it gives.
    guard !lists.isEmpty else { return 0 }
    var sum = 1
    for need in nodes[number][position].needs {
      sum += try await value(of: need, in: lists[need.list]) ?? -1
    }
    return sum & 0xFFFF
  }

  private func value(
    of need: Need, in list: LazyList<Int, Failure>
  ) async throws(Failure) -> Int? {
    let index = need.index
    switch need.way {
    case 0: return try await list.element(at: index)
    case 1: return try await list.dropFirst(index).head()
    case 2: return try await list.dropFirst(index).map { $0 }.head()
    case 3: return try await list.dropFirst(index).mapAsync { $0 }.head()
    case 4: return try await list.prefix(index + 1).last()
    case 5:
      async let element = Result(catching: list, index)
      return try await element.get()
    default:
      let results = await withTaskGroup(of: Result<Int?, Failure>.self) { group in
        for _ in 0..<2 { group.addTask { await Result(catching: list, index) } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      return try results[0].get()
    }
  }

  private func read(
    _ list: LazyList<Int, Failure>, _ number: Int, _ kind: Int, _ problems: Probe<String>
  ) async {
    let expected = values[number]
    do throws(Failure) {
      switch kind {
      case 0: if try await list.array() != expected { problems.record("array of \(number)") }
      case 1:
        var (position, iterator) = (0, list.makeAsyncIterator())
        while let element = try await iterator.next(isolation: nil) {
          if element != expected[position] { problems.record("\(number)[\(position)]") }
          position += 1
        }
        if position < expected.count, !Task.isCancelled { problems.record("\(number) is short") }
      case 2:
        for position in [expected.count - 1, 0, expected.count / 2] {
          if try await list.element(at: position) != expected[position] {
            problems.record("\(number)[\(position)]")
          }
        }
      case 3:
        if try await list.map({ $0 }).reduce(0, +) != expected.reduce(0, +) {
          problems.record("sum of \(number)")
        }
      default:
        if try await list.mapAsync({ $0 }).count() != expected.count {
          problems.record("count of \(number)")
        }
      }
    } catch {
      if !(error is CancellationError && Task.isCancelled) { problems.record("\(error)") }
    }
  }
}

extension Result where Success == Int? {
  /// The element at a position, or why there is none.
  fileprivate init(catching list: LazyList<Int, Failure>, _ index: Int) async {
    do throws(Failure) {
      self = .success(try await list.element(at: index))
    } catch {
      self = .failure(error)
    }
  }
}
