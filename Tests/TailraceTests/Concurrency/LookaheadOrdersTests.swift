import Tailrace
import TailraceSupport
import Testing

@testable import TailraceLists

/// The state of look-ahead, two readers, a puller, and the closures that run for the slots.
///
/// The readers share the claim of the list that is read: one of them demands at a time, but while it sleeps
/// the other one may.
private struct LookaheadModel: Explorable {
  typealias State = LookaheadState<Int, Waiter>

  /// Readers are told apart by their identity, and printed by their number.
  final class Waiter: Sendable, CustomStringConvertible {
    let number: Int
    init(_ number: Int) { self.number = number }
    var description: String { "reader \(number)" }
  }

  private static let waiters = (0..<2).map(Waiter.init)

  enum Event: Hashable {
    /// A reader demands the next element.
    case demand(Int)
    /// So does look-ahead for another list, through a reader.
    case limitedDemand(Int)
    /// The outcomes of a pull by a reader, or by the task that pulls ahead.
    case pulls(Puller), ends(Puller), failsForNow(Puller), isInTheWay(Puller)
    /// The task that was started to pull ahead runs.
    case begins
    /// The slot that was filled is put into the state.
    case keeps(Puller)
    /// A reader that has to wait sleeps, and one that sleeps is cancelled.
    case sleeps(Int), leaves(Int)
    /// The task that pulls ahead is known.
    case attaches
    /// A closure fails for good.
    case fails(Int)
    case abandon
  }

  enum Puller: Hashable, CustomStringConvertible {
    case reader(Int), ahead

    var description: String {
      switch self {
      case .reader(let number): "reader \(number)"
      case .ahead: "ahead"
      }
    }
  }

  enum Reader: Hashable {
    case idle, asleep
    case pulling(orWait: Int?)
    case filled(Int)
    case waiting(after: Int)
  }

  enum Ahead: Hashable {
    case none, called, pulling
    case filled(Int)
  }

  /// A closure may run, and so fail, before its slot is in the state.
  let startsFirst: Bool
  let length = 4

  var state: State
  var readers: [Reader] = [.idle, .idle]
  var ahead = Ahead.none
  var isAttached = true
  var isCancelled = false
  /// How many elements were pulled; each has a closure that runs.
  var pulled = 0
  var running: Set<Int> = []
  var delivered: [Int] = []
  /// The first element whose closure has failed.
  var failed: Int?
  /// The front of the list that is read, and the cell for which each reader has waited there.
  var mark = Published(count: 0)
  var notes = [WaitingNote(), WaitingNote()]
  var hasWaited = [false, false]
  /// The readers that waited for an attempt that has failed, and are not told yet.
  var owed: Set<Int> = []
  /// The last demand was one that must not cause look-ahead.
  var isPaused = false
  /// What was to be pulled ahead after the last demand was given up.
  var isObstructed = false
  var hasEnded = false
  var isAbandoned = false
  var violation: String?

  init(distance: Int, startsFirst: Bool) {
    state = State(distance: distance)
    self.startsFirst = startsFirst
  }

  /// A puller is a task that never runs.
  private static let task = State.Puller {}

  var key: String {
    // How often attempts have failed is only compared with what was seen.
    """
    \(state) \(readers) \(ahead) \(isAttached) \(isCancelled) \(pulled) \(running.sorted()) \
    \(delivered) \(failed ?? -1) \(hasEnded) \(isAbandoned) \(owed.sorted()) \
    \(notes.map { $0.change(at: mark) }) \(hasWaited) \(isPaused) \
    \(isObstructed)
    """
  }

  var events: [Event] {
    var events: [Event] = []
    if isAbandoned, ahead == .none { return [] }
    // One holds the claim.
    let isClaimed = readers.contains { reader in
      switch reader {
      case .pulling, .filled: true
      default: false
      }
    }
    for (number, reader) in readers.enumerated() {
      switch reader {
      case .idle:
        if !isClaimed, !isAbandoned, !isAtFate {
          events += [.demand(number), .limitedDemand(number)]
        }
      case .pulling: events += outcomes(of: .reader(number))
      case .filled: events.append(.keeps(.reader(number)))
      case .waiting: events.append(.sleeps(number))
      case .asleep: events.append(.leaves(number))
      }
    }
    switch ahead {
    case .none: break
    case .called: events.append(.begins)
    case .pulling: if !isClaimed { events += outcomes(of: .ahead) }
    case .filled: events.append(.keeps(.ahead))
    }
    if ahead != .none, !isAttached { events.append(.attaches) }
    events += running.sorted().map { .fails($0) }
    if !isAbandoned, !isClaimed, readers.allSatisfy({ $0 == .idle }) { events.append(.abandon) }
    return events
  }

  /// A list that has come to an end, or to a failure, demands nothing more.
  private var isAtFate: Bool {
    if let failed, delivered.contains(failed) { return true }
    return hasEnded
  }

  private func outcomes(of puller: Puller) -> [Event] {
    [pulled < length ? .pulls(puller) : .ends(puller), .failsForNow(puller), .isInTheWay(puller)]
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .demand(let reader): demand(reader, isLimited: false)
    case .limitedDemand(let reader): demand(reader, isLimited: true)
    case .begins: ahead = state.begin() ? .pulling : .none
    case .pulls(.ahead) where isCancelled:
      ahead = .none
      isObstructed = true
      wake(state.gaveUp())
    case .pulls(let puller):
      set(puller, filled: pulled)
      if startsFirst { running.insert(pulled) }
      pulled += 1
    case .keeps(let puller): keep(puller)
    case .ends(let puller):
      wake(stop(puller) ? state.end(with: nil) : state.gaveUp())
    case .failsForNow(let puller):
      if stop(puller) { failForNow(puller) } else { wake(state.gaveUp()) }
    case .isInTheWay(let puller):
      if case .reader(let reader) = puller, case .pulling(let taken?) = readers[reader] {
        let (starts, waiters) = state.leftToTask()
        wake(waiters)
        if starts { pullAhead() }
        wait(reader, after: taken)
      } else {
        _ = stop(puller)
        isObstructed = true
        wake(state.gaveUp())
      }
    case .sleeps(let reader):
      guard case .waiting(let taken) = readers[reader] else { return }
      readers[reader] = state.enter(Self.waiters[reader], after: taken) ? .asleep : .idle
    case .leaves(let reader):
      state.leave(Self.waiters[reader])
      readers[reader] = .idle
      hasWaited[reader] = false
      owed.remove(reader)
    case .attaches:
      isAttached = true
      if !state.attach(Self.task, madeAt: .medium).isWanted { isCancelled = true }
    case .fails(let number):
      running.remove(number)
      failed = min(failed ?? .max, number)
      let left = state.failed(number)
      wake(left.waiters)
      if left.puller != nil { isCancelled = true }
      for slot in left.slots {
        if slot <= number { violation = "element \(slot) is discarded by the failure of \(number)" }
        running.remove(slot)
      }
    case .abandon:
      isAbandoned = true
      let left = state.abandon()
      if left.puller != nil { isCancelled = true }
      for slot in left.slots { running.remove(slot) }
      running.subtract(delivered)
      wake(left.waiters)
    }
    // Nobody is woken where nobody pulls.
    if violation == nil, ahead == .none, readers.contains(.asleep),
      !readers.contains(where: { $0 != .asleep && $0 != .idle })
    {
      violation = "a reader sleeps, and nobody pulls"
    }
    if violation == nil, state.slots.count > state.distance + 1 {
      violation = "\(state.slots.count) slots lie ahead"
    }
    if violation == nil, case .resting = state.source, !delivered.isEmpty, !isPaused, !isObstructed,
      ahead == .none, readers.allSatisfy({ $0 == .idle }), state.slots.count < state.distance
    {
      violation = "there is room, and nobody pulls ahead"
    }
  }

  /// Those who wait are to be told; a reader that has pulled for itself is.
  private mutating func failForNow(_ puller: Puller) {
    if case .pulling = state.source {
      for number in readers.indices where hasWaited[number] && state.slots.isEmpty {
        if notes[number].change(at: mark) == .none { owed.insert(number) }
      }
    }
    switch puller {
    case .ahead: wake(state.failed(Mishap(position: state.taken)))
    case .reader(let number):
      wake(state.failed(nil))
      mark = mark.failed
      hasWaited[number] = false
      owed.remove(number)
    }
  }

  private mutating func demand(_ reader: Int, isLimited: Bool) {
    if hasWaited[reader] {
      switch notes[reader].change(at: mark) {
      case .none: break
      case .failed: return tell(reader)
      case .elsewhere: hasWaited[reader] = false
      }
    }
    isPaused = isLimited
    var answer = state.demand(isLimited: isLimited)
    if case .failedTransiently = answer {
      if hasWaited[reader] {
        mark = mark.failed
        return tell(reader)
      }
      // Another attempt begins before those who waited for the last one have looked: they get its outcome.
      owed = owed.filter { notes[$0].change(at: mark) != .none }
      answer = state.demand(isLimited: isLimited)
    }
    if owed.remove(reader) != nil, !hasEnded, failed == nil, !isAbandoned {
      violation = "reader \(reader) is not told"
    }
    hasWaited[reader] = false
    switch answer {
    case .failedTransiently: violation = "a failure is kept twice"
    case .slot(let slot, let starts):
      deliver(slot)
      if starts { pullAhead() }
    case .pull(let taken): readers[reader] = .pulling(orWait: taken)
    case .wait(let taken): wait(reader, after: taken)
    case .end:
      hasEnded = true
      if let failed, !delivered.contains(failed) {
        violation = "the end is given, and the failure of element \(failed) is not"
      } else if failed == nil, delivered.count < length {
        violation = "the end is given after \(delivered.count) elements"
      }
    case .failed: violation = "a failure that nobody made"
    case .abandoned: if !isAbandoned { violation = "abandoned, though somebody reads" }
    }
  }

  private mutating func wait(_ reader: Int, after taken: Int) {
    readers[reader] = .waiting(after: taken)
    hasWaited[reader] = true
    notes[reader] = WaitingNote(mark, .one)
  }

  private mutating func tell(_ reader: Int) {
    if owed.remove(reader) == nil {
      violation = "reader \(reader) is told of what is not its attempt"
    }
    notes[reader] = WaitingNote()
    hasWaited[reader] = false
  }

  private mutating func deliver(_ slot: Int) {
    mark = mark.appended
    owed = []
    isObstructed = false
    if slot != delivered.count { violation = "element \(slot) after \(delivered)" }
    delivered.append(slot)
  }

  private mutating func pullAhead() {
    if ahead != .none { violation = "two pull ahead at once" }
    if isPaused { violation = "look-ahead causes look-ahead" }
    ahead = .called
    isAttached = false
    isCancelled = false
  }

  private mutating func keep(_ puller: Puller) {
    switch puller {
    case .reader(let reader):
      guard case .filled(let number) = readers[reader] else { return }
      readers[reader] = .idle
      if !startsFirst { running.insert(number) }
      deliver(number)
      let (starts, waiters) = state.pulledOnDemand()
      wake(waiters)
      if starts { pullAhead() }
    case .ahead:
      guard case .filled(let number) = ahead else { return }
      switch state.pulledAhead(number, number) {
      case .kept(let pullsOn, let waiters):
        if !startsFirst { running.insert(number) }
        if let failed, number > failed { violation = "element \(number) is kept behind a failure" }
        wake(waiters)
        if pullsOn, isPaused { violation = "look-ahead goes on for look-ahead" }
        ahead = pullsOn && !isCancelled ? .pulling : .none
        if pullsOn, isCancelled {
          isObstructed = true
          wake(state.gaveUp())
        }
      case .refused:
        running.remove(number)
        if !isAbandoned, failed.map({ number <= $0 }) ?? true {
          violation = "element \(number) is refused"
        }
        ahead = .none
      }
    }
  }

  private mutating func set(_ puller: Puller, filled number: Int) {
    switch puller {
    case .reader(let reader):
      guard case .pulling = readers[reader] else { return }
      readers[reader] = .filled(number)
    case .ahead: ahead = .filled(number)
    }
  }

  /// A pull gives nothing. False if it was cancelled: then it only says that it has stopped.
  private mutating func stop(_ puller: Puller) -> Bool {
    switch puller {
    case .reader(let reader):
      readers[reader] = .idle
      return true
    case .ahead:
      ahead = .none
      return !isCancelled
    }
  }

  private mutating func wake(_ waiters: [Waiter]) {
    for waiter in waiters.map(\.number) where readers[waiter] == .asleep {
      readers[waiter] = .idle
    }
  }
}

@Suite("The state of look-ahead: every order of events", .inTurn)
struct LookaheadOrdersTests {
  private let limit = Size.usual(4_000, full: 2_000_000)

  @Test(
    "elements come in order, a failure at its position, and nobody sleeps for ever",
    arguments: 0...2)
  func orders(_ distance: Int) async {
    await LookaheadModel(distance: distance, startsFirst: false).expectSafe(
      limit: limit, isComplete: distance == 0 || RandomCases.areFull)
  }

  // Why nothing of an element may run before its slot is kept.
  @Test("a closure that may fail before its slot is kept loses its failure", arguments: 1...2)
  func startsFirst(_ distance: Int) async {
    let exploration = await LookaheadModel(distance: distance, startsFirst: true).explored(
      limit: 100_000)
    if RandomCases.areFull { print(exploration) }
    #expect(
      exploration.violation?.contains("the end is given, and the failure of element") == true,
      "\(exploration)")
  }
}
