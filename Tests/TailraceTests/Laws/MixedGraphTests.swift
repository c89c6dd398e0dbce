import Dispatch
import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

/// `TAILRACE_GRAPHS` sets how many graphs are read, `TAILRACE_SEED` where they begin.
@Suite(
  "Lists and memos of every kind that read each other, without a cycle", .tags(.long), .hangLimit,
  .inTurn)
struct MixedGraphTests {
  @Test("end, name no cycle, and give each element, after one step")
  func graphs() async {
    await Fuzz.run(
      MixedGraph.self,
      rounds: RandomCases.count(
        "TAILRACE_GRAPHS", usual: 100, debug: 200, optimised: 4_000, full: 10))
  }

  @Test(
    "each kind, alone and read by a list of each other kind", arguments: MixedGraph.Kind.allCases)
  func pairs(_ kind: MixedGraph.Kind) async {
    for other in MixedGraph.Kind.allCases {
      let problems = await MixedGraph(reading: kind, by: other).problems()
      #expect(problems == [], "\(other)")
    }
  }

  @Test("a list that looks ahead, and one whose steps need it and that it needs, again and again")
  func ahead() async {
    let rounds = RandomCases.count(
      "TAILRACE_GRAPHS", usual: 200, debug: 500, optimised: 5_000, full: 10)
    for _ in 0..<rounds {
      let problems = await MixedGraph(reading: .prefetching, by: .concatenated).problems()
      #expect(problems == [])
      if !problems.isEmpty { return }
    }
  }
}

/// A random graph: element *i* of a node needs earlier elements of all nodes, and element *i* of those
/// before it.
struct MixedGraph: FuzzCase {
  typealias List = LazyList<Int, any Error>

  /// How a node is made.
  enum Kind: CaseIterable {
    case state, sequence, map, mapThrowing, overList, filter, concurrentMap, concurrentMapThrowing
    case unordered, prefetching, flatMap, bind, reductions, zipped, concatenated, deferred
    case headAndTail, recursive, caught, plainLayers, memos, memoOfEach
  }

  /// An element that a step reads, and the way in which it does.
  struct Need {
    var node: Int
    var index: Int
    var way: Int
  }

  struct Step {
    var needs: [Need] = []
    var pause = 0
  }

  struct Reader {
    var node: Int
    var question: Int
    /// After how many turns it is cancelled.
    var leavesAfter: Int?
  }

  var kinds: [Kind]
  /// By node and position.
  var steps: [[Step]]
  var readers: [Reader]
  var executor: Perturbation

  init(_ generator: inout SeededGenerator) {
    let count = Int.random(in: 2...5, using: &generator)
    let length = Int.random(in: 3...24, using: &generator)
    kinds = (0..<count).map { _ in Kind.allCases.randomElement(using: &generator)! }
    steps = (0..<count).map { node in
      (0..<length).map { index in
        let needs = (0..<Int.random(in: 0...2, using: &generator)).compactMap { _ -> Need? in
          let other = Int.random(in: 0..<count, using: &generator)
          let end = other < node ? index + 1 : index
          guard end > 0 else { return nil }
          let isLast = Bool.random(using: &generator)
          return Need(
            node: other, index: isLast ? end - 1 : Int.random(in: 0..<end, using: &generator),
            way: Int.random(in: 0..<Self.ways, using: &generator))
        }
        return Step(needs: needs, pause: Int.random(in: 0...9, using: &generator))
      }
    }
    readers = (0..<Int.random(in: 1...7, using: &generator)).map { _ in
      Reader(
        node: Int.random(in: 0..<count, using: &generator),
        question: Int.random(in: 0...8, using: &generator),
        leavesAfter: Int.random(in: 0...4, using: &generator) == 0
          ? Int.random(in: 0...20, using: &generator) : nil)
    }
    executor = Perturbation(&generator)
  }

  /// Two nodes, each of which reads all earlier elements of the other.
  init(reading kind: Kind, by other: Kind) {
    kinds = [kind, other]
    steps = (0..<2).map { node in
      (0..<12).map { index in
        let needs = (index > 0 ? [Need(node: 1 - node, index: index - 1, way: index)] : [])
        return Step(
          needs: node == 1 ? needs + [Need(node: 0, index: index, way: index + 3)] : needs,
          pause: index)
      }
    }
    readers = (0..<6).map { Reader(node: $0 % 2, question: $0, leavesAfter: nil) }
    executor = .none
  }

  var length: Int { steps[0].count }

  /// The elements of each node.
  var values: [[Int]] {
    var values = [[Int]](repeating: [], count: kinds.count)
    for index in 0..<length {
      for node in kinds.indices {
        values[node].append(
          steps[node][index].needs.reduce(1) { ($0 + values[$1.node][$1.index]) & 0xFFFF })
      }
    }
    return values
  }

  var description: String {
    let nodes = kinds.indices.map { node in
      let needs = steps[node].enumerated().filter { !$1.needs.isEmpty }.map { index, step in
        "\(index) ← "
          + step.needs.map { "\($0.node)[\($0.index)] by way \($0.way)" }.joined(separator: " and ")
      }
      return "\(node) \(kinds[node]): \(needs.joined(separator: ", "))"
    }
    let readers = readers.map { reader in
      "\(reader.question) of \(reader.node)"
        + (reader.leavesAfter.map { ", cancelled after \($0)" } ?? "")
    }
    return """
      \(length) elements, executor \(executor)
        nodes \(nodes.joined(separator: "\n        "))
        readers \(readers.joined(separator: "; "))
        pauses \(steps.map { $0.map(\.pause) })
      """
  }

  var smaller: [MixedGraph] {
    var cases: [MixedGraph] = []
    func add(_ change: (inout MixedGraph) -> Void) {
      var smaller = self
      change(&smaller)
      cases.append(smaller)
    }
    if length > 1 {
      for fewer in Set([length / 2, length - 1]).sorted() {
        add { graph in graph.steps = graph.steps.map { Array($0.prefix(fewer)) } }
      }
    }
    if kinds.count > 1 {
      for node in kinds.indices { add { $0.remove(node) } }
    }
    for reader in readers.indices where readers.count > 1 { add { $0.readers.remove(at: reader) } }
    if executor != .none { add { $0.executor = .none } }
    for node in kinds.indices {
      for index in steps[node].indices {
        for need in steps[node][index].needs.indices {
          add { $0.steps[node][index].needs.remove(at: need) }
        }
      }
      if kinds[node] != .state { add { $0.kinds[node] = .state } }
      if steps[node].contains(where: { $0.pause < 9 }) {
        add { graph in for index in graph.steps[node].indices { graph.steps[node][index].pause = 9 }
        }
      }
    }
    return cases
  }

  private mutating func remove(_ node: Int) {
    kinds.remove(at: node)
    steps.remove(at: node)
    steps = steps.map { steps in
      steps.map { step in
        Step(
          needs: step.needs.filter { $0.node != node }.map { need in
            Need(
              node: need.node > node ? need.node - 1 : need.node, index: need.index, way: need.way)
          }, pause: step.pause)
      }
    }
    readers = readers.compactMap { reader in
      guard reader.node != node else { return nil }
      var reader = reader
      if reader.node > node { reader.node -= 1 }
      return reader
    }
  }

  // MARK: Running

  func problems() async -> [String] { await problems(on: executor.make()) }

  /// Reads the nodes in tasks that prefer an executor.
  func problems(on executor: (any TaskExecutor)?) async -> [String] {
    let run = Run(graph: self)
    let made = kinds.indices.map { node in
      kinds[node].make(length, title: "\(node)") { try await run.compute(node, $0) }
    }
    run.nodes.withLock { $0 = made }
    let values = values
    await withTaskGroup { group in
      for reader in readers {
        group.addTask {
          let task = Task(executorPreference: executor) {
            await run.read(made[reader.node], reader, values[reader.node])
          }
          if let turns = reader.leavesAfter {
            for _ in 0..<turns { await Task.yield() }
            task.cancel()
          }
          await task.value
        }
      }
    }
    run.nodes.withLock { $0 = [] }
    // Looked at once: a step that nobody waits for any more may begin meanwhile.
    let ran = run.ran.values
    if Set(ran).count != ran.count { run.problems.record("a step ran twice") }
    return run.problems.values
  }

  fileprivate struct Run: Sendable {
    let graph: MixedGraph
    let nodes = Holder()
    let ran = Probe<[Int]>()
    let problems = Probe<String>()

    final class Holder: Sendable {
      private let nodes = Locked([Made]())
      func withLock(_ body: (inout [Made]) -> Void) { nodes.withLock { body(&$0) } }
      var value: [Made] { nodes.withLock { $0 } }
    }
  }
}

/// How a node is read.
enum Made: Sendable {
  case list(LazyList<Int, any Error>)
  case memos(Memos<Int, Int, any Error>)
  case each([Memo<Int, any Error>])

  func element(at index: Int) async throws -> Int? {
    switch self {
    case .list(let list): try await list.element(at: index)
    case .memos(let memos): try await memos.value(for: index)
    case .each(let memos): try await memos[index].value()
    }
  }
}

extension MixedGraph.Kind {
  fileprivate func make(
    _ length: Int, title: String, _ compute: @escaping @Sendable (Int) async throws -> Int
  ) -> Made {
    let positions = LazyList<Int, Never>(0..<length)
    let throwing = positions.map { position async throws in try await compute(position) }
    // For closures that cannot throw: what is thrown is not an element of the model.
    let calm: @Sendable (Int) async -> Int = { (try? await compute($0)) ?? -1 }
    let state = MixedGraph.List(state: 0) { position async throws -> Int? in
      guard position < length else { return nil }
      let element = try await compute(position)
      position += 1
      return element
    }
    switch self {
    case .state: return .list(state.named(title))
    case .sequence: return .list(Steps(length, compute).memoized().named(title))
    case .map: return .list(positions.mapAsync(calm).setFailureType().named(title))
    case .mapThrowing: return .list(throwing.named(title))
    case .overList:
      let below = Steps<Int, any Error>(length) { position in
        if position % 3 == 0 { await Task.yield() }
        return position
      }.memoized()
      return .list(below.map { position async throws in try await compute(position) }.named(title))
    case .filter:
      return .list(
        throwing.filter { _ async in
          await Task.yield()
          return true
        }.named(title))
    case .concurrentMap:
      return .list(positions.concurrentMap(limit: 3, calm).setFailureType().named(title))
    case .concurrentMapThrowing:
      return .list(
        positions.concurrentMap(limit: 2) { position async throws in try await compute(position) }
          .named(title))
    case .unordered:
      return .list(positions.concurrentMapUnordered(limit: 1, calm).setFailureType().named(title))
    case .prefetching: return .list(state.prefetching(2).named(title))
    case .flatMap:
      return .list(
        positions.flatMap { position async throws in
          MixedGraph.List([try await compute(position)])
        }.named(title))
    case .bind:
      return .list(
        positions.map { position async throws in
          MixedGraph.List([try await compute(position)])
        }.bind { list, _ in list }.named(title))
    case .reductions:
      return .list(
        positions.reductions(0) { _, position async throws in try await compute(position) }
          .named(title))
    case .zipped: return .list(positions.setFailureType().zip(throwing).map { $0.1 }.named(title))
    case .concatenated:
      return .list((throwing.prefix(length / 2) + throwing.dropFirst(length / 2)).named(title))
    case .deferred:
      return .list(
        .deferred { () async throws in
          await Task.yield()
          return state
        })
    case .headAndTail:
      @Sendable func from(_ position: Int) -> MixedGraph.List {
        position == length
          ? .empty
          : MixedGraph.List(
            head: { () async throws in try await compute(position) },
            tail: { () async throws in from(position + 1) })
      }
      return .list(from(0))
    case .recursive:
      return .list(
        .recursive { own in
          positions.map { position async throws in
            if position > 0 { _ = try await own.element(at: position - 1) }
            return try await compute(position)
          }
        })
    case .caught:
      return .list(
        throwing.catch { failure async in MixedGraph.List.failing(failure) }.named(title))
    case .plainLayers:
      return .list(throwing.map { $0 }.filter { _ in true }.prefix(length).map { $0 }.named(title))
    case .memos: return .memos(Memos { position async throws in try await compute(position) })
    case .memoOfEach:
      return .each(
        (0..<length).map { position in Memo { () async throws in try await compute(position) } })
    }
  }
}

// MARK: Steps

extension MixedGraph {
  /// How many ways there are to read an element.
  fileprivate static let ways = 14

  fileprivate static func read(_ node: Made, _ need: Need) async throws -> Int? {
    let index = need.index
    switch need.way % ways {
    case 0:
      async let element = node.element(at: index)
      return try await element
    case 1:
      return try await withThrowingTaskGroup(of: Int?.self) { group in
        for _ in 0..<2 { group.addTask { try await node.element(at: index) } }
        var element: Int?
        for try await one in group { element = one }
        return element
      }
    case 2: return try await Task { try await node.element(at: index) }.value
    case 3:
      return try await withTaskExecutorPreference(elsewhere) { try await node.element(at: index) }
    default: break
    }
    guard case .list(let list) = node else { return try await node.element(at: index) }
    switch need.way % ways {
    case 4: return try await list.dropFirst(index).head()
    case 5: return try await list.dropFirst(index).map { $0 }.head()
    case 6: return try await list.dropFirst(index).mapAsync { $0 }.head()
    case 7: return try await list.prefix(index + 1).last()
    case 8: return try await list.dropFirst(index).uncons()?.head
    case 9: return try await list.prefix(index + 1).array().last
    case 10: return try await list.dropFirst(index).prefetching(1).head()
    case 11: return try await list.dropFirst(index).concurrentMap(limit: 2) { $0 }.head()
    case 12:
      var iterator = list.dropFirst(max(0, index - 1)).makeAsyncIterator()
      if index > 0 { _ = try await iterator.next(isolation: nil) }
      return try await iterator.next(isolation: nil)
    default: return try await list.element(at: index)
    }
  }

  private static let elsewhere = PerturbingExecutor(seed: 0)
}

extension MixedGraph.Run {
  func compute(_ node: Int, _ position: Int) async throws -> Int {
    ran.record([node, position])
    let step = graph.steps[node][position]
    switch step.pause {
    case 0, 1: await Task.yield()
    case 2: for _ in 0..<5 { await Task.yield() }
    case 3:
      await withUnsafeContinuation { continuation in
        DispatchQueue.global().async { continuation.resume() }
      }
    default: break
    }
    let nodes = nodes.value
    // A step that was wanted by somebody who has left since: there is nobody to see what it gives.
    guard !nodes.isEmpty else { return 0 }
    var sum = 1
    for need in step.needs {
      do {
        sum += try await MixedGraph.read(nodes[need.node], need) ?? -1
      } catch {
        // Only a step that nobody wants any more is cancelled.
        if !(error is CancellationError) { problems.record("step \(node)[\(position)]: \(error)") }
        throw error
      }
    }
    return sum & 0xFFFF
  }

  func read(_ node: Made, _ reader: MixedGraph.Reader, _ expected: [Int]) async {
    let name = "question \(reader.question) of \(reader.node)"
    do {
      guard try await answer(node, reader.question, expected) || Task.isCancelled else {
        problems.record("\(name): a wrong answer")
        return
      }
    } catch is CancellationError where Task.isCancelled {
    } catch {
      problems.record("\(name): \(error)")
    }
  }

  /// Whether the answer is right.
  private func answer(_ node: Made, _ question: Int, _ expected: [Int]) async throws -> Bool {
    guard case .list(let list) = node else {
      let indices = Array(expected.indices)
      for index in question % 2 == 0 ? indices : indices.reversed() {
        guard try await node.element(at: index) == expected[index] else { return false }
      }
      return true
    }
    switch question {
    case 0: return try await list.array() == expected
    case 1:
      var (position, iterator) = (0, list.makeAsyncIterator())
      while let element = try await iterator.next(isolation: nil) {
        guard position < expected.count, element == expected[position] else { return false }
        position += 1
      }
      return position == expected.count
    case 2:
      for index in [expected.count - 1, 0, expected.count / 2] {
        guard try await list.element(at: index) == expected[index] else { return false }
      }
      return true
    case 3: return try await list.map { $0 }.sum() == expected.reduce(0, +)
    case 4: return try await list.mapAsync { $0 }.count() == expected.count
    case 5: return try await list.prefetching(2).array() == expected
    case 6: return try await list.concurrentMap(limit: 3) { $0 }.array() == expected
    case 7:
      let half = expected.count / 2
      return try await list.prefix(half).array() == Array(expected.prefix(half))
    default:
      var (rest, position) = (list, 0)
      while let (head, tail) = try await rest.uncons() {
        guard position < expected.count, head == expected[position] else { return false }
        (rest, position) = (tail, position + 1)
      }
      return position == expected.count
    }
  }
}

/// Where the tasks of a case run.
enum Perturbation: Equatable, Sendable, CustomStringConvertible {
  case none
  case serial(UInt64, reordering: Int)
  case slow(UInt64)
  case reordering(UInt64)

  init(_ generator: inout SeededGenerator) {
    let seed = UInt64.random(in: 0..<1000, using: &generator)
    self =
      switch Int.random(in: 0...9, using: &generator) {
      case 0: .serial(seed, reordering: 0)
      case 1: .serial(seed, reordering: 3)
      case 2: .slow(seed)
      case 3: .reordering(seed)
      default: .none
      }
  }

  func make() -> PerturbingExecutor? {
    switch self {
    case .none: nil
    case .serial(let seed, let reordering):
      PerturbingExecutor(seed: seed, isSerial: true, reordering: reordering)
    case .slow(let seed):
      PerturbingExecutor(seed: seed, slowness: .microseconds(100), reordering: 1)
    case .reordering(let seed): PerturbingExecutor(seed: seed, reordering: 3)
    }
  }

  var description: String { make().map { "\($0)" } ?? "none" }
}
