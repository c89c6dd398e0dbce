import Tailrace
import Testing

@testable import TailraceLists
@testable import TailraceMemos

/// A graph beside sets of edges, which are searched from the beginning each time.
private struct GraphModel: Explorable {
  enum Event: Hashable {
    case begin(Int), restart(Int), ask(Int, by: Int, looks: Bool)
    case settle(Int, isChanged: Bool), refresh(Int), fail(Int)
    case outdate(Int, isKept: Bool), expire(Int), doubt(Int), confirm(Int)
  }

  struct Key: Hashable { let text: String }

  typealias Freshness = DependencyGraph.Freshness

  /// Edges lead from keys with higher numbers to lower ones.
  let keys: Int
  /// A computation whose inputs are refreshed begins again once at most.
  var graph = DependencyGraph(mostRestarts: 1)
  var restarted: Set<Int> = []
  var running: [Int: UInt32] = [:]
  var asked: [Int: Set<[Int]>] = [:]
  var inputs: [Int: Set<[Int]>] = [:]
  var freshness: [Int: Freshness] = [:]
  var overturned: Set<Int> = []
  var late: Set<Int> = []
  /// Which results a computation may have got although they are not fresh.
  var shown: Set<Int> = []
  /// Which keys have had a result.
  var results: Set<Int> = []
  var violation: String?

  var key: Key {
    Key(
      text: "\(running.keys.sorted()) \(sorted(asked)) \(sorted(inputs)) "
        + "\((0..<keys).map { freshness[$0] ?? .fresh }) \(overturned.sorted()) \(late.sorted()) "
        + "\(restarted.sorted()) \(results.sorted()) \(shown.sorted())"
    )
  }

  private func sorted(_ edges: [Int: Set<[Int]>]) -> [String] {
    edges.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map {
      "\($0.key): \($0.value.sorted { $0.lexicographicallyPrecedes($1) })"
    }
  }

  var events: [Event] {
    var events: [Event] = []
    for key in 0..<keys {
      let state = freshness[key] ?? .fresh
      if running[key] == nil {
        events.append(.begin(key))
      } else {
        for other in 0..<key {
          events += [.ask(other, by: key, looks: false), .ask(other, by: key, looks: true)]
        }
        if !overturned.contains(key) {
          // Only what was not served may be said to have come out equal.
          events += [.settle(key, isChanged: true), .settle(key, isChanged: false)]
          if state == .fresh { events.append(.refresh(key)) }
        }
        if overturned.contains(key) { events.append(.restart(key)) }
        events.append(.fail(key))
      }
      events += [.outdate(key, isKept: true), .outdate(key, isKept: false)]
      events.append(.expire(key))
      if state == .fresh { events.append(.doubt(key)) }
      if state == .doubtful, isConfirmed(key) { events.append(.confirm(key)) }
    }
    return events
  }

  private func isConfirmed(_ key: Int) -> Bool {
    (inputs[key] ?? []).allSatisfy { (freshness[$0[0]] ?? .fresh) == .fresh }
  }

  mutating func apply(_ event: Event) {
    var (marked, freed): ([Int], [Int]) = ([], [])
    var expected: Set<Int> = []
    switch event {
    case .begin(let key):
      running[key] = graph.begin(key, &freed)
    case .restart(let key):
      running[key] = graph.begin(key, &freed)
      asked[key] = nil
      overturned.remove(key)
      late.remove(key)
      restarted.insert(key)
    case .ask(let other, let key, let looks):
      graph.ask(other, by: key, running[key] ?? 0, looks ? .looked : .result)
      asked[key, default: []].insert([other, looks ? 1 : 0])
    case .settle(let key, let isChanged): settle(key, isChanged, false, &marked, &expected, &freed)
    case .refresh(let key): settle(key, true, true, &marked, &expected, &freed)
    case .fail(let key):
      graph.fail(key, &marked, &freed)
      end(key)
      if !results.contains(key) { freshness[key] = .outdated }
      if freshness[key] ?? .fresh != .fresh { mark(key, .outdated, .unaffected, &expected) }
    case .outdate(let key, let isKept):
      graph.outdate(key, isKept: isKept, &marked)
      freshness[key] = .outdated
      overturnAll(over: key, &expected)
      mark(key, isKept ? .doubtful : .outdated, .overturned, &expected)
    case .expire(let key):
      graph.outdate(key, isKept: true, hasExpired: true, &marked)
      freshness[key] = .outdated
      mark(key, .doubtful, .late, &expected)
    case .doubt(let key):
      graph.doubt(key, &marked)
      freshness[key] = .doubtful
      mark(key, .doubtful, .late, &expected)
    case .confirm(let key):
      if !graph.isConfirmed(key) { violation = "\(key) cannot be confirmed" }
      graph.confirm(key, &marked)
      freshness[key] = .fresh
      shown.remove(key)
    }
    if Set(marked) != expected || marked.count != expected.count {
      violation = "marked \(marked), not \(expected.sorted())"
    }
    check(freed)
  }

  private mutating func settle(
    _ key: Int, _ isChanged: Bool, _ wasServed: Bool, _ marked: inout [Int],
    _ expected: inout Set<Int>, _ freed: inout [Int]
  ) {
    graph.settle(key, isChanged: isChanged, wasServed: wasServed, &marked, &freed)
    inputs[key] = asked[key]
    let isLate = late.contains(key)
    end(key)
    freshness[key] = .fresh
    shown.remove(key)
    results.insert(key)
    if wasServed { overturnAll(over: key, &expected) }
    if isChanged { mark(key, .outdated, wasServed ? .overturned : .unaffected, &expected) }
    if isLate || !isConfirmed(key) {
      freshness[key] = isLate ? .outdated : .doubtful
      shown.insert(key)
      mark(key, .doubtful, .unaffected, &expected)
    }
  }

  /// Whoever has got a result that was computed from this one, whether it was fresh or not, begins
  /// again.
  private mutating func overturnAll(over key: Int, _ marked: inout Set<Int>) {
    var above = Set([key])
    for other in key..<keys where (inputs[other] ?? []).contains(where: { above.contains($0[0]) }) {
      above.insert(other)
    }
    for other in 0..<keys {
      let got = (asked[other] ?? []).map { $0[0] }.filter { input in
        input == key
          || above.contains(input)
            && (shown.contains(input) || freshness[input] ?? .fresh == .fresh)
      }
      if got.isEmpty { continue }
      if restarted.contains(other) {
        late.insert(other)
        shown.formUnion(got)
      } else {
        overturned.insert(other)
      }
      markUnfinished(other, .overturned, &marked)
    }
  }

  /// What was computed from a key that had no result yet, and has been told that it begins again.
  private mutating func markUnfinished(
    _ key: Int, _ running: DependencyGraph.Running, _ marked: inout Set<Int>
  ) {
    guard self.running[key] != nil, !results.contains(key) else { return }
    for other in 0..<keys where (inputs[other] ?? []).contains(where: { $0[0] == key }) {
      let was = freshness[other] ?? .fresh
      freshness[other] = .outdated
      guard was == .fresh else { continue }
      marked.insert(other)
      mark(other, .doubtful, running, &marked)
    }
  }

  private mutating func end(_ key: Int) {
    (running[key], asked[key]) = (nil, nil)
    overturned.remove(key)
    late.remove(key)
    restarted.remove(key)
  }

  private mutating func mark(
    _ key: Int, _ level: Freshness, _ running: DependencyGraph.Running, _ marked: inout Set<Int>
  ) {
    for other in 0..<keys {
      if (asked[other] ?? []).contains(where: { $0[0] == key }) {
        switch running {
        case .unaffected: break
        case .overturned where !restarted.contains(other): overturned.insert(other)
        case .late, .overturned:
          late.insert(other)
          shown.insert(key)
        }
        if running != .unaffected { markUnfinished(other, running, &marked) }
      }
      let edges = (inputs[other] ?? []).filter { $0[0] == key }
      if edges.isEmpty { continue }
      let was = freshness[other] ?? .fresh
      let looked = edges.contains { $0[1] == 1 }
      freshness[other] = max(was, looked ? .outdated : level)
      guard was == .fresh else { continue }
      marked.insert(other)
      mark(other, .doubtful, running == .unaffected ? .overturned : running, &marked)
    }
  }

  private mutating func check(_ freed: [Int]) {
    if violation != nil { return }
    violation = graph.brokenInvariant
    for key in 0..<keys {
      if graph.freshness(of: key) != freshness[key] ?? .fresh {
        violation = "\(key) is \(graph.freshness(of: key)), not \(freshness[key] ?? .fresh)"
      }
      if graph.isOverturned(key) != overturned.contains(key) {
        violation = "\(key) is overturned: \(graph.isOverturned(key))"
      }
      let edges = [asked, inputs].flatMap { $0.values.flatMap { $0 } }
      if graph.hasDependents(key) != edges.contains(where: { $0[0] == key }) {
        violation = "\(key) has dependents: \(graph.hasDependents(key))"
      }
      if freed.contains(key), edges.contains(where: { $0[0] == key }), violation == nil {
        // It may have got a new dependent in the same event only by being asked, which frees nothing.
        violation = "\(key) is free, and was asked for"
      }
    }
  }
}

@Suite("Who asked whom, as a value", .tags(.long), .inTurn)
struct DependencyGraphTests {
  @Test("every order of events: as sets of edges would have it", arguments: [2, 3])
  func orders(_ keys: Int) async {
    let exploration = await GraphModel(keys: keys).explored(
      depth: keys == 2 ? .max : Size.usual(7, full: 10), limit: Size.usual(60_000, full: 1_000_000))
    #expect(exploration.violation == nil, "\(exploration)")
    #expect(exploration.states > 100)
  }

  @Test("random: many keys, as sets of edges would have it")
  func random() {
    for number in 0..<UInt64(RandomCases.count("TAILRACE_GRAPHS", debug: 200, optimised: 10_000)) {
      var random = SeededGenerator(seed: RandomCases.firstSeed &+ number)
      var model = GraphModel(keys: Int.random(in: 2...8, using: &random))
      var order: [GraphModel.Event] = []
      for _ in 0..<60 {
        guard let event = model.events.randomElement(using: &random) else { break }
        order.append(event)
        model.apply(event)
        if let violation = model.violation {
          Issue.record("seed \(number): \(violation) after \(order)")
          return
        }
      }
    }
  }

  @Test("a key asked for by very many: edges go one by one, in constant time")
  func manyDependents() {
    var (graph, marked, freed) = (DependencyGraph(), [Int](), [Int]())
    let count = Size.usual(20_000, full: 1_000_000)
    for round in 0..<2 {
      for dependent in 1...count {
        let number = graph.begin(dependent, &freed)
        graph.ask(0, by: dependent, number)
        // Asked again, it is the same edge.
        graph.ask(0, by: dependent, number)
        graph.settle(dependent, isChanged: false, wasServed: false, &marked, &freed)
      }
      #expect(freed.isEmpty && marked.isEmpty)
      #expect(graph.nodes[0].live == count && graph.nodes[0].dependents.count <= 2 * count + 8)
      graph.outdate(0, isKept: true, &marked)
      #expect(marked.count == count, "round \(round)")
      marked = []
      var others: [Int] = []
      for key in 0...count { graph.confirm(key, &others) }
      #expect(others.isEmpty)
    }
    for dependent in 1...count { graph.remove(dependent, &freed) }
    #expect(freed == [0] && graph.nodes[0].dependents.isEmpty)
  }

  @Test("what was computed from a forgotten key counts for nothing, also if it was never fresh")
  func overturnsOverDoubtfulResults() {
    var (graph, marked, freed) = (DependencyGraph(), [Int](), [Int]())
    // 2 is computed from 0 and 1, of which 1 has expired meanwhile; 3 and 4 have asked for it, and for
    // what was computed from it.
    let middle = graph.begin(2, &freed)
    for input in [0, 1] { graph.ask(input, by: 2, middle) }
    graph.outdate(1, isKept: true, hasExpired: true, &marked)
    let upper = graph.begin(3, &freed)
    graph.ask(2, by: 3, upper)
    graph.settle(2, isChanged: false, wasServed: false, &marked, &freed)
    #expect(graph.freshness(of: 2) == .outdated && !graph.isOverturned(3))
    let top = graph.begin(4, &freed)
    graph.ask(3, by: 4, top)
    graph.settle(3, isChanged: false, wasServed: false, &marked, &freed)
    #expect(graph.freshness(of: 3) == .doubtful && !graph.isOverturned(4))
    graph.outdate(0, isKept: true, &marked)
    #expect(graph.isOverturned(4))
  }

  @Test("computations that ask for the same key in turns are its dependents once")
  func inTurns() {
    var graph = DependencyGraph()
    var freed: [Int] = []
    let (first, second) = (graph.begin(1, &freed), graph.begin(2, &freed))
    for _ in 0..<100 {
      graph.ask(0, by: 1, first)
      graph.ask(0, by: 2, second)
    }
    #expect(graph.nodes[0].dependents.count == 2)
  }
}
