import Tailrace
import Testing

@testable import TailraceLists
@testable import TailraceMemos

/// A recursive table and its latest computations, without an await: the cells are only told apart.
private final class Subject {
  typealias Table = RecursiveTable<Int, String, Refused>
  typealias Base = Table.Table

  var table: Table
  var now: Int64 = 0
  /// What the latest event has left over.
  var leavings = Base.Leavings()
  private var loads: [Int: Base.Load] = [:]
  private var askers: [Int: Table.Asker] = [:]

  /// Values live as long as each says, failures for ever if nothing else is said.
  init(limit: Int? = nil, lifetime: Ages.Lifetime = .each) {
    let ages = Ages(lifetime: lifetime, refreshingAfter: nil)
    table = Table(
      MemoTable(limit: limit, ages, isReporting: true), isRecursive: true, canCompare: true)
  }

  func event<Answer>(_ body: (inout Table, inout Base.Leavings) -> Answer) -> Answer {
    leavings = Base.Leavings()
    defer {
      while !table.settleDown(&leavings) {}
      #expect(table.brokenInvariant == nil)
    }
    return body(&table, &leavings)
  }

  // MARK: Computations

  func demand(_ key: Int, by asking: Int? = nil) -> Base.Answer {
    let (now, asker) = (now, asking.flatMap { askers[$0] })
    var begun: Base.Load?
    let answer = event { table, leavings in
      table.demand(key, by: asker, in: 0, at: now, &leavings) { load in
        begun = load
        return Base.Cell(evaluated: EmptyCollection<String>(), link: .end)
      }
    }
    if let begun { loads[key] = begun }
    return answer
  }

  /// The latest computation of a key asks what to do. In words.
  func review(_ key: Int) -> String {
    let (now, load) = (now, loads[key] ?? (nil, 0, false))
    let review = event { table, leavings in table.review(key, load, in: 0, at: now, &leavings) }
    switch review {
    case .demand(let chains): return "demand \(chains)"
    case .unchanged(let value): return value
    case .compute(let asker):
      askers[key] = asker
      return "compute"
    }
  }

  /// Whether the latest computation of a key has ended; if not, it begins again.
  func finish(_ key: Int, _ outcome: Base.Outcome) -> Bool {
    let (now, load, asker) = (now, loads[key] ?? (nil, 0, false), askers[key])
    let verdict = event { table, leavings in
      table.finish(key, load, as: asker, outcome, in: 0, at: now, &leavings)
    }
    guard case .again(let next) = verdict else { return true }
    askers[key] = next
    return false
  }

  func finish(_ key: Int, _ value: String, lifetime: Int64? = nil) -> Bool {
    let isEqual = loads[key].flatMap { table.former(of: $0) } == value
    return finish(key, .value(value, cost: 1, lifetime: lifetime, isEqual: isEqual))
  }

  /// Computes a key from others that are there. Its value is the key.
  func compute(_ key: Int, from inputs: [Int] = [], lifetime: Int64? = nil) {
    _ = demand(key)
    #expect(review(key) == "compute")
    for input in inputs { #expect(isValue(demand(input, by: key))) }
    #expect(finish(key, "\(key)", lifetime: lifetime))
  }

  private func isValue(_ answer: Base.Answer) -> Bool {
    if case .value = answer { true } else { false }
  }

  // MARK: What is there

  func place(_ key: Int) -> Int { table.base.slots.place(of: key) ?? -1 }

  func state(_ key: Int) -> String {
    guard let place = table.base.slots.place(of: key) else { return "no slot" }
    return (table.base.ages.isWithdrawn(place) ? "withdrawn " : "")
      + MemoTableTests.word(table.base.slots[place])
  }

  func freshness(_ key: Int) -> DependencyGraph.Freshness { table.graph.freshness(of: place(key)) }

  func hasDependents(_ key: Int) -> Bool { table.graph.hasDependents(place(key)) }
}

@Suite("The table of recursive memos, as a value", .inTurn)
struct RecursiveTableEventsTests {
  @Test("whoever has waited for the first of all computations is told of the next value")
  func setAfterTheFirst() {
    let subject = Subject()
    _ = subject.demand(0)
    #expect(subject.review(0) == "compute")
    _ = subject.demand(1)
    #expect(subject.review(1) == "compute")
    // The number of this computation is 1, and it is waited for.
    _ = subject.demand(0, by: 1)
    #expect(subject.finish(0, "0") && subject.finish(1, "1"))
    subject.event { table, leavings in
      table.set("new", for: 0, 1, nil, equalTo: nil, at: 0, &leavings)
    }
    #expect(subject.state(0) == "new" && subject.freshness(1) == .outdated)
    _ = subject.demand(1)
    #expect(subject.review(1) == "compute")
  }

  @Test(
    "a new computation that fails: what it has asked for is free, and its dependents are computed")
  func failsAgain() {
    let subject = Subject()
    for (key, inputs) in [(0, []), (1, [0]), (2, [1]), (5, [])] {
      subject.compute(key, from: inputs)
    }
    subject.event { $0.forget(0, &$1) }
    _ = subject.demand(1)
    #expect(subject.review(1) == "demand [[0]]")
    _ = subject.demand(0)
    #expect(subject.review(0) == "compute" && subject.finish(0, "new"))
    #expect(subject.review(1) == "compute")
    _ = subject.demand(5, by: 1)
    #expect(subject.hasDependents(5))
    #expect(subject.finish(1, .failure(Refused(), isRemembered: false)))
    #expect(subject.state(1) == "withdrawn 1", "it is compared with the next value")
    #expect(!subject.hasDependents(5) && subject.freshness(2) == .outdated)
  }

  @Test("a forgotten key needs nothing that it was computed from")
  func forgotten() {
    let subject = Subject()
    for (key, inputs) in [(0, []), (1, [0]), (2, [1])] { subject.compute(key, from: inputs) }
    subject.event { $0.forget(1, &$1) }
    #expect(subject.state(1) == "withdrawn 1" && !subject.hasDependents(0))
    subject.event { $0.forget(0, &$1) }
    #expect(subject.state(0) == "no slot")
    let contents = subject.leavings.others.compactMap {
      if case .content(let content) = $0 { MemoTableTests.word(content) } else { nil }
    }
    #expect(contents == ["0"], "it is released outside of the lock")
  }

  @Test("a computation that has got a failure, or a value without a slot, that expires: it is late")
  func late() {
    for isFailure in [true, false] {
      let subject = Subject(limit: 1, lifetime: .fixed(.nanoseconds(100)))
      _ = subject.demand(0)
      #expect(subject.review(0) == "compute")
      let failure = Subject.Base.Outcome.failure(Refused(), isRemembered: true)
      #expect(isFailure ? subject.finish(0, failure) : subject.finish(0, "0"))
      _ = subject.demand(1)
      #expect(subject.review(1) == "compute")
      _ = subject.demand(0, by: 1)
      // Evicted, and kept as a key.
      if !isFailure { subject.compute(7) }
      #expect(subject.state(0) == (isFailure ? "failure" : "nothing"))
      subject.now = 100
      _ = subject.demand(0)
      #expect(subject.finish(1, "1"), "it does not begin again")
      #expect(subject.freshness(1) == .outdated)
    }
  }

  @Test("an input that expires again and again: the former value is given, and is not served")
  func reviewedTooLate() {
    let subject = Subject()
    subject.compute(0, lifetime: 100)
    subject.compute(1, from: [0])
    for now in [100, 300] as [Int64] {
      subject.now = now
      _ = subject.demand(1)
      #expect(subject.state(1) == "withdrawn renewing 1" && subject.review(1) == "demand [[0]]")
      _ = subject.demand(0)
      #expect(subject.review(0) == "compute" && subject.finish(0, "0", lifetime: 100))
      subject.now += 100
      #expect(subject.review(1) == "1" && subject.state(1) == "withdrawn 1")
    }
  }

  @Test("the last reader goes: what is being computed is forgotten, and former values stay")
  func abandoned() {
    let subject = Subject()
    for (key, inputs) in [(0, []), (1, [0]), (2, [])] { subject.compute(key, from: inputs) }
    subject.event { $0.forget(0, &$1) }
    for key in [1, 3] { _ = subject.demand(key) }
    #expect(subject.state(1) == "withdrawn renewing 1" && subject.state(3) == "computing")
    let isOn = subject.event { $0.abandon(from: 0, atMost: 9, &$1) }
    #expect(isOn && subject.state(1) == "withdrawn 1" && subject.freshness(1) == .outdated)
    #expect(subject.state(3) == "no slot" && subject.state(2) == "2")
  }

  @Test("slots that nobody needs any more go a slice at a time")
  func slices() {
    let subject = Subject(limit: 1)
    let (last, count) = (1_000, 3 * Subject.Table.slice)
    _ = subject.demand(last)
    #expect(subject.review(last) == "compute")
    for key in 0..<count {
      subject.compute(key)
      _ = subject.demand(key, by: last)
    }
    #expect(subject.finish(last, "last"))
    #expect(subject.table.base.slots.index.count == count + 1)
    var (turns, freed) = (0, 0)
    var isDone = false
    var leavings = Subject.Base.Leavings()
    subject.table.forget(last, &leavings)
    while !isDone {
      leavings = Subject.Base.Leavings()
      isDone = subject.table.settleDown(&leavings)
      #expect(leavings.slots.count <= Subject.Table.slice)
      turns += 1
      freed += leavings.slots.count
    }
    #expect(freed == count + 1 && turns == 4)
    #expect(subject.table.base.slots.index.count == 0)
  }
}
