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
    /// Its result is no longer wanted: its key was forgotten.
    var isStale = false
  }

  static let (keys, times, computations) = (2, [Int64(0), 60, 120], Size.usual(2, full: 3))

  var table: Table
  var computations: [Computation] = []
  var begun = 0
  var time = 0
  var violation: String?

  init(limit: Int?) {
    table = Table(
      limit: limit, Ages(lifetime: .nanoseconds(100), refreshingAfter: .nanoseconds(50)))
  }

  var now: Int64 { Self.times[time] }

  var key: String {
    let slots = table.slots.slots.map { "\($0.key ?? -1) \(MemoTableTests.word($0.content))" }
    let computations = computations.map {
      "\($0.key) \($0.load.place ?? -1) \($0.isStale) \(table.place(of: $0.load) ?? -1)"
    }
    return "\(slots) \(table.ages) \(table.eviction) \(computations) \(begun) \(time)"
  }

  var events: [Event] {
    var events = computations.indices.flatMap { index in
      // A result that is not wanted changes nothing, whatever it is.
      computations[index].isStale
        ? [Event.finish(index, .value), .finish(index, .forgottenFailure)]
        : Outcome.allCases.map { Event.finish(index, $0) }
    }
    for key in 0..<Self.keys {
      if begun < Self.computations { events += [.demand(key), .refresh(key)] }
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
    case .refresh(let key):
      let isComputing = isComputing(key)
      var load: Table.Load?
      let begun = table.refresh(key, at: now, &leavings) {
        load = $0
        return Self.cell
      }
      note(load, key)
      if begun?.isNew == isComputing || (load == nil) != isComputing {
        violation = "key \(key) is computed twice, or not at all"
      }
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

  private static let cell = Segment<String>(evaluated: EmptyCollection<String>(), link: .end)

  private func isComputing(_ key: Int) -> Bool {
    computations.contains { $0.key == key && !$0.isStale }
  }

  private mutating func demand(_ key: Int) {
    if let hit = table.hit(key, at: now) { return expect(hit, key) }
    let isComputing = isComputing(key)
    var load: Table.Load?
    var leavings = Table.Leavings()
    let answer = table.demand(key, at: now, &leavings) {
      load = $0
      return Self.cell
    }
    note(load, key)
    switch answer {
    case .value(let value): expect(value, key)
    case .due(let value, _):
      expect(value, key)
      if load == nil { violation = "key \(key) is due, and nobody computes it" }
    case .failure: break
    case .pending:
      if load == nil, !isComputing { violation = "key \(key) waits for nobody" }
    }
    if load != nil, isComputing { violation = "key \(key) is computed twice" }
  }

  private mutating func note(_ load: Table.Load?, _ key: Int) {
    guard let load else { return }
    begun += 1
    computations.append(Computation(load: load, key: key))
  }

  private mutating func forget(_ isForgotten: (Int) -> Bool) {
    for index in computations.indices where isForgotten(computations[index].key) {
      computations[index].isStale = true
    }
  }

  private mutating func finish(_ computation: Computation, _ outcome: Outcome) {
    let before = contents
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
        switch table.peek(key, at: 0) {
        case .computing, .renewing, .replacing: true
        case .none, .value, .failure, .stale: false
        }
      if isPending != isComputing(key) { violation = "key \(key) is pending: \(isPending)" }
    }
    if let broken = table.brokenInvariant { violation = broken }
    var renewing = 0
    for (place, slot) in table.slots.slots.enumerated() {
      var isKept = true
      switch slot.content {
      case .none, .computing, .stale, .replacing: isKept = false
      case .value, .failure: break
      case .renewing: renewing += 1
      }
      guard table.isBounded, place < table.eviction.nodes.count else { continue }
      let node = table.eviction.nodes[place]
      if (node.queue != .none) != isKept { violation = "slot \(place) is not in its queue" }
      var isRenewing = false
      if case .renewing = slot.content { isRenewing = true }
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
    await MemoTableModel(limit: limit).expectSafe()
  }
}
