import Tailrace
import Testing

@testable import TailraceLists
@testable import TailraceMemos

/// A graph beside sets of edges, which are searched from the beginning each time.
private struct GraphModel: Explorable {
  enum Event: Hashable {
    case begin(Int), restart(Int), ask(Int, by: Int, Way)
    case settle(Int, isChanged: Bool), refresh(Int), fail(Int)
    case outdate(Int, isKept: Bool), expire(Int), doubt(Int), confirm(Int)
  }

  enum Way: Int, CaseIterable { case result, looked, noAnswer }

  struct Key: Hashable {
    let keys: [Set<Int>]
    let edges: [[Int: Set<[Int]>]]
    let freshness: [Freshness]
    let toldSince: [Int: Set<Int>]
  }

  typealias Freshness = DependencyGraph.Freshness

  /// Edges lead from keys with higher numbers to lower ones.
  let keys: Int
  /// A computation whose inputs are refreshed begins again once at most.
  var graph: DependencyGraph
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
  /// Which computations were told since another one began.
  var toldSince: [Int: Set<Int>] = [:]
  var violation: String?

  init(keys: Int, slice: Int = 64) {
    self.keys = keys
    graph = DependencyGraph(mostRestarts: 1, slice: slice)
  }

  var key: Key {
    Key(
      keys: [Set(running.keys), overturned, late, restarted, results, shown],
      edges: [asked, inputs].map { $0.filter { !$0.value.isEmpty } },
      freshness: (0..<keys).map { freshness[$0] ?? .fresh },
      toldSince: toldSince.filter { !$0.value.isEmpty })
  }

  var events: [Event] {
    var events: [Event] = []
    for key in 0..<keys {
      let state = freshness[key] ?? .fresh
      if running[key] == nil {
        events.append(.begin(key))
      } else {
        for other in 0..<key { events += Way.allCases.map { .ask(other, by: key, $0) } }
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
    var expected: Set<Int> = []
    switch event {
    case .begin(let key):
      running[key] = graph.begin(key)
      toldSince[key] = []
    case .restart(let key):
      running[key] = graph.begin(key)
      (asked[key], toldSince[key]) = (nil, [])
      overturned.remove(key)
      late.remove(key)
      restarted.insert(key)
    case .ask(let other, let key, let way):
      let observation: DependencyGraph.Observation =
        switch way {
        case .result: .result
        case .looked: .looked
        case .noAnswer: .noAnswer
        }
      graph.ask(other, by: key, running[key] ?? 0, observation)
      asked[key, default: []].insert([other, way.rawValue])
      if way == .noAnswer, toldSince[key]?.contains(other) == true { overturn(key, over: [other]) }
    case .settle(let key, let isChanged): settle(key, isChanged, false, &expected)
    case .refresh(let key): settle(key, true, true, &expected)
    case .fail(let key):
      graph.fail(key)
      end(key)
      if !results.contains(key) { freshness[key] = .outdated }
      if freshness[key] ?? .fresh != .fresh { mark(key, .outdated, .unaffected, &expected) }
    case .outdate(let key, let isKept):
      graph.outdate(key, isKept: isKept)
      freshness[key] = .outdated
      overturnAll(over: key, &expected)
      mark(key, isKept ? .doubtful : .outdated, .overturned, &expected)
    case .expire(let key):
      graph.outdate(key, isKept: true, hasExpired: true)
      freshness[key] = .outdated
      mark(key, .doubtful, .late, &expected)
    case .doubt(let key):
      graph.doubt(key)
      freshness[key] = .doubtful
      mark(key, .doubtful, .late, &expected)
    case .confirm(let key):
      if !graph.isConfirmed(key) { violation = "\(key) cannot be confirmed" }
      graph.confirm(key)
      freshness[key] = .fresh
      shown.remove(key)
    }
    while graph.isMarking { graph.proceed() }
    let marked = graph.takeMarked()
    if Set(marked) != expected || marked.count != expected.count {
      violation = "marked \(marked), not \(expected.sorted())"
    }
    check(graph.freed)
    graph.freed = []
  }

  private mutating func settle(
    _ key: Int, _ isChanged: Bool, _ wasServed: Bool, _ expected: inout Set<Int>
  ) {
    graph.settle(key, isChanged: isChanged, wasServed: wasServed)
    inputs[key] = asked[key]
    let (isLate, wasShown) = (late.contains(key), shown.contains(key))
    end(key)
    freshness[key] = .fresh
    shown.remove(key)
    results.insert(key)
    if wasServed { overturnAll(over: key, &expected) }
    if isChanged {
      mark(
        key, .outdated, wasServed ? .overturned : wasShown ? .late : .unaffected,
        others: .overturned, &expected)
    }
    if isLate || !isConfirmed(key) {
      freshness[key] = isLate ? .outdated : .doubtful
      shown.insert(key)
      mark(key, .doubtful, .unaffected, &expected)
    }
  }

  /// Whoever has got a result that was computed from this one, whether it was fresh or not, begins
  /// again.
  ///
  /// What a key was computed from that had no result at that time, is what its computation has got. One
  /// pass finds all, because edges lead from higher keys to lower ones.
  private mutating func overturnAll(over key: Int, _ marked: inout Set<Int>) {
    var above = Set([key])
    var unfinished: Set<Int> = []
    var told: [(key: Int, got: [Int])] = []
    for other in 0..<keys {
      let got = (asked[other] ?? []).filter { edge in
        let isServed = shown.contains(edge[0]) || freshness[edge[0]] ?? .fresh == .fresh
        return edge[0] == key || above.contains(edge[0]) && isServed
          || unfinished.contains(edge[0]) && edge[1] == Way.noAnswer.rawValue
      }
      if !got.isEmpty {
        told.append((other, got.map { $0[0] }))
        if !results.contains(other) { unfinished.insert(other) }
      }
      if (inputs[other] ?? []).contains(where: {
        above.contains($0[0]) || unfinished.contains($0[0])
      }) {
        above.insert(other)
      }
    }
    for (other, got) in told { overturn(other, over: got) }
    for (other, _) in told { markUnfinished(other, .overturned, &marked) }
  }

  private mutating func overturn(_ key: Int, over inputs: [Int]) {
    if restarted.contains(key) {
      late.insert(key)
      shown.formUnion(inputs)
    } else {
      overturned.insert(key)
    }
  }

  /// A computation in progress is told that what it got was forgotten, or has changed, or has expired.
  private mutating func tell(
    _ key: Int, over input: Int, _ running: DependencyGraph.Running, _ marked: inout Set<Int>
  ) {
    switch running {
    case .unaffected: return
    case .overturned: overturn(key, over: [input])
    case .late:
      late.insert(key)
      shown.insert(input)
    }
    markUnfinished(key, running, &marked)
  }

  /// What was computed from a key that had no result yet, and has been told.
  private mutating func markUnfinished(
    _ key: Int, _ running: DependencyGraph.Running, _ marked: inout Set<Int>
  ) {
    for other in self.running.keys where other > key { toldSince[other]?.insert(key) }
    guard self.running[key] != nil, !results.contains(key) else { return }
    for other in 0..<keys {
      if asked[other]?.contains([key, Way.noAnswer.rawValue]) == true {
        tell(other, over: key, running, &marked)
      }
      guard (inputs[other] ?? []).contains(where: { $0[0] == key }) else { continue }
      let was = freshness[other] ?? .fresh
      freshness[other] = .outdated
      guard was == .fresh else { continue }
      marked.insert(other)
      mark(other, .doubtful, running, &marked)
    }
  }

  private mutating func end(_ key: Int) {
    (running[key], asked[key], toldSince[key]) = (nil, nil, nil)
    overturned.remove(key)
    late.remove(key)
    restarted.remove(key)
  }

  private mutating func mark(
    _ key: Int, _ level: Freshness, _ running: DependencyGraph.Running,
    others: DependencyGraph.Running? = nil, _ marked: inout Set<Int>
  ) {
    for other in 0..<keys {
      if (asked[other] ?? []).contains(where: { $0[0] == key }) {
        tell(other, over: key, running, &marked)
      }
      let edges = (inputs[other] ?? []).filter { $0[0] == key }
      if edges.isEmpty { continue }
      let was = freshness[other] ?? .fresh
      let looked = edges.contains { $0[1] == Way.looked.rawValue }
      freshness[other] = max(was, looked ? .outdated : level)
      guard was == .fresh else { continue }
      marked.insert(other)
      mark(
        other, .doubtful, others ?? (running == .unaffected ? .overturned : running), &marked)
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

/// A random order of events over some keys.
private struct RandomGraph: FuzzCase {
  let keys: Int
  let slice: Int
  var order: [GraphModel.Event] = []

  init(_ random: inout SeededGenerator) {
    keys = Int.random(in: 2...8, using: &random)
    slice = [1, 2, 64].randomElement(using: &random) ?? 1
    var model = GraphModel(keys: keys, slice: slice)
    for _ in 0..<60 {
      guard model.violation == nil, let event = model.events.randomElement(using: &random) else {
        return
      }
      order.append(event)
      model.apply(event)
    }
  }

  func problems() -> [String] {
    var model = GraphModel(keys: keys, slice: slice)
    // An event that cannot happen after those before it were left out does not happen either.
    for event in order where model.events.contains(event) {
      model.apply(event)
      if let violation = model.violation { return [violation] }
    }
    return []
  }

  var smaller: [Self] {
    [30, 10, 3, 1].filter { $0 <= order.count }.flatMap { length in
      stride(from: 0, through: order.count - length, by: length).map { start in
        var smaller = self
        smaller.order.removeSubrange(start..<(start + length))
        return smaller
      }
    }
  }

  var description: String {
    "\(keys) keys, in slices of \(slice), \(order)".replacing(
      /TailraceTests\.\(unknown context at \$[0-9a-f]+\)\.GraphModel\.(Event|Way)/, with: "")
  }
}

@Suite("Who asked whom, as a value", .tags(.long), .inTurn)
struct DependencyGraphTests {
  @Test(
    "every order of events, in slices and at once: as sets of edges would have it",
    arguments: [2, 3], [1, 64])
  func orders(_ keys: Int, slice: Int) async {
    // All at once is one slice of those that the other half tries.
    let limit = Size.usual(slice == 1 ? 20_000 : 4_000, full: 1_000_000)
    let exploration = await GraphModel(keys: keys, slice: slice).explored(
      depth: keys == 2 ? .max : Size.usual(6, full: 10), limit: limit)
    #expect(exploration.violation == nil, "\(exploration)")
    #expect(exploration.states > 100)
  }

  @Test("random: many keys, as sets of edges would have it")
  func random() async {
    await Fuzz.run(
      RandomGraph.self,
      rounds: RandomCases.count("TAILRACE_GRAPHS", debug: 200, optimised: 10_000), repetitions: 1)
  }

  @Test("a key asked for by very many: edges go one by one, in constant time")
  func manyDependents() {
    var graph = DependencyGraph()
    let count = Size.usual(20_000, full: 1_000_000)
    for round in 0..<2 {
      for dependent in 1...count {
        let number = graph.begin(dependent)
        graph.ask(0, by: dependent, number)
        // Asked again, it is the same edge.
        graph.ask(0, by: dependent, number)
        graph.settle(dependent, isChanged: false, wasServed: false)
      }
      #expect(graph.freed.isEmpty && graph.marked.isEmpty)
      #expect(graph.nodes[0].live == count && graph.nodes[0].dependents.count <= 2 * count + 8)
      graph.outdate(0, isKept: true)
      #expect(graph.isMarking && graph.marked.count <= 64, "a slice")
      while graph.isMarking { graph.proceed() }
      #expect(graph.takeMarked().count == count, "round \(round)")
      for key in 0...count { graph.confirm(key) }
      #expect(graph.marked.isEmpty)
    }
    for dependent in 1...count { graph.remove(dependent) }
    #expect(graph.freed == [0] && graph.nodes[0].dependents.isEmpty)
  }

  @Test("what was computed from a forgotten key counts for nothing, also if it was never fresh")
  func overturnsOverDoubtfulResults() {
    var graph = DependencyGraph()
    // 2 is computed from 0 and 1, of which 1 has expired meanwhile; 3 and 4 have asked for it, and for
    // what was computed from it.
    let middle = graph.begin(2)
    for input in [0, 1] { graph.ask(input, by: 2, middle) }
    graph.outdate(1, isKept: true, hasExpired: true)
    let upper = graph.begin(3)
    graph.ask(2, by: 3, upper)
    graph.settle(2, isChanged: false, wasServed: false)
    #expect(graph.freshness(of: 2) == .outdated && !graph.isOverturned(3))
    let top = graph.begin(4)
    graph.ask(3, by: 4, top)
    graph.settle(3, isChanged: false, wasServed: false)
    #expect(graph.freshness(of: 3) == .doubtful && !graph.isOverturned(4))
    graph.outdate(0, isKept: true)
    #expect(graph.isOverturned(4))
  }

  @Test("what got the answer to a cycle is told when the cycle changes, also if it was never fresh")
  func overturnsOverTheAnswerToACycle() {
    var graph = DependencyGraph()
    // 1 has been forgotten, and is computed from 0. 2 needs it, and is part of a cycle with it.
    graph.outdate(1, isKept: false)
    let lower = graph.begin(1)
    graph.ask(0, by: 1, lower)
    let middle = graph.begin(2)
    graph.ask(1, by: 2, middle, .noAnswer)
    graph.settle(2, isChanged: false, wasServed: false)
    #expect(graph.freshness(of: 2) == .doubtful)
    let upper = graph.begin(3)
    graph.ask(2, by: 3, upper)
    graph.outdate(0, isKept: true)
    #expect(graph.isOverturned(1) && graph.isOverturned(3) && graph.freshness(of: 2) == .outdated)
  }

  @Test(
    "a wait that ends after the awaited computation was told, by way of others: it is told, too",
    arguments: [0, UInt32.max])
  func toldBeforeTheEndOfTheWait(revision: UInt32) {
    var graph = DependencyGraph(revision: revision)
    let first = graph.begin(0)
    let second = graph.begin(1)
    graph.ask(0, by: 1, second, .noAnswer)
    graph.settle(1, isChanged: false, wasServed: false)
    let third = graph.begin(2)
    graph.ask(1, by: 2, third)
    let fourth = graph.begin(3)
    graph.ask(2, by: 3, fourth, .awaited(1))
    let other = graph.begin(4)
    graph.ask(5, by: 4, other, .awaited(2))
    // There is no result of 0 after all, so 1 is out of date, and 2 begins again.
    #expect(graph.nodes[0].running == first)
    graph.fail(0)
    #expect(graph.marked == [1] && graph.isOverturned(2) && !graph.isOverturned(3))
    graph.ask(2, by: 3, fourth, .noAnswer)
    graph.ask(5, by: 4, other, .noAnswer)
    #expect(graph.isOverturned(3) && !graph.isOverturned(4))
  }

  @Test("what saw no value stays fresh when what was computed without one is out of date once more")
  func absenceOfAnOutdatedResult() {
    var graph = DependencyGraph()
    let lower = graph.begin(1)
    graph.ask(0, by: 1, lower)
    graph.settle(1, isChanged: false, wasServed: false)
    graph.outdate(1, isKept: true)
    let upper = graph.begin(2)
    graph.ask(1, by: 2, upper, .absence)
    graph.settle(2, isChanged: false, wasServed: false)
    // Another one is in progress, so the mark goes on behind results that are not fresh.
    _ = graph.begin(3)
    graph.outdate(0, isKept: true)
    #expect(graph.marked == [] && graph.freshness(of: 2) == .fresh)
  }

  @Test("computations that ask for the same key in turns are its dependents once")
  func inTurns() {
    var graph = DependencyGraph()
    let (first, second) = (graph.begin(1), graph.begin(2))
    for _ in 0..<100 {
      graph.ask(0, by: 1, first)
      graph.ask(0, by: 2, second)
    }
    #expect(graph.nodes[0].dependents.count == 2)
  }

  @Test("a review: what children have asked for at the same time, each child's one after the other")
  func reviewOfChildren() {
    var graph = DependencyGraph()
    let number = graph.begin(9, in: 1)
    for (input, task) in [(0, 1), (1, 2), (2, 3), (3, 2), (4, 4), (5, 1)] as [(Int, UInt32)] {
      graph.ask(input, by: 9, number, in: task)
    }
    graph.settle(9, isChanged: false, wasServed: false)
    for input in 0...5 { graph.outdate(input, isKept: true) }
    graph.beginReview(9)
    for step in [[[0]], [[1, 3], [2], [4]], [[5]]] {
      guard case .demand(let chains) = graph.review(9) else {
        Issue.record("nothing is demanded in place of \(step)")
        return
      }
      #expect(chains == step)
      for input in step.joined() { graph.confirm(input) }
    }
    guard case .isConfirmed = graph.review(9) else {
      Issue.record("all inputs came out equal")
      return
    }
  }

  @Test("an input that is forgotten, but not one that expires, during a review is demanded again")
  func reviewOnceMore() {
    for hasExpired in [false, true] {
      var graph = DependencyGraph()
      let number = graph.begin(9)
      for input in 0...1 { graph.ask(input, by: 9, number) }
      graph.settle(9, isChanged: false, wasServed: false)
      graph.outdate(0, isKept: true)
      graph.beginReview(9)
      for round in 0..<2 {
        guard case .demand(let chains) = graph.review(9), chains == [[0]] else {
          #expect(hasExpired && round == 1, "0 is not demanded")
          break
        }
        #expect(!hasExpired || round == 0)
        graph.confirm(0)
        graph.outdate(0, isKept: true, hasExpired: hasExpired)
      }
    }
  }

  @Test("a computation whose input is forgotten again and again begins again a few times")
  func restarts() {
    var graph = DependencyGraph()
    var restarts = 0
    while restarts < 100 {
      let number = graph.begin(1)
      graph.ask(0, by: 1, number)
      graph.outdate(0, isKept: true)
      guard graph.isOverturned(1) else { break }
      restarts += 1
    }
    #expect(restarts == Int(DependencyGraph.usualRestarts) && graph.nodes[0].isShown)
    // Its result is given then, and is out of date at once.
    graph.settle(1, isChanged: true, wasServed: false)
    #expect(graph.freshness(of: 1) == .outdated)
  }

  @Test("the first computation is like all others, for those who have its result, or waited for it")
  func firstNumber() {
    var graph = DependencyGraph()
    let (first, second) = (graph.begin(1), graph.begin(2))
    graph.ask(0, by: 1, first)
    graph.ask(0, by: 2, second, .awaited(1))
    for key in 1...2 { graph.settle(key, isChanged: false, wasServed: false) }
    // Whoever has waited for this very result has got it.
    graph.settle(0, load: 1, isChanged: true, wasServed: false)
    #expect(graph.takeMarked() == [1] && graph.freshness(of: 2) == .fresh)
    graph.settle(0, isChanged: true, wasServed: false)
    #expect(graph.takeMarked() == [2])
  }

  @Test("without a task, keys were asked for one after the other")
  func noTask() {
    var graph = DependencyGraph()
    let number = graph.begin(9)
    for input in 0...1 { graph.ask(input, by: 9, number) }
    graph.settle(9, isChanged: false, wasServed: false)
    for input in 0...1 { graph.outdate(input, isKept: true) }
    graph.beginReview(9)
    guard case .demand(let chains) = graph.review(9), chains == [[0]] else {
      Issue.record("0 is not demanded by itself")
      return
    }
  }

  @Test("asked again in the same way it is the same edge; a wait takes the place of a look in vain")
  func edges() {
    var graph = DependencyGraph()
    let number = graph.begin(1)
    for way in [.looked, .awaited(7), .noAnswer] as [DependencyGraph.Observation] {
      let before = graph.nodes.first?.dependents.count ?? 0
      for _ in 0..<3 { graph.ask(0, by: 1, number, way) }
      #expect(graph.nodes[0].dependents.count == before + 1)
    }
    graph.ask(5, by: 1, number, .absence)
    graph.ask(5, by: 1, number, .awaited(8))
    #expect(graph.nodes[5].dependents.count == 1 && graph.nodes[5].live == 1)
    #expect(graph.nodes[5].dependents[0].awaited == 8 && !graph.nodes[5].dependents[0].sawNothing)
  }
}
