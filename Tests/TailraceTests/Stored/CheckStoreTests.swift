import Tailrace
import TailraceStored
import TailraceSupport
import TailraceTesting
import Testing

@Suite("The kit that checks stores", .tags(.long), .hangLimit, .inTurn)
struct CheckStoreTests {
  @Test("a store in memory keeps all rules", arguments: [false, true])
  func memory(_ isShared: Bool) async throws {
    try await checkStore(reopening: { $0.other() }, trimming: { $0.trim(before: $1) }) {
      MemoryStore<Int, Int>(isShared: isShared)
    }
    try await checkStore(element: { "element \($0)" }, state: { [$0] }) {
      MemoryStore<String, [Int]>(isShared: isShared)
    }
  }

  @Test("a check in a task that is cancelled is the same check")
  func cancelled() async throws {
    try await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await checkStore(reopening: { $0.other() }) { MemoryStore<Int, Int>() }
    }.value
  }

  @Test("the store that the faults are built into has none by itself")
  func flawless() async throws {
    try await checkStore(reopening: { $0.reopened() }, trimming: { $0.trim(before: $1) }) {
      FaultyStore(nil)
    }
  }

  @Test(
    "a store that is wrong in one way breaks the rule that forbids it", arguments: Flaw.allCases)
  func faulty(_ flaw: Flaw) async throws {
    // A store that ignores cancellation waits here; the test lets it go.
    let door = Gate()
    defer { door.open() }
    do throws(StoreFaults) {
      try await checkStore(
        patience: .seconds(4), reopening: { $0.reopened() }, trimming: { $0.trim(before: $1) }
      ) {
        FaultyStore(flaw, door: door)
      }
      Issue.record("nothing was found")
    } catch {
      #expect(error.rules.contains(flaw.rule), "\(error)")
      #expect(error.description.contains(flaw.rule.rawValue))
    }
  }

  @Test("every rule is broken by some store of these")
  func complete() {
    #expect(Set(Flaw.allCases.map(\.rule)) == Set(StoreRule.allCases))
  }
}

/// One way to be wrong.
enum Flaw: CaseIterable {
  case isNotEmpty, isEndedAtFirst
  case readsBackwards, readsTooMany, readsNothingNow, readsOneOff
  case endsEarly, forgetsTheEnd, losesAnEmptyEnd
  case appendsAnywhere, appendsBehindTheEnd, overwrites, refusesEverything
  case checksThenActs, failsInRaces, trustsItsClaim, staysSuperseded
  case changesElements
  case storesOneByOne
  case leasesInTwoSteps, countsStatesWrong, clearsTheState
  case neverWakes, losesWakeUps, ignoresTheEnd, ignoresCancellation
  case stopsWhenCancelled, losesAfterCancellation
  case isForgetful
  case miscounts, sharesItsIdentity, changesItsIdentity, takesTheClaim
  case shiftsPositions, hidesTrims, trimsAll

  var rule: StoreRule {
    switch self {
    case .isNotEmpty, .isEndedAtFirst: .beginsEmpty
    case .readsBackwards, .readsTooMany, .readsNothingNow, .readsOneOff: .readsInOrder
    case .endsEarly, .forgetsTheEnd: .tellsTheEnd
    case .losesAnEmptyEnd: .storesAnEmptyEnd
    case .appendsAnywhere, .appendsBehindTheEnd, .overwrites, .refusesEverything:
      .appendsAtTheEndOnly
    case .trustsItsClaim: .refusesStaleLeases
    case .staysSuperseded: .goesOnWhenSuperseded
    case .changesElements: .keepsElements
    case .checksThenActs, .failsInRaces: .hasOneWinner
    case .storesOneByOne: .storesCommitsWhole
    case .leasesInTwoSteps: .leaseIsOneSnapshot
    case .countsStatesWrong, .clearsTheState: .keepsTheState
    case .neverWakes, .losesWakeUps, .ignoresTheEnd: .wakesThoseWhoWait
    case .ignoresCancellation: .letsCancelledOnesGo
    case .stopsWhenCancelled, .losesAfterCancellation: .survivesCancellation
    case .isForgetful: .isThereForOthers
    case .miscounts, .sharesItsIdentity, .changesItsIdentity, .takesTheClaim: .tellsItsExtent
    case .shiftsPositions, .hidesTrims, .trimsAll: .trimsTheBeginning
    }
  }
}

/// A store in memory with one flaw.
final class FaultyStore: ListStore {
  typealias Commit = ListCommit<Int, Int>

  struct Contents: Sendable {
    var elements: [Int] = []
    var (state, stateCount) = (Int?.none, 0)
    var isEnded = false
    var reads = 0
    /// The first element kept.
    var first = 0
    /// Whether the next append is superseded.
    var isFenced = false
    let identity = "list-\(UInt64.random(in: 0...(.max)))"
  }

  /// The contents that several handles share.
  final class Place: Sendable {
    let contents = Locked(Contents())
  }

  let flaw: Flaw?
  private let place: Place
  private let door: Gate
  /// How many elements there were when this handle looked last.
  private let known = Locked(0)
  private let wasSuperseded = Locked(false)

  init(_ flaw: Flaw?, _ place: Place = Place(), door: Gate = Gate()) {
    self.flaw = flaw
    self.door = door
    self.place = place
    if flaw == .isNotEmpty { place.contents.withLock { $0.elements = [7] } }
    if flaw == .isEndedAtFirst { place.contents.withLock { $0.isEnded = true } }
  }

  /// Another handle.
  func reopened() -> FaultyStore {
    flaw == .isForgetful ? FaultyStore(nil) : FaultyStore(flaw, place, door: door)
  }

  func read(from position: Int, upTo count: Int) async throws -> ListPage<Int> {
    try place.contents.withLock { contents -> Result<ListPage<Int>, ListStoreError> in
      contents.reads += 1
      if position < contents.first {
        return flaw == .hidesTrims
          ? .success(ListPage([])) : .failure(.trimmed(first: contents.first))
      }
      let all = contents.elements
      var position = position
      if flaw == .readsOneOff, position > 0 { position -= 1 }
      let limit = flaw == .readsTooMany ? count + 1 : count
      var elements = Array(all.dropFirst(position).prefix(limit))
      if flaw == .readsBackwards { elements.reverse() }
      if flaw == .readsNothingNow, contents.reads % 3 == 0 { elements = [] }
      let isComplete = position + elements.count >= all.count
      let isEnd =
        switch flaw {
        case .endsEarly: contents.isEnded
        case .forgetsTheEnd: false
        default: contents.isEnded && isComplete
        }
      return .success(ListPage(elements, isEnd: isEnd))
    }.get()
  }

  func extent() async throws -> ListExtent {
    place.contents.withLock { contents in
      if flaw == .takesTheClaim { contents.isFenced = true }
      let identity =
        switch flaw {
        case .sharesItsIdentity: "list"
        case .changesItsIdentity: "list-\(contents.elements.count)"
        default: contents.identity
        }
      return ListExtent(
        identity: identity, first: contents.first,
        count: contents.elements.count + (flaw == .miscounts ? 1 : 0), isEnded: contents.isEnded)
    }
  }

  func trim(before position: Int) {
    place.contents.withLock { contents in
      let first = flaw == .trimsAll ? contents.elements.count : position
      if flaw == .shiftsPositions {
        contents.elements.removeFirst(min(first, contents.elements.count))
      } else {
        contents.first = max(contents.first, first)
      }
    }
  }

  func waitForMore(than position: Int) async throws {
    var position = position
    if flaw == .losesWakeUps {
      // It takes a while to look.
      for _ in 0..<6 { await Task.yield() }
      if place.contents.withLock({ $0.elements.count <= position }) {
        // What comes now, before it is entered as one that waits, is not told.
        for _ in 0..<2 { await Task.yield() }
        position = place.contents.withLock { $0.elements.count }
      }
    }
    while true {
      let (hasMore, isEnded) = place.contents.withLock {
        ($0.elements.count > position, $0.isEnded)
      }
      if flaw == .neverWakes || flaw == .ignoresTheEnd && isEnded && !hasMore {
        // Not by looking again and again, as other waits of these stores do.
        return try await Gate().waitUntilCancelled()
      }
      if hasMore || isEnded { return }
      if flaw == .ignoresCancellation, Task.isCancelled { return await door.wait() }
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  func acquireLease() async throws -> ListCheckpoint<Int>? {
    if flaw == .leasesInTwoSteps {
      let state = place.contents.withLock { $0.state }
      for _ in 0..<3 { await Task.yield() }
      return place.contents.withLock {
        ListCheckpoint(
          count: $0.elements.count, state: state, stateCount: $0.stateCount, isEnded: $0.isEnded)
      }
    }
    return place.contents.withLock { contents in
      let count = contents.elements.count
      let isOther = known.withLock { known in
        defer { known = count }
        return known != count
      }
      if flaw == .changesElements, isOther { contents.elements[count - 1] = -1 }
      return ListCheckpoint(
        count: count, state: contents.state,
        stateCount: flaw == .countsStatesWrong ? count : contents.stateCount,
        isEnded: contents.isEnded)
    }
  }

  func append(_ commit: Commit, at position: Int) async throws {
    let isTaken = place.contents.withLock { contents in
      let isTaken = takes(commit, at: position, contents) && !contents.isFenced
      contents.isFenced = false
      if isTaken, storesAtOnce { store(commit, at: position, in: &contents) }
      return isTaken
    }
    guard isTaken else {
      wasSuperseded.withLock { $0 = true }
      throw flaw == .failsInRaces ? Mishap(position: position) : ListStoreError.superseded
    }
    switch flaw {
    case .storesOneByOne, .stopsWhenCancelled: try await appendSlowly(commit)
    case .losesAfterCancellation where Task.isCancelled: return
    case .losesAfterCancellation: store(commit, at: position)
    case .checksThenActs:
      for _ in 0..<3 { await Task.yield() }
      store(commit, at: position)
    default: break
    }
  }

  private func takes(_ commit: Commit, at position: Int, _ contents: Contents) -> Bool {
    switch flaw {
    case .appendsAnywhere: !contents.isEnded
    case .appendsBehindTheEnd: contents.elements.count == position
    case .overwrites: contents.elements.count >= position && !contents.isEnded
    case .refusesEverything: false
    case .staysSuperseded where wasSuperseded.withLock { $0 }: false
    case .trustsItsClaim: known.withLock { $0 == position } && !contents.isEnded
    case .losesAnEmptyEnd where commit.elements.isEmpty: false
    default: contents.elements.count == position && !contents.isEnded
    }
  }

  /// Whether a commit is stored under the lock that it was judged under.
  private var storesAtOnce: Bool {
    switch flaw {
    case .storesOneByOne, .stopsWhenCancelled, .losesAfterCancellation, .checksThenActs: false
    default: true
    }
  }

  private func appendSlowly(_ commit: Commit) async throws {
    for element in commit.elements {
      place.contents.withLock { $0.elements.append(element) }
      await Task.yield()
      if flaw == .stopsWhenCancelled { try Task.checkCancellation() }
    }
    store(Commit([], state: commit.state, isEnd: commit.isEnd), at: .max)
  }

  private func store(_ commit: Commit, at position: Int) {
    place.contents.withLock { store(commit, at: position, in: &$0) }
  }

  private func store(_ commit: Commit, at position: Int, in contents: inout Contents) {
    if flaw == .overwrites { contents.elements.removeLast(contents.elements.count - position) }
    contents.elements += commit.elements
    if commit.isEnd { contents.isEnded = true }
    if commit.state != nil || flaw == .clearsTheState {
      (contents.state, contents.stateCount) = (commit.state, contents.elements.count)
    }
    known.withLock { [count = contents.elements.count] in $0 = count }
  }
}
