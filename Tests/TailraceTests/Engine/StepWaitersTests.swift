import Tailrace
import Testing

@testable import TailraceLists

/// The readers of a stage, each doing one thing after the other, and its step.
///
/// A reader asks: it drives the step, if that rests, and waits for it if it suspends; or it waits for the
/// attempt of another. It may be cancelled on the way, or while it waits, and asks again. A step gives an
/// element, or fails for now, or stops because nobody waits for it. Once its task has parked, the next
/// reader may drive it before those who wait are woken. The stage keeps its last failure.
private struct StepWaitersModel: Explorable {
  enum Event: Hashable {
    case ask(Int)
    case enter(Int)
    case departs(Int)
    case drops(Int)
    case stayAway(Int)
    case leave(Int)
    case look(Int)
    case begin
    case give
    case fail
    case park
    case wake
  }

  enum Reader: Hashable {
    case away
    /// Drives an attempt, or is on its way to wait for it.
    case comes(Int)
    case waits(Int)
    /// Has got other elements than that of the attempt, and comes back.
    case returns(Int)
    /// Was woken, or came too late to wait.
    case looks(Int)
  }

  enum Step: Hashable {
    case rests
    /// It is driven, and has not begun to wait.
    case runs
    case waits
    /// It was told that nobody waits.
    case told
    /// It is done, and its task has not parked.
    case done
  }

  struct Mishap: Error {
    let attempt: Int
  }

  /// Waiters are told apart by their identity, and printed by their number.
  final class Guest: Sendable, CustomStringConvertible {
    let number: Int
    init(_ number: Int) { self.number = number }
    var description: String { "guest \(number)" }
  }

  var waiters = StepWaiters<Guest>()
  let guests = (0..<3).map(Guest.init)
  let stepGuest = Guest(9)
  var readers = [Reader](repeating: .away, count: 3)
  var step = Step.rests
  var attempt = 0
  /// How many runners have parked the task, and have not woken those who wait.
  var parked = 0
  /// How many elements the steps have given.
  var given = 0
  var lastFailure: LastFailure?
  /// The time on the clock of failures, and since when each reader waits.
  var failures = 0
  var since = [Int](repeating: .max, count: 3)
  /// The failures that readers have waited for, until the element comes, or they are told.
  var owed = [0, 0, 0]
  /// How often each reader asks.
  let asks: [Int]
  var asked = [0, 0, 0]
  /// The attempt whose reader was cancelled when it was about to come back.
  var unattended = 0
  var violation: String?

  init(asks: [Int]) { self.asks = asks }

  struct Key: Hashable {
    let waiting: [Int]
    let former: [Int]
    let coming: Int
    let isStepThere: Bool
    let isTold: [Bool]
    let owed: [Int]
    let readers: [Reader]
    let step: Step
    let attempt: Int
    let parked: Int
    let given: Int
    let failures: Int
    let asked: [Int]
    let isUnattended: Bool
  }

  var key: Key {
    Key(
      waiting: waiters.waiters.entries.map(\.waiter.number).sorted(),
      former: waiters.former.entries.map(\.waiter.number).sorted(), coming: waiters.coming,
      isStepThere: waiters.step != nil,
      isTold: since.map { lastFailure?.told(at: given, since: $0) != nil }, owed: owed,
      readers: readers, step: step, attempt: attempt, parked: parked, given: given,
      failures: failures, asked: asked, isUnattended: unattended == attempt)
  }

  /// Whether somebody wants the step that is in flight.
  var isWanted: Bool {
    readers.contains { $0 == .waits(attempt) || $0 == .comes(attempt) }
  }

  var events: [Event] {
    var events: [Event] = []
    for (number, reader) in readers.enumerated() {
      switch reader {
      case .away: if asked[number] < asks[number] { events.append(.ask(number)) }
      case .comes(let own):
        events += [.enter(number), .departs(number)]
        if own != attempt || step != .runs { events.append(.drops(number)) }
      case .returns:
        if asked[number] < asks[number] { events.append(.ask(number)) }
        events.append(.stayAway(number))
      case .waits: events.append(.leave(number))
      case .looks: events.append(.look(number))
      }
    }
    switch step {
    case .rests: break
    case .runs: events += [.begin, .give, .fail]
    case .waits: events += [.give, .fail]
    case .told: events.append(.fail)
    case .done: events.append(.park)
    }
    if parked > 0 { events.append(.wake) }
    return events
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .ask(let number):
      asked[number] += 1
      since[number] = failures
      if step == .rests {
        attempt += 1
        waiters.comes(attempt)
        readers[number] = .comes(attempt)
        step = .runs
      } else {
        waiters.enter(guests[number], for: attempt)
        readers[number] = .waits(attempt)
      }
    case .enter(let number):
      guard case .comes(let own) = readers[number] else { return }
      if step == .rests || own != attempt {
        told(waiters.departs(own))
        readers[number] = .looks(own)
      } else {
        waiters.enter(guests[number], for: own, isBegun: true)
        readers[number] = .waits(own)
      }
    case .departs(let number):
      guard case .comes(let own) = readers[number] else { return }
      leaves(number)
      told(waiters.departs(own))
    case .drops(let number):
      guard case .comes(let own) = readers[number] else { return }
      waiters.drops(own)
      leaves(number)
      readers[number] = .returns(own)
    case .stayAway(let number):
      if readers[number] == .returns(attempt) { unattended = attempt }
      readers[number] = .away
    case .leave(let number):
      leaves(number)
      told(waiters.leave(guests[number]))
    case .look(let number):
      look(number)
    case .begin:
      let goesOn = waiters.stepWaits(with: stepGuest)
      if goesOn != isWanted { violation = "a step begins: \(goesOn), and is wanted: \(isWanted)" }
      step = goesOn ? .waits : .done
    case .give:
      waiters.stepGoesOn()
      step = .done
      given += 1
      owed = [0, 0, 0]
    case .fail:
      waiters.stepGoesOn()
      if step != .told { fail() }
      step = .done
    case .park:
      let isWaitedFor = readers.contains { $0 == .comes(attempt) || $0 == .waits(attempt) }
      if isWaitedFor, !waiters.isAwaited { violation = "somebody waits, and is not known to" }
      step = .rests
      parked += 1
    case .wake: wake()
    }
    let mayComeBack = readers.contains(.returns(attempt)) || unattended == attempt
    if step == .waits, !isWanted, !mayComeBack {
      violation = "nobody waits, and the step was not told"
    }
  }

  /// The runner that has parked the task wakes those who wait.
  mutating func wake() {
    parked -= 1
    let last = step == .rests ? attempt : attempt - 1
    for guest in waiters.parked(after: last) {
      guard case .waits(let own) = readers[guest.number] else {
        violation = "guest \(guest.number) was woken, and does not wait"
        return
      }
      if own > last { violation = "guest \(guest.number) was woken of an attempt under way" }
      readers[guest.number] = .looks(own)
    }
    let waits = readers.contains { if case .waits(let own) = $0 { own <= last } else { false } }
    if waits { violation = "somebody waits for an attempt that is over" }
  }

  /// All who wait, or have waited and not looked yet, are to be told.
  mutating func fail() {
    failures += 1
    lastFailure = LastFailure(FailedAttempt(Mishap(attempt: attempt), at: failures), at: given)
    for (number, reader) in readers.enumerated() where since[number] < .max && reader != .away {
      owed[number] = failures
    }
  }

  /// A reader is told of the last failure since it waits, if no element has come since.
  mutating func look(_ number: Int) {
    let told = lastFailure?.told(at: given, since: since[number])?.time ?? 0
    if told != owed[number] {
      violation = "reader \(number) was told of \(told), not of \(owed[number])"
    }
    leaves(number)
  }

  /// A reader has its answer, or gives up.
  mutating func leaves(_ number: Int) {
    (readers[number], since[number], owed[number]) = (.away, .max, 0)
  }

  mutating func told(_ guest: Guest?) {
    guard guest != nil else { return }
    if isWanted { violation = "the step was told, and somebody waits" }
    if step != .waits { violation = "told in the state \(step)" }
    step = .told
  }
}

@Suite("StepWaiters: every order of events", .inTurn)
struct StepWaitersTests {
  @Test("all who wait are woken once, told of their failure and of no other, and the step of them")
  func orders() async {
    await StepWaitersModel(asks: [2, 2, 0]).expectSafe()
    await StepWaitersModel(asks: [1, 1, 1]).expectSafe()
    if RandomCases.areFull { await StepWaitersModel(asks: [2, 1, 1]).expectSafe(limit: 8_000_000) }
  }
}
