import Tailrace
import Testing

@testable import TailraceLists

/// The readers of a stage, each doing one thing after the other, and its step.
///
/// A reader asks: it begins a step, if the task rests, and otherwise joins the attempt under way; in both cases
/// it comes to wait. It may be cancelled while it waits, and asks again. A step may stop because nobody waits
/// for it. Once its task has parked, the next reader may begin another before those who wait are woken.
private struct StepWaitersModel: Explorable {
  enum Event: Hashable {
    case ask(Int)
    case enter(Int)
    case leave(Int)
    case look(Int)
    case begin
    case end
    case park
    case wake
  }

  enum Reader: Hashable {
    case away
    /// Has begun the attempt, or found it under way, and is about to wait for it.
    case comes(Int)
    case waits(Int)
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
  /// How often each reader asks.
  let asks: [Int]
  var asked = [0, 0, 0]
  var violation: String?

  init(asks: [Int]) { self.asks = asks }

  struct Key: Hashable {
    let waiting: [Int]
    let former: [Int]
    let isComing: Bool
    let isStepThere: Bool
    let readers: [Reader]
    let step: Step
    let attempt: Int
    let parked: Int
    let asked: [Int]
  }

  var key: Key {
    Key(
      waiting: waiters.waiters.entries.map(\.waiter.number).sorted(),
      former: waiters.former.entries.map(\.waiter.number).sorted(), isComing: waiters.isComing,
      isStepThere: waiters.step != nil, readers: readers, step: step, attempt: attempt,
      parked: parked, asked: asked)
  }

  /// Whether somebody waits for the step that is in flight, or will.
  var isWanted: Bool {
    readers.contains { $0 == .waits(attempt) || $0 == .comes(attempt) || $0 == .looks(attempt) }
  }

  var events: [Event] {
    var events: [Event] = []
    for (number, reader) in readers.enumerated() {
      switch reader {
      case .away: if asked[number] < asks[number] { events.append(.ask(number)) }
      case .comes: events.append(.enter(number))
      case .waits: events.append(.leave(number))
      case .looks: events.append(.look(number))
      }
    }
    switch step {
    case .rests: break
    case .runs: events += [.begin, .end]
    case .waits, .told: events.append(.end)
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
        waiters.begins()
        step = .runs
      }
      readers[number] = .comes(attempt)
    case .enter(let number): enter(number)
    case .leave(let number):
      readers[number] = .away
      told(waiters.leave(guests[number]))
    case .look(let number):
      // Woken with those of the attempt before, it waits on.
      if isMissing(number) { enter(number) } else { readers[number] = .away }
    case .begin:
      let goesOn = waiters.stepWaits(with: stepGuest)
      if !goesOn, readers.contains(.waits(attempt)) {
        violation = "a step stops, and somebody waits for it"
      }
      step = goesOn ? .waits : .done
    case .end:
      waiters.stepGoesOn()
      step = .done
    case .park:
      step = .rests
      parked += 1
    case .wake:
      parked -= 1
      for guest in waiters.parked() {
        guard case .waits(let own) = readers[guest.number] else {
          violation = "guest \(guest.number) was woken, and does not wait"
          return
        }
        readers[guest.number] = .looks(own)
      }
    }
    if step == .waits, !isWanted { violation = "nobody waits, and the step was not told" }
    if parked == 0, readers.indices.contains(where: { isAsleep($0) }) {
      violation = "somebody waits for an attempt that is over"
    }
  }

  /// Whether the attempt of a reader is under way.
  func isMissing(_ number: Int) -> Bool {
    switch readers[number] {
    case .away: false
    case .comes(let own), .waits(let own), .looks(let own): own == attempt && step != .rests
    }
  }

  func isAsleep(_ number: Int) -> Bool {
    if case .waits = readers[number] { !isMissing(number) } else { false }
  }

  mutating func enter(_ number: Int) {
    switch readers[number] {
    case .comes(let own), .looks(let own):
      if isMissing(number) {
        waiters.enter(guests[number])
        readers[number] = .waits(own)
      } else {
        readers[number] = .looks(own)
      }
    case .away, .waits: break
    }
  }

  mutating func told(_ guest: Guest?) {
    guard guest != nil else { return }
    if readers.contains(.waits(attempt)) { violation = "the step was told, and somebody waits" }
    if step != .waits { violation = "told in the state \(step)" }
    step = .told
  }

  var violationAtRest: String? {
    if step != .rests { return "the step has not come to its end" }
    return readers.allSatisfy { $0 == .away } ? nil : "a reader has no answer"
  }
}

@Suite("StepWaiters: every order of events", .inTurn)
struct StepWaitersTests {
  @Test("a step waits if somebody is there, or the driver of its attempt is on its way")
  func coming() {
    final class Guest: Sendable {}
    let (step, reader) = (Guest(), Guest())
    var waiters = StepWaiters<Guest>()
    let isEarly = waiters.stepWaits(with: step)
    #expect(!isEarly && !waiters.isComing)
    waiters.begins()
    let isOnItsWay = waiters.stepWaits(with: step)
    #expect(isOnItsWay && waiters.isComing)
    waiters.enter(reader)
    #expect(!waiters.isComing)
    #expect(waiters.leave(reader) === step)
  }

  @Test("all who wait are woken, and the step is told when the last has left")
  func orders() async {
    await StepWaitersModel(asks: [2, 2, 0]).expectSafe()
    await StepWaitersModel(asks: [1, 1, 1]).expectSafe()
    await StepWaitersModel(asks: [2, 1, 1]).expectSafe()
    if RandomCases.areFull { await StepWaitersModel(asks: [2, 2, 2]).expectSafe(limit: 8_000_000) }
  }
}
