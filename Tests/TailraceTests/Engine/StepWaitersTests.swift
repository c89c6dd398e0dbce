import Tailrace
import Testing

@testable import TailraceLists

/// The readers of a stage, each doing one thing after the other, and its step.
///
/// A reader asks: it drives the step, if that rests, and waits for it if it suspends; or it waits for the
/// attempt of another. It may be cancelled on the way, or while it waits, and asks again. A step gives an
/// element, or fails for now, or stops because nobody waits for it. Once its task has parked, the next
/// reader may drive it before those who wait are woken.
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
  /// The attempts that gave an element.
  var gave: [Int] = []
  /// The attempts that failed, and how they are told.
  var failed: [Int] = []
  /// How often each reader asks.
  let asks: [Int]
  var asked = [0, 0, 0]
  var lastTold = [0, 0, 0]
  /// The attempt whose reader was cancelled when it was about to come back.
  var unattended = 0
  var violation: String?

  init(asks: [Int]) { self.asks = asks }

  struct Key: Hashable {
    let waiting: [Int]
    let former: [Int]
    let coming: Int
    let isStepThere: Bool
    let failure: ClosedRange<Int>?
    let settling: ClosedRange<Int>?
    let readers: [Reader]
    let step: Step
    let attempt: Int
    let parked: Int
    let gave: [Int]
    let failed: [Int]
    let asked: [Int]
    let lastTold: [Int]
    let isUnattended: Bool
  }

  var key: Key {
    Key(
      waiting: waiters.waiters.entries.map(\.waiter.number).sorted(),
      former: waiters.former.entries.map(\.waiter.number).sorted(), coming: waiters.coming,
      isStepThere: waiters.step != nil, failure: waiters.failure?.attempts,
      settling: waiters.settling?.attempts, readers: readers,
      step: step, attempt: attempt, parked: parked, gave: gave, failed: failed, asked: asked,
      lastTold: lastTold, isUnattended: unattended == attempt)
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
      readers[number] = .away
      told(waiters.departs(own))
    case .drops(let number):
      guard case .comes(let own) = readers[number] else { return }
      waiters.drops(own)
      readers[number] = .returns(own)
    case .stayAway(let number):
      if readers[number] == .returns(attempt) { unattended = attempt }
      readers[number] = .away
    case .leave(let number):
      readers[number] = .away
      told(waiters.leave(guests[number]))
    case .look(let number):
      guard case .looks(let own) = readers[number] else { return }
      readers[number] = .away
      look(own, by: number)
    case .begin:
      let goesOn = waiters.stepWaits(with: stepGuest)
      if goesOn != isWanted { violation = "a step begins: \(goesOn), and is wanted: \(isWanted)" }
      step = goesOn ? .waits : .done
    case .give:
      waiters.stepGoesOn()
      step = .done
      gave.append(attempt)
    case .fail:
      waiters.stepGoesOn()
      if step != .told {
        if let before = waiters.settling?.error as? Mishap { failed.append(before.attempt) }
        _ = waiters.failed(Mishap(attempt: attempt), (gave.last ?? 0) + 1...attempt)
      }
      step = .done
    case .park:
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
    let before = waiters.settling?.error as? Mishap
    let woken = waiters.parked(after: last).waiters
    if let before, waiters.settling == nil { failed.append(before.attempt) }
    for guest in woken {
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

  /// Of the attempts at the element for which the reader waited, the last that failed is told.
  mutating func look(_ own: Int, by number: Int) {
    let told = (waiters.failure(of: own) as? Mishap)?.attempt
    let expected = failed.last.flatMap { last in
      own <= last && own > (gave.last { $0 < last } ?? 0) ? last : nil
    }
    if told != expected {
      violation = "attempt \(own): told of \(told ?? 0), not \(expected ?? 0)"
    }
    guard let told else { return }
    if lastTold[number] == told { violation = "reader \(number) was told twice of \(told)" }
    lastTold[number] = told
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
