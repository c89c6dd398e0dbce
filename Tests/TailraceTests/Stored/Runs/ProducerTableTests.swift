import Testing

@testable import TailraceStored

/// The lists of a directory, and beside them what was acknowledged, and the producers that run.
private struct ProducerTableModel: Explorable, Hashable {
  enum Event: Hashable {
    case start(String), stored(String)
    case over(String, Int), failed(String, Int)
    case stop(String), ended(String), notEnded(String)
    case remove(String), removed(String), notRemoved(String)
    case close
  }

  var table = ProducerTable(limit: 1)
  /// The one list whose first state is being stored.
  var storing: String?
  /// What each list has been told to do.
  var runs: [String: Set<Int>] = ["a": [], "b": []]
  var acknowledged: Set<String> = []
  /// Lists whose stop was acknowledged.
  var stopped: Set<String> = []
  var begun = 0
  var violation: String?

  var events: [Event] {
    var events: [Event] = [.close]
    for key in ["a", "b"] {
      if storing == nil, begun < 4 { events.append(.start(key)) }
      if storing == key { events.append(.stored(key)) }
      events += [.stop(key), .remove(key)]
      for run in runs[key, default: []].sorted() {
        events += [.over(key, run), .failed(key, run)]
      }
      if table.phases[key] == .stopping { events += [.ended(key), .notEnded(key)] }
      if table.phases[key] == .removing { events += [.removed(key), .notRemoved(key)] }
    }
    return events
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .start(let key):
      switch table.start(key) {
      case .store: storing = key
      case .goesOn(let run): begin(key, run)
      case .isThere where !acknowledged.contains(key): violation = "\(key) was never stored"
      case .isThere, .isBusy, .isRefused: break
      }
    case .stored(let key):
      storing = nil
      acknowledged.insert(key)
      if let run = table.didStore(key) {
        begin(key, run)
      } else if !table.isClosed {
        violation = "\(key) is stored, and nobody produces it"
      }
    case .over(let key, let run):
      runs[key]?.remove(run)
      table.isOver(key, run, failure: nil)
    case .failed(let key, let run):
      runs[key]?.remove(run)
      table.isOver(key, run, failure: "failed")
    case .stop(let key):
      if table.stop(key), !acknowledged.contains(key) {
        violation = "\(key) is stopped and is none"
      }
    case .ended(let key):
      table.didStop(key, failure: nil)
      stopped.insert(key)
    case .notEnded(let key): table.didStop(key, failure: "full")
    case .remove(let key):
      if table.remove(key), runs[key]?.contains(where: { table.isProducing(key, $0) }) == true {
        violation = "\(key) is removed and produced"
      }
    case .removed(let key):
      table.didRemove(key, isGone: true)
      acknowledged.remove(key)
      stopped.remove(key)
    case .notRemoved(let key): table.didRemove(key, isGone: false)
    case .close: table.close()
    }
    check()
  }

  private mutating func begin(_ key: String, _ run: Int) {
    begun += 1
    if stopped.contains(key) { violation = "\(key) was stopped, and goes on" }
    if table.isClosed { violation = "\(key) begins when all is closed" }
    if !acknowledged.contains(key) { violation = "\(key) begins and is not stored" }
    runs[key]?.insert(run)
  }

  private mutating func check() {
    for (key, runs) in runs {
      let present = runs.filter { table.isProducing(key, $0) }
      if present.count > 1 { violation = "\(key) has two producers" }
      if acknowledged.contains(key), table.phases[key] == nil, !table.isClosed {
        violation = "\(key) was acknowledged, and is forgotten"
      }
    }
    if table.producing > table.limit { violation = "\(table.producing) are produced" }
  }
}

@Suite("Which lists of a directory are produced", .inTurn)
struct ProducerTableTests {
  @Test(
    "every order of events: one producer a key, not more than allowed, and none for what was stopped"
  )
  func orders() async {
    await ProducerTableModel().expectSafe(depth: 10, limit: 300_000, isComplete: false)
  }

  enum Change: CaseIterable {
    case start, isOver, fails, stop, didStop, cannotStop, remove, didRemove, cannotRemove

    /// Returns whether the list is to be stopped, or removed.
    func apply(to table: inout ProducerTable) -> Bool {
      switch self {
      case .start: _ = table.start("a")
      case .isOver: table.isOver("a", 1, failure: nil)
      case .fails: table.isOver("a", 1, failure: "x")
      case .stop: return table.stop("a")
      case .didStop: table.didStop("a", failure: nil)
      case .cannotStop: table.didStop("a", failure: "x")
      case .remove: return table.remove("a")
      case .didRemove: table.didRemove("a", isGone: true)
      case .cannotRemove: table.didRemove("a", isGone: false)
      }
      return false
    }
  }

  /// How a list comes to a phase, which it is in then, and what each event that does something makes of it.
  struct Row: Sendable, CustomTestStringConvertible {
    let way: [Change]
    let phase: ProducerTable.Phase
    let changes: [Change: ProducerTable.Phase?]
    var testDescription: String { "\(phase)" }
  }

  @Test(
    "every event in every phase: what it answers, and what becomes of the list",
    arguments: [
      Row(
        way: [], phase: .producing(run: 1),
        changes: [.isOver: .ended, .fails: .failed("x"), .stop: .stopping]),
      Row(
        way: [.fails], phase: .failed("x"),
        changes: [.start: .producing(run: 2), .stop: .stopping]),
      Row(
        way: [.stop], phase: .stopping, changes: [.didStop: .ended, .cannotStop: .failed("x")]),
      Row(way: [.isOver], phase: .ended, changes: [.remove: .removing]),
      Row(
        way: [.isOver, .remove], phase: .removing,
        changes: [.didRemove: nil, .cannotRemove: .ended]),
    ])
  func phases(_ row: Row) {
    for change in Change.allCases {
      var table = ProducerTable(limit: 1)
      #expect(table.didStore("a") == 1)
      for earlier in row.way { _ = earlier.apply(to: &table) }
      #expect(table.phases["a"] == row.phase)
      let isDone = change.apply(to: &table)
      #expect(table.phases["a"] == row.changes[change, default: row.phase], "\(change)")
      let answers = [Change.stop, .remove].contains(change)
      #expect(isDone == (answers && row.changes.keys.contains(change)))
    }
  }

  @Test("when all is closed nothing begins and nothing is removed; what ends still ends")
  func closed() {
    var table = ProducerTable(limit: 2)
    #expect(table.didStore("a") == 1)
    #expect(table.found("b", isEnded: true) == nil)
    table.close()
    for key in ["a", "b", "c"] { #expect(table.start(key) == .isRefused) }
    #expect(table.didStore("c") == nil)
    #expect(table.found("d", isEnded: false) == nil)
    #expect(table.remove("b") == false)
    table.isOver("a", 1, failure: nil)
    #expect(table.phases == ["a": .ended, "b": .ended])
  }

  @Test("lists of a former process all go on, and those that have ended do not")
  func found() {
    var table = ProducerTable(limit: 1)
    #expect(table.found("a", isEnded: false) == 1)
    #expect(table.found("b", isEnded: false) == 2)
    #expect(table.found("c", isEnded: true) == nil)
    #expect(table.found("a", isEnded: false) == nil)
    #expect(table.producing == 2)
    #expect(table.start("d") == .isBusy)
    #expect(table.start("c") == .isThere)
  }

  @Test(
    "a key is the name of a file, and no other key has it",
    arguments: ["a", "A", "a-b", "a_b", "a b", "..", "/", "é", "a/b", "_41", "0", "日本"])
  func names(_ key: String) {
    let name = ListFiles.name(of: key)
    #expect(ListFiles.key(of: name) == key)
    #expect(name.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-_".contains($0) })
    #expect(ListFiles.key(of: "A") == nil && ListFiles.key(of: "_4") == nil)
    #expect(ListFiles.key(of: "_61") == nil)
  }
}
