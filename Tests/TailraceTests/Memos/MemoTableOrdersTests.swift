import Tailrace
import Testing

@testable import TailraceLists
@testable import TailraceMemos

/// Two keys, the computations that were begun for them, and time. A value is refreshed from 50 on, and expires
/// at 100.
private struct MemoTableModel: Explorable {
  typealias Table = MemoTable<Int, String, Refused>

  enum Event: Hashable {
    case demand(Int), refresh(Int), forget(Int), forgetAll
    /// A key is computed again for a caller that waits for it.
    case renew(Int)
    /// A caller that waits for a computation leaves.
    case leave(Int)
    /// A computation ends with a value, with a failure that is remembered, or with one that is not.
    case finish(Int, Outcome)
    case pass
  }

  enum Outcome: String, CaseIterable, CustomStringConvertible {
    case value, failure
    case forgottenFailure = "a failure that is not remembered"

    var description: String { rawValue }
  }

  struct Computation {
    let load: Table.Load
    let key: Int
    let cell: Table.Cell
    /// Its result is no longer wanted: its key was forgotten, or nobody waits for it.
    var isStale = false
    /// It has failed, and those who have waited for it are about to leave.
    var hasEnded = false
    var waiting = 0
    /// It was asked for in the background.
    var isKept = false
  }

  /// What the memos do with a computation that nobody waits for.
  enum Rule {
    case computeOn, cancel
    /// A value is kept for some time after its lifetime, for a computation that fails.
    case cancelAndServeStale
  }

  static let (keys, times, computations) = (2, [Int64(0), 60, 120], Size.usual(2, full: 3))

  var table: Table
  var computations: [Computation] = []
  var begun = 0
  var time = 0
  var violation: String?
  let rule: Rule

  init(limit: Int?, _ rule: Rule) {
    self.rule = rule
    let serving = rule == .cancelAndServeStale ? Duration.nanoseconds(1_000) : nil
    table = Table(
      limit: limit,
      Ages(
        lifetime: .fixed(.nanoseconds(100)), refreshingAfter: .nanoseconds(50),
        servingStaleFor: serving),
      cancelsUnobserved: rule != .computeOn)
  }

  var cancels: Bool { rule != .computeOn }

  var now: Int64 { Self.times[time] }

  struct Key: Hashable {
    let slots: [[String]]
    let dates: [[Int64]]
    let freshness: ContiguousArray<Int64>
    /// A description takes long, and only tables with a limit evict.
    let eviction: String?
    let computations: [[Int]]
    let counts: [Int]
  }

  var key: Key {
    Key(
      slots: table.slots.slots.map {
        [$0.key.map { "\($0)" } ?? "free", MemoTableTests.word($0.content)]
      },
      dates: table.ages.dates.map { [$0.refreshes, $0.expires, $0.doubts] },
      freshness: table.ages.freshness, eviction: table.isBounded ? "\(table.eviction)" : nil,
      computations: computations.map {
        [
          $0.key, $0.load.place ?? -1, table.place(of: $0.load) ?? -1, $0.waiting,
          $0.isStale ? 1 : 0, $0.hasEnded ? 1 : 0, $0.isKept ? 1 : 0,
        ]
      },
      counts: [begun, time, table.ages.hand])
  }

  var events: [Event] {
    var events: [Event] = []
    for (index, computation) in computations.enumerated() where !computation.hasEnded {
      // A result that is not wanted changes nothing, whatever it is.
      let outcomes: [Outcome] =
        computation.isStale ? [.value, .forgottenFailure] : Outcome.allCases
      events += outcomes.map { .finish(index, $0) }
    }
    for index in computations.indices where computations[index].waiting > 0 {
      events.append(.leave(index))
    }
    for key in 0..<Self.keys {
      if begun < (cancels ? 2 : Self.computations) {
        let waiting = computations.first { $0.key == key && isWanted($0) }?.waiting ?? 0
        // The second key takes the slot of the first one, so one way to ask for it is enough.
        let isFull = !cancels || key == 0 || Self.computations > 2
        if waiting < (isFull ? 2 : 1) { events.append(.demand(key)) }
        if isFull { events.append(.refresh(key)) }
        if isFull, cancels, waiting < 2 { events.append(.renew(key)) }
      }
      if table.slots.place(of: key) != nil { events.append(.forget(key)) }
    }
    if !table.slots.slots.isEmpty { events.append(.forgetAll) }
    if time + 1 < Self.times.count { events.append(.pass) }
    return events
  }

  mutating func apply(_ event: Event) {
    var leavings = Table.Leavings()
    switch event {
    case .demand(let key): demand(key)
    case .refresh(let key): refresh(key, isAwaited: false)
    case .renew(let key): refresh(key, isAwaited: true)
    case .leave(let index): leave(index)
    case .forget(let key):
      table.forget(key, &leavings)
      forget { $0 == key }
    case .forgetAll:
      _ = table.forgetAll()
      forget { _ in true }
    case .finish(let index, let outcome): finish(computations.remove(at: index), outcome)
    case .pass: time += 1
    }
    check()
  }

  private func isWanted(_ computation: Computation) -> Bool {
    !computation.isStale && !computation.hasEnded
  }

  private func isComputing(_ key: Int) -> Bool {
    computations.contains { $0.key == key && isWanted($0) }
  }

  private mutating func refresh(_ key: Int, isAwaited: Bool) {
    let isComputing = isComputing(key)
    var leavings = Table.Leavings()
    var begun: (Table.Load, Table.Cell)?
    let renewal = table.refresh(key, at: now, &leavings) { Self.begin($0, &begun) }
    table.observe(key)
    note(begun, key)
    observe(renewal.cell, isAwaited: isAwaited)
    if renewal.isNew == isComputing || (begun == nil) != isComputing {
      violation = "key \(key) is computed twice, or not at all"
    }
  }

  private static func begin(
    _ load: Table.Load, _ computation: inout (Table.Load, Table.Cell)?
  ) -> Table.Cell {
    let cell = Table.Cell(evaluated: EmptyCollection<String>(), link: .end)
    computation = (load, cell)
    return cell
  }

  private mutating func observe(_ cell: Table.Cell, isAwaited: Bool) {
    guard cancels, let index = computations.firstIndex(where: { $0.cell === cell }) else { return }
    if isAwaited { computations[index].waiting += 1 } else { computations[index].isKept = true }
  }

  /// A caller leaves. The last one takes the computation with it, unless it was asked for in the background.
  private mutating func leave(_ index: Int) {
    let before = contents
    computations[index].waiting -= 1
    let computation = computations[index]
    let former = word(for: computation.key)
    var leavings = Table.Leavings()
    table.leave(computation.key, computation.cell, &leavings)
    if computation.hasEnded, computation.waiting == 0 { computations.remove(at: index) }
    guard isWanted(computation), computation.waiting == 0, !computation.isKept else {
      if contents != before { violation = "a caller that leaves changes something" }
      return
    }
    computations[index].isStale = true
    let hasOld = former != "computing"
    // A value that has expired may be removed at any event.
    let isRight =
      switch word(for: computation.key) {
      case "\(computation.key)": hasOld
      case nil: !hasOld || rule == .cancel && now >= 100
      default: false
      }
    if !isRight {
      violation = "key \(computation.key) was \(former ?? "nothing"), and the last caller left"
    }
  }

  private func word(for key: Int) -> String? {
    table.slots.place(of: key).map { MemoTableTests.word(table.slots[$0]) }
  }

  private mutating func demand(_ key: Int) {
    if let hit = table.hit(key, at: now) { return expect(hit, key) }
    let isComputing = isComputing(key)
    var begun: (Table.Load, Table.Cell)?
    var leavings = Table.Leavings()
    let answer = table.demand(key, at: now, &leavings) { Self.begin($0, &begun) }
    table.observe(key, answer)
    note(begun, key)
    switch answer {
    case .value(let value): expect(value, key)
    case .due(let value, let cell):
      expect(value, key)
      observe(cell, isAwaited: false)
      if begun == nil { violation = "key \(key) is due, and nobody computes it" }
    case .failure: break
    case .pending(let cell):
      observe(cell, isAwaited: true)
      if begun == nil, !isComputing { violation = "key \(key) waits for nobody" }
    }
    if begun != nil, isComputing { violation = "key \(key) is computed twice" }
  }

  private mutating func note(_ computation: (Table.Load, Table.Cell)?, _ key: Int) {
    guard let (load, cell) = computation else { return }
    begun += 1
    computations.append(Computation(load: load, key: key, cell: cell))
  }

  private mutating func forget(_ isForgotten: (Int) -> Bool) {
    for index in computations.indices where isForgotten(computations[index].key) {
      computations[index].isStale = true
    }
  }

  private mutating func finish(_ computation: Computation, _ outcome: Outcome) {
    let (before, failures) = (contents, table.statistics.failures)
    let key = computation.key
    var leavings = Table.Leavings()
    switch outcome {
    // A value of a computation that is not wanted can be told from the others.
    case .value:
      let value = computation.isStale ? "stale" : "\(key)"
      _ = table.finish(computation.load, .value(value, cost: 1), at: now, &leavings)
    case .failure:
      _ = table.finish(
        computation.load, .failure(Refused(), isRemembered: true), at: now, &leavings)
    case .forgottenFailure:
      _ = table.finish(
        computation.load, .failure(Refused(), isRemembered: false), at: now, &leavings)
    }
    let isCounted = outcome != .value && !(cancels && computation.isStale)
    if table.statistics.failures - failures != (isCounted ? 1 : 0) {
      violation = "failures are counted wrongly: \(outcome), wanted: \(!computation.isStale)"
    }
    if outcome != .value, computation.waiting > 0 {
      computations.append(computation)
      computations[computations.count - 1].hasEnded = true
    }
    if computation.isStale, contents != before {
      violation = "a stale computation changes something"
    }
    if !computation.isStale, outcome == .value, table.hit(key, at: now) != "\(key)" {
      violation = "the value of key \(key) is not there"
    }
  }

  private var contents: [String] {
    table.slots.slots.map { "\($0.key ?? -1) \(MemoTableTests.word($0.content))" }
  }

  private mutating func expect(_ value: String, _ key: Int) {
    if value != "\(key)" { violation = "key \(key) has the value \(value)" }
  }

  private mutating func check() {
    if violation != nil { return }
    for key in 0..<Self.keys {
      let isPending =
        switch table.slots.place(of: key).map({ table.slots[$0] }) {
        case .computing, .renewing: true
        case .none?, .value, .failure, nil: false
        }
      if isPending != isComputing(key) { violation = "key \(key) is pending: \(isPending)" }
    }
    if let broken = table.brokenInvariant { violation = broken }
    var renewing = 0
    for (place, slot) in table.slots.slots.enumerated() {
      var isKept = true
      switch slot.content {
      case .none, .computing: isKept = false
      case .value, .failure: break
      case .renewing: renewing += 1
      }
      guard table.isBounded, place < table.eviction.nodes.count else { continue }
      let node = table.eviction.nodes[place]
      if (node.queue != .none) != isKept { violation = "slot \(place) is not in its queue" }
      let isRenewing =
        switch slot.content {
        case .renewing: true
        case .none, .computing, .value, .failure: false
        }
      if node.isPinned != isRenewing { violation = "slot \(place) is pinned: \(node.isPinned)" }
    }
    if table.isBounded, renewing == 0, table.eviction.cost > table.eviction.limit {
      violation = "more is kept than there is room for"
    }
  }
}

@Suite("The table of memos: every order of events", .inTurn)
struct MemoTableOrdersTests {
  @Test(
    "a key is computed once at a time, forgotten results change nothing, and the counts are right",
    arguments: [nil, 1])
  func orders(_ limit: Int?) async {
    await MemoTableModel(limit: limit, .computeOn).expectSafe()
  }

  @Test(
    "what the last caller that waited has left is as if it had never been asked for", .tags(.long),
    arguments: RandomCases.areFull
      ? [(nil, .cancel), (1, .cancel), (nil, .cancelAndServeStale), (1, .cancelAndServeStale)]
      : [(nil, .cancel), (1, .cancelAndServeStale)] as [(Int?, MemoTableModel.Rule)])
  fileprivate func leaving(_ limit: Int?, _ rule: MemoTableModel.Rule) async {
    await MemoTableModel(limit: limit, rule).expectSafe()
  }
}
