import Tailrace
import Testing

@testable import TailraceLists

/// One element that several lists need, the attempts at it, and readers of the lists.
///
/// A demand is one event, because it holds the claims of what it computes. But others may look at what it has
/// published before it lets go of a claim: a reader may find any claim taken. The marks and the notes are the engine's; what a demand does with them is what `Cursor.isTold`, `Evaluator.demand`, `AsyncSteps.next` and
/// `Lookahead.next` do.
private struct PlaceModel: Explorable, Hashable {
  /// What computes a list's element.
  enum Source: Hashable {
    /// An asynchronous step, which fails so often.
    case step(fails: Int)
    case stage(of: Int)
    case pair(of: Int, and: Int)
    /// A failure is caught, and the list goes on as that one.
    case catching(Int, then: Int)
    /// The list is pulled ahead, by a task that has begun to.
    case ahead(of: Int)
  }

  struct Place: Hashable {
    var list: Int
    var seen = WaitingNote().seen.rawValue

    var note: WaitingNote {
      get { WaitingNote(Published(rawValue: seen), .one) }
      set { seen = newValue.seen.rawValue }
    }
  }

  /// An attempt of the step of a list.
  struct Attempt: Hashable {
    let list: Int
    let number: Int
  }

  enum Outcome: Hashable {
    case element, missing, again
    case failed(Attempt)
  }

  struct List: Hashable {
    let source: Source
    var mark = Published(count: 0).rawValue
    var failure: Attempt?
    var other: Int?
    /// The cursors of the stage, on its sources.
    var cursors: [Place]
    /// The number of attempts that were begun, and of those that are over.
    var begun = 0
    var over = 0
    var kept: Outcome?
    /// A pull ahead is under way; its task has waited.
    var isPulling = false
    var hasWaited = false

    var published: Published {
      get { Published(rawValue: mark) }
      set { mark = newValue.rawValue }
    }

    init(_ source: Source) {
      self.source = source
      switch source {
      case .step: cursors = []
      case .stage(let list), .catching(let list, _): cursors = [Place(list: list)]
      case .ahead(let list): (cursors, isPulling) = ([Place(list: list)], true)
      case .pair(let first, let second): cursors = [Place(list: first), Place(list: second)]
      }
    }
  }

  struct Reader: Hashable {
    let list: Int
    var place: Place
    var hasWaited = false
    /// How many attempts of each list were over when it asked; empty while it does not.
    var since: [Int] = []
    /// It has met a demand, which may have had the outcome of an attempt that was over.
    var hasMet = false
    /// The attempt that it has waited for last.
    var awaited: Attempt?
    var told: Set<Attempt> = []
    var hasElement = false

    init(_ list: Int) { (self.list, place) = (list, Place(list: list)) }
  }

  enum Event: Hashable {
    /// A reader asks, or looks again. A step that this begins suspends, or is done at once.
    case looks(Int, suspends: Bool)
    /// A reader asks, or looks again, and the claim of that list is taken, for a moment.
    case meets(Int, at: Int)
    case leaves(Int)
    /// A suspended step of that list is done.
    case ends(Int)
    /// The task that pulls ahead for that list pulls, or looks again.
    case pulls(Int)
  }

  var lists: [List]
  var readers: [Reader]
  var caught: Set<Attempt> = []
  var violation: String?
  private var suspends = true
  private var taken: Int?

  init(_ sources: [Source], readers: [Int]) {
    lists = sources.map { List($0) }
    self.readers = readers.map { Reader($0) }
  }

  private func isSuspended(_ list: Int) -> Bool { lists[list].begun > lists[list].over }

  var events: [Event] {
    var events: [Event] = []
    for (number, reader) in readers.enumerated() where !reader.hasElement {
      events += [.looks(number, suspends: true), .looks(number, suspends: false)]
      if !reader.hasMet { events += lists(below: reader.list).map { .meets(number, at: $0) } }
      if !reader.since.isEmpty { events.append(.leaves(number)) }
    }
    for list in lists.indices {
      if isSuspended(list) { events.append(.ends(list)) }
      if lists[list].isPulling { events.append(.pulls(list)) }
    }
    return events
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .looks(let number, let suspends):
      self.suspends = suspends
      looks(number)
      self.suspends = true
    case .meets(let number, let list):
      taken = list
      looks(number)
      taken = nil
    case .leaves(let number):
      readers[number].hasWaited = false
      readers[number].since = []
      readers[number].awaited = nil
      readers[number].hasMet = false
    case .ends(let list): lists[list].kept = end(list)
    case .pulls(let list):
      let outcome = pull(list, 0, hasWaited: lists[list].hasWaited)
      lists[list].hasWaited = outcome == .missing
      guard outcome != .missing else { return }
      lists[list].isPulling = false
      lists[list].kept = outcome
    }
  }

  private mutating func looks(_ number: Int) {
    var reader = readers[number]
    if reader.since.isEmpty {
      reader.since = lists.map(\.over)
      // The pull ahead is the attempt for which it waits. That may be told of a step before.
      if case .ahead(let below) = lists[reader.list].source, lists[reader.list].isPulling {
        reader.since[below] = 0
      }
    }
    let attempts = lists.map(\.begun)
    let outcome = pull(&reader.place, hasWaited: reader.hasWaited)
    reader.hasWaited = outcome == .missing
    switch outcome {
    case .element: reader.hasElement = true
    case .again: violation = "a demand has no answer"
    case .failed(let attempt):
      if !reader.told.insert(attempt).inserted { violation = "reader \(number) is told twice" }
      if caught.contains(attempt), case .catching = lists[reader.list].source {
        violation = "reader \(number) is told of what was caught below"
      }
      if attempt.number <= reader.since[attempt.list], !mayBeOld(attempt, for: reader),
        !reader.hasMet
      {
        violation = "reader \(number) is told of an attempt that was over when it asked"
      }
      (reader.since, reader.awaited, reader.hasMet) = ([], nil, false)
    case .missing where taken != nil: reader.hasMet = true
    case .missing:
      if let awaited = reader.awaited, !isSuspended(awaited.list),
        attempts[awaited.list] == awaited.number, isPlain(reader.list)
      {
        violation = "reader \(number) is not told of the attempt that it has waited for"
      }
      let step = step(below: reader.list)
      reader.awaited = isSuspended(step) ? Attempt(list: step, number: lists[step].begun) : nil
      if !lists.indices.contains(where: { isSuspended($0) || lists[$0].isPulling }) {
        violation = "reader \(number) waits for nothing"
      }
    }
    readers[number] = reader
  }

  /// A list, and those that its stage reads.
  private func lists(below list: Int) -> [Int] {
    switch lists[list].source {
    case .step: [list]
    case .stage(let below), .catching(let below, _), .ahead(let below): [list] + lists(below: below)
    case .pair(let first, let second): [list] + lists(below: first) + lists(below: second)
    }
  }

  /// Its readers are told of each attempt at the step below it.
  private func isPlain(_ list: Int) -> Bool {
    switch lists[list].source {
    case .step: true
    case .stage(let list): isPlain(list)
    case .pair, .catching, .ahead: false
    }
  }

  private func step(below list: Int) -> Int {
    if case .stage(let list) = lists[list].source { step(below: list) } else { list }
  }

  /// A stage with two sources tells who waits for the one of a failure of the other for which somebody else has
  /// waited.
  private func mayBeOld(_ attempt: Attempt, for reader: Reader) -> Bool {
    if case .pair = lists[reader.list].source { true } else { false }
  }

  // MARK: What the engine does

  private mutating func pull(_ list: Int, _ cursor: Int, hasWaited: Bool) -> Outcome {
    var place = lists[list].cursors[cursor]
    let outcome = pull(&place, hasWaited: hasWaited)
    lists[list].cursors[cursor] = place
    return outcome
  }

  /// A cursor.
  private mutating func pull(_ place: inout Place, hasWaited: Bool) -> Outcome {
    var hasWaited = hasWaited
    while true {
      if let other = lists[place.list].other {
        place = Place(list: other)
        continue
      }
      let mark = lists[place.list].published
      if mark.count > 0 { return .element }
      if hasWaited {
        switch place.note.change(at: mark) {
        case .none: break
        case .elsewhere: hasWaited = false
        case .failed:
          place.note = WaitingNote()
          return lists[place.list].failure.map { .failed($0) } ?? .again
        }
      }
      let outcome = demand(place.list, hasWaited)
      if outcome == .again { continue }
      place.note = outcome == .missing ? WaitingNote(mark, .one) : WaitingNote()
      return outcome
    }
  }

  private mutating func demand(_ list: Int, _ hasWaited: Bool) -> Outcome {
    if list == taken { return .missing }
    if case .step = lists[list].source, !hasWaited, !isSuspended(list),
      case .failed(let attempt)? = lists[list].kept
    {
      lists[list].kept = nil
      count(attempt, list)
      return .again
    }
    switch compute(list, hasWaited) {
    case .element:
      lists[list].published = lists[list].published.appended
      return .element
    case .failed(let attempt):
      if case .catching(_, let rest) = lists[list].source {
        if !caught.insert(attempt).inserted, !isCaughtBelow(list) {
          violation = "\(attempt) is caught twice"
        }
        lists[list].published = lists[list].published.closed
        lists[list].other = rest
        return .again
      }
      count(attempt, list)
      return .failed(attempt)
    case .missing: return .missing
    case .again: return .again
    }
  }

  /// Several lists may catch the failure of one attempt, each for its own readers.
  private func isCaughtBelow(_ list: Int) -> Bool {
    lists.count { if case .catching = $0.source { true } else { false } } > 1
  }

  private mutating func count(_ attempt: Attempt, _ list: Int) {
    lists[list].failure = attempt
    lists[list].published = lists[list].published.failed
  }

  private mutating func compute(_ list: Int, _ hasWaited: Bool) -> Outcome {
    switch lists[list].source {
    case .step:
      if isSuspended(list) { return .missing }
      if let kept = lists[list].kept.take() { return kept }
      lists[list].begun += 1
      return suspends ? .missing : end(list)
    case .stage, .catching: return pull(list, 0, hasWaited: hasWaited)
    case .pair:
      let first = pull(list, 0, hasWaited: hasWaited)
      return first == .element ? pull(list, 1, hasWaited: hasWaited) : first
    case .ahead:
      if lists[list].isPulling { return .missing }
      if let kept = lists[list].kept.take(), kept == .element || hasWaited { return kept }
      return pull(list, 0, hasWaited: hasWaited)
    }
  }

  private mutating func end(_ list: Int) -> Outcome {
    lists[list].over = lists[list].begun
    guard case .step(let fails) = lists[list].source, lists[list].begun <= fails else {
      return .element
    }
    return .failed(Attempt(list: list, number: lists[list].begun))
  }
}

@Suite("Waiting is for a place: every order of looks, attempts, and leaving readers", .inTurn)
struct WaitingForAPlaceTests {
  private let limit = Size.usual(10_000, full: 4_000_000)
  private let fails = 2

  @Test("of a list: two that wait, and a fresh one")
  func list() async {
    await PlaceModel([.step(fails: fails)], readers: [0, 0, 0]).expectSafe(
      limit: limit, isComplete: RandomCases.areFull)
  }

  @Test("of a list and a stage over it", arguments: [[0, 1, 1], [1, 1, 1]])
  func stage(_ readers: [Int]) async {
    await PlaceModel([.step(fails: 2), .stage(of: 0)], readers: readers).expectSafe(
      limit: limit, isComplete: RandomCases.areFull)
  }

  @Test("of a list and two stages over each other")
  func stages() async {
    await PlaceModel([.step(fails: 2), .stage(of: 0), .stage(of: 1)], readers: [0, 1, 2])
      .expectSafe(limit: limit, isComplete: RandomCases.areFull)
  }

  @Test("of a stage with two sources", arguments: [[2, 2], [0, 1, 2]])
  func pair(_ readers: [Int]) async {
    await PlaceModel(
      [.step(fails: 1), .step(fails: 1), .pair(of: 0, and: 1)], readers: readers
    ).expectSafe(limit: limit, isComplete: RandomCases.areFull)
  }

  @Test(
    "of a catch that goes on with the list that has failed", arguments: [[0, 1, 1], [1, 1, 1]])
  func caught(_ readers: [Int]) async {
    await PlaceModel([.step(fails: 2), .catching(0, then: 0)], readers: readers)
      .expectSafe(limit: limit, isComplete: RandomCases.areFull)
  }

  @Test("of a catch that catches once more, and goes on with the list")
  func caughtTwice() async {
    await PlaceModel(
      [.step(fails: 2), .catching(0, then: 2), .catching(0, then: 0)], readers: [0, 1, 1]
    ).expectSafe(limit: limit, isComplete: RandomCases.areFull)
  }

  @Test("behind look-ahead", arguments: [[1, 1], [0, 1]])
  func ahead(_ readers: [Int]) async {
    await PlaceModel([.step(fails: 2), .ahead(of: 0)], readers: readers).expectSafe(
      limit: limit, isComplete: RandomCases.areFull)
  }
}
