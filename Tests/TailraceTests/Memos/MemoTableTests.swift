import Tailrace
import Testing

@testable import TailraceLists
@testable import TailraceMemos

/// Without an await: the cells are only told apart.
@Suite("The table of memos, as a value", .inTurn)
struct MemoTableTests {
  typealias Table = MemoTable<Int, String, Refused>
  typealias Cell = Segment<String>

  /// A table and the computations that it has begun. A value is refreshed from 50 on, and expires at 100.
  struct Subject {
    var table: Table
    var loads: [Table.Load] = []
    var cells: [Cell] = []
    /// What the latest event has left over.
    var leavings = Table.Leavings()

    init(limit: Int? = nil, isTimed: Bool = true) {
      let ages =
        isTimed
        ? Ages(lifetime: .nanoseconds(100), refreshingAfter: .nanoseconds(50))
        : Ages(lifetime: nil, refreshingAfter: nil)
      table = Table(limit: limit, ages)
    }

    private mutating func make(_ load: Table.Load) -> Cell {
      let cell = Cell(evaluated: EmptyCollection<String>(), link: .end)
      loads.append(load)
      cells.append(cell)
      return cell
    }

    mutating func demand(_ key: Int, at now: Int64 = 0) -> Table.Answer {
      var (table, leavings) = (table, Table.Leavings())
      defer { (self.table, self.leavings) = (table, leavings) }
      return table.demand(key, at: now, &leavings) { make($0) }
    }

    /// A demand, and its answer in words.
    mutating func answer(_ key: Int, at now: Int64 = 0) -> String {
      switch demand(key, at: now) {
      case .value(let value): value
      case .failure: "failure"
      case .pending: "pending, \(MemoTableTests.word(leavings.former)) before"
      case .due(let value, _): "due, \(value)"
      }
    }

    /// True if a computation begins.
    mutating func refresh(_ key: Int, at now: Int64 = 0) -> Bool {
      var (table, leavings) = (table, Table.Leavings())
      defer { (self.table, self.leavings) = (table, leavings) }
      return table.refresh(key, at: now, &leavings) { make($0) }.isNew
    }

    mutating func forget(_ key: Int) {
      leavings = Table.Leavings()
      table.forget(key, &leavings)
    }

    /// Ends the latest computation.
    @discardableResult
    mutating func finish(_ outcome: Table.Outcome, at now: Int64 = 0) -> Table.Leavings {
      finish(loads[loads.count - 1], outcome, at: now)
    }

    @discardableResult
    mutating func finish(
      _ load: Table.Load, _ outcome: Table.Outcome, at now: Int64
    ) -> Table.Leavings {
      leavings = Table.Leavings()
      _ = table.finish(load, outcome, at: now, &leavings)
      return leavings
    }
  }

  /// The content for a key, in words.
  static func word(_ content: Table.Content) -> String {
    switch content {
    case .none: "nothing"
    case .computing: "computing"
    case .value(let value): value
    case .failure: "failure"
    case .renewing(let renewal): "renewing \(renewal.old)"
    }
  }

  enum State: String, CaseIterable {
    case nothing, computing, value, failure, renewing

    func make(limit: Int? = nil) -> Subject {
      var subject = Subject(limit: limit)
      if self == .nothing { return subject }
      _ = subject.demand(1)
      switch self {
      case .nothing, .computing: break
      case .value: subject.finish(.value("old", cost: 1))
      case .failure: subject.finish(.failure(Refused(), isRemembered: true))
      case .renewing:
        subject.finish(.value("old", cost: 1))
        _ = subject.refresh(1)
      }
      return subject
    }
  }

  /// At 0 a value is fresh, at 60 it is to be computed anew, and at 200 it has expired.
  @Test(
    "a demand in each state, in time",
    arguments: [
      (.nothing, 0, "pending, nothing before", "computing", 1, 0),
      (.computing, 0, "pending, nothing before", "computing", 1, 1),
      (.computing, 200, "pending, nothing before", "computing", 1, 1),
      (.value, 0, "old", "old", 1, 1),
      (.value, 60, "due, old", "renewing old", 2, 1),
      (.value, 200, "pending, old before", "computing", 2, 0),
      (.failure, 0, "failure", "failure", 1, 1),
      (.failure, 60, "pending, failure before", "computing", 2, 0),
      (.renewing, 0, "old", "renewing old", 2, 1),
      (.renewing, 200, "pending, nothing before", "renewing old", 2, 1),
    ] as [(State, Int64, String, String, Int, Int)], [nil, 5])
  func demand(
    _ row: (state: State, now: Int64, answer: String, content: String, loads: Int, hits: Int),
    _ limit: Int?
  ) {
    var subject = row.state.make(limit: limit)
    let hit = subject.table.hit(1, at: row.now)
    let isHit = row.answer == "old"
    #expect(hit == (isHit ? "old" : nil))
    if !isHit { #expect(subject.answer(1, at: row.now) == row.answer) }
    let table = subject.table
    #expect(Self.word(table.slots[0]) == row.content)
    #expect(table.statistics.loads == row.loads && table.statistics.hits == row.hits)
    #expect(table.count == (row.content == "computing" ? 0 : 1))
    check(table)
  }

  @Test(
    "a refresh in each state, in time",
    arguments: [
      (.nothing, 0, "nothing", "computing"), (.computing, 0, nil, "computing"),
      (.value, 0, "nothing", "renewing old"), (.value, 60, "nothing", "renewing old"),
      (.value, 200, "old", "computing"), (.failure, 0, "failure", "computing"),
      (.renewing, 0, nil, "renewing old"),
    ] as [(State, Int64, String?, String)])
  func refresh(_ row: (state: State, now: Int64, former: String?, content: String)) {
    var subject = row.state.make()
    let isNew = subject.refresh(1, at: row.now)
    #expect((isNew ? Self.word(subject.leavings.former) : nil) == row.former)
    #expect(Self.word(subject.table.slots[0]) == row.content)
    check(subject.table)
  }

  @Test(
    "looking at each state, in time: it counts as no use",
    arguments: [
      (.nothing, 0, "nothing"), (.computing, 0, "nothing"), (.value, 60, "old"),
      (.value, 200, "nothing"), (.failure, 0, "failure"), (.failure, 60, "nothing"),
      (.renewing, 60, "old"), (.renewing, 200, "nothing"),
    ] as [(State, Int64, String)])
  func peek(_ row: (state: State, now: Int64, seen: String)) {
    let subject = row.state.make()
    let seen =
      switch subject.table.peek(1, at: row.now) {
      case .success(let value)?: value
      case .failure?: "failure"
      case nil: "nothing"
      }
    #expect(seen == row.seen)
    #expect(subject.table.statistics.hits == 0)
  }

  enum Ending: CaseIterable {
    case value, failure, forgottenFailure

    var outcome: Table.Outcome {
      switch self {
      case .value: .value("new", cost: 1)
      case .failure: .failure(Refused(), isRemembered: true)
      case .forgottenFailure: .failure(Refused(), isRemembered: false)
      }
    }
  }

  @Test(
    "how a computation ends, for the first time and anew, before and after the old value expires",
    arguments: [
      (.computing, .value, 0, "new"), (.computing, .failure, 0, "failure"),
      (.computing, .forgottenFailure, 0, "nothing"), (.renewing, .value, 0, "new"),
      (.renewing, .failure, 0, "old"), (.renewing, .forgottenFailure, 0, "old"),
      (.renewing, .failure, 200, "failure"), (.renewing, .forgottenFailure, 200, "nothing"),
    ] as [(State, Ending, Int64, String)], [nil, 5])
  func finish(_ row: (state: State, ending: Ending, now: Int64, content: String), _ limit: Int?) {
    var subject = row.state.make(limit: limit)
    let leavings = subject.finish(row.ending.outcome, at: row.now)
    let left =
      [leavings.former]
      + leavings.others.compactMap {
        if case .content(let content) = $0 { content } else { nil }
      }
    #expect(left.map(Self.word).contains(row.state == .renewing ? "renewing old" : "computing"))
    #expect(Self.word(subject.table.slots[0]) == row.content)
    #expect(subject.table.count == (row.content == "nothing" ? 0 : 1))
    #expect(leavings.slots.count == (row.content == "nothing" ? 1 : 0))
    #expect(subject.table.statistics.failures == (row.ending == .value ? 0 : 1))
    check(subject.table)
    subject.finish(.value("twice", cost: 1), at: row.now)
    #expect(Self.word(subject.table.slots[0]) == row.content, "it has ended")
  }

  @Test("a value that could not be computed anew is served until it expires, and no longer")
  func refused() {
    var subject = State.value.make()
    #expect(subject.answer(1, at: 60) == "due, old")
    subject.finish(.failure(Refused(), isRemembered: true), at: 70)
    #expect(subject.table.hit(1, at: 99) == "old", "the next attempt would be made at 120")
    #expect(subject.table.hit(1, at: 100) == nil)
    #expect(subject.answer(1, at: 100) == "pending, old before")
  }

  @Test("lifetimes that change while values are read: each value has that of its own computation")
  func changingLifetime() {
    var subject = Subject()
    _ = subject.demand(1)
    subject.finish(.value("long", cost: 1, lifetime: 1_000))
    let isNew = subject.refresh(1, at: 40)
    #expect(isNew && subject.table.hit(1, at: 44) == "long")
    subject.finish(.value("short", cost: 1, lifetime: 5), at: 45)
    #expect(subject.table.hit(1, at: 49) == "short" && subject.table.hit(1, at: 50) == nil)
    #expect(subject.answer(1, at: 50) == "pending, short before")
    subject.finish(.value("long again", cost: 1, lifetime: 1_000), at: 50)
    #expect(subject.table.hit(1, at: 99) == "long again")
    #expect(subject.answer(1, at: 100) == "due, long again")
  }

  @Test(
    "forgetting in each state: the computation that goes on changes nothing any more",
    arguments: State.allCases, [false, true])
  func forget(_ state: State, all: Bool) {
    var subject = state.make(limit: 5)
    let before = subject.table.slots.slots.first.map { Self.word($0.content) }
    if all {
      let former = subject.table.forgetAll()
      #expect(former.slots.slots.first.map { Self.word($0.content) } == before)
    } else {
      subject.forget(1)
      #expect(subject.leavings.slots.first.map { Self.word($0.content) } == before)
    }
    let table = subject.table
    #expect(table.count == 0 && table.peek(1, at: 0) == nil)
    check(table)
    if state == .nothing { return }
    // In the same slot, for another key.
    let stale = subject.loads[subject.loads.count - 1]
    _ = subject.demand(2)
    subject.finish(stale, .value("stale", cost: 1), at: 0)
    #expect(Self.word(subject.table.slots[0]) == "computing")
    subject.finish(.value("2", cost: 1))
    #expect(subject.table.hit(2, at: 0) == "2" && subject.table.hit(1, at: 0) == nil)
    check(subject.table)
  }

  @Test("costs whose sum is beyond all numbers: the value that does not fit is not kept")
  func enormousCosts() {
    var subject = Subject(limit: .max, isTimed: false)
    // Each is pinned, because it is computed anew.
    for key in 0..<6 {
      _ = subject.demand(key)
      subject.finish(.value("\(key)", cost: .max / 2))
      _ = subject.refresh(key)
      check(subject.table)
    }
    #expect(subject.table.count == 2)
  }

  @Test("what comes back soon after it was evicted outlives a scan")
  func returning() {
    var subject = Subject(limit: 20, isTimed: false)
    func compute(_ keys: some Sequence<Int>) {
      for key in keys {
        _ = subject.demand(key)
        subject.finish(.value("\(key)", cost: 1))
      }
    }
    compute(0...20)
    // What comes back has room, so nothing is evicted now: another ghost could take its place, for some hashes.
    subject.forget(20)
    compute([0])
    compute(100..<130)
    #expect(subject.table.hit(0, at: 0) == "0" && subject.table.hit(1, at: 0) == nil)
    check(subject.table)
  }

  @Test("without readers, computations begin no others")
  func abandoned() {
    let subject = State.value.make(limit: 5)
    var leavings = Table.Leavings()
    var table = RecursiveTable(subject.table, isRecursive: true, canCompare: true)
    _ = table.abandon(from: 0, atMost: 1, &leavings)
    for key in 1...2 {
      let begun = table.refresh(key, by: nil, in: 0, at: 0, &leavings) { _ in subject.cells[0] }
      #expect(begun == nil)
    }
    let isDone = table.settleDown(&leavings)
    #expect(isDone)
    check(table.base)
  }

  @Test("the search finds what has expired, in time")
  func sweep() {
    var subject = Subject()
    for key in 0..<20 {
      _ = subject.demand(key)
      subject.finish(.value("\(key)", cost: 1))
    }
    #expect(subject.table.count == 20)
    var gone: [Int] = []
    for key in 100..<112 {
      _ = subject.demand(key, at: 200)
      gone += subject.finish(.value("\(key)", cost: 1), at: 200).slots.compactMap(\.key)
    }
    #expect(Set(gone) == Set(0..<20) && subject.table.count == 12)
    #expect(subject.table.slots.slots.count == 21, "free slots are used again")
    check(subject.table)
  }

  @Test("random: as a dictionary would have it; bounded, no more than there is room for")
  func random() {
    for number in 0..<UInt64(RandomCases.count("TAILRACE_TABLES", debug: 100, optimised: 5_000)) {
      let seed = RandomCases.firstSeed &+ number
      var random = SeededGenerator(seed: seed)
      let limit = Bool.random(using: &random) ? Int.random(in: 1...6, using: &random) : nil
      // Where limits are larger, an entry can be small beside a tenth of it.
      let scale = Bool.random(using: &random) ? 1 : 15
      var subject = Subject(limit: limit.map { $0 * scale }, isTimed: Bool.random(using: &random))
      var pending: [(load: Table.Load, key: Int)] = []
      /// The latest value of each key, which is the only one that may be given.
      var latest: [Int: String] = [:]
      var now: Int64 = 0
      for step in 0..<200 {
        now += Int64.random(in: 0...10, using: &random)
        let key = Int.random(in: 0..<10, using: &random)
        let begun = subject.loads.count
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
          if let hit = subject.table.hit(key, at: now) {
            #expect(hit == latest[key], "seed \(seed)")
            break
          }
          switch subject.demand(key, at: now) {
          case .value(let value), .due(let value, _):
            #expect(value == latest[key], "seed \(seed)")
          case .failure, .pending: break
          }
        case 4: _ = subject.refresh(key, at: now)
        case 5:
          subject.forget(key)
          latest[key] = nil
        case 6 where step % 10 == 0:
          _ = subject.table.forgetAll()
          latest = [:]
        default:
          guard let index = pending.indices.randomElement(using: &random) else { break }
          let (load, key) = pending.remove(at: index)
          let isWanted = subject.table.place(of: load) != nil
          if Int.random(in: 0..<4, using: &random) == 0 {
            subject.finish(load, .failure(Refused(), isRemembered: key % 2 == 0), at: now)
          } else {
            let cost = Int.random(in: 0...2 * scale, using: &random)
            subject.finish(load, .value("\(step)", cost: cost), at: now)
            if isWanted { latest[key] = "\(step)" }
          }
        }
        pending += subject.loads[begun...].map { ($0, key) }
        check(subject.table, seed)
      }
    }
  }

  /// The invariants.
  private func check(_ table: Table, _ seed: UInt64 = 0) {
    var (count, pinned) = (0, 0)
    for (place, slot) in table.slots.slots.enumerated() {
      if let key = slot.key { #expect(table.slots.place(of: key) == place, "seed \(seed)") }
      var isKept = false
      switch slot.content {
      case .none: #expect(slot.key == nil, "seed \(seed)")
      case .computing: break
      case .value, .failure: isKept = true
      case .renewing:
        isKept = true
        pinned += 1
      }
      if isKept { count += 1 }
      guard table.isBounded, place < table.eviction.nodes.count else { continue }
      let node = table.eviction.nodes[place]
      #expect((node.queue != .none) == isKept, "seed \(seed)")
      if case .renewing = slot.content {
        #expect(node.isPinned, "seed \(seed)")
      } else {
        #expect(!node.isPinned, "seed \(seed)")
      }
    }
    #expect(table.count == count, "seed \(seed)")
    if table.isBounded {
      #expect(pinned > 0 || table.eviction.cost <= table.eviction.limit, "seed \(seed)")
    }
  }
}

extension MemoTable {
  /// The value of a key that is there.
  mutating func hit(_ key: Key, at now: Int64) -> Value? {
    slots.place(of: key).flatMap { hit(in: $0, at: now) }
  }
}
