import Tailrace
import TailraceSupport
import Testing

@testable import TailraceLists

/// Three closures that run at the same time, their results, in order or as they come, and two readers.
private struct RunningModel: Explorable {
  typealias State = RunningClosures<Int, Reader>

  enum Event: Hashable {
    case add, begin(Int), attach(Attempt), finish(Int, fails: Bool)
    case demand(Int, hasWaited: Bool), waits(Int), leaves(Int), raise, abandon
  }

  /// Readers are told apart by their identity, and printed by their number.
  final class Reader: Sendable, CustomStringConvertible {
    let number: Int
    init(_ number: Int) { self.number = number }
    var description: String { "reader \(number)" }
  }

  struct Attempt: Hashable { let closure, number: Int }

  struct Running: Hashable {
    var isAttached = false
    var isCancelled = false
    var isRaised = false
    /// Whether a task of higher priority has waited for the result, since it began or before.
    var isAwaited = false
    var isRunning = true
  }

  enum Place: Hashable {
    case idle, asleep
    case waiting(after: Int)
  }

  struct Failure: Error {}

  static let length = 3
  private static let readers = (0..<2).map(Reader.init)
  private static let tasks = (0..<length).map { _ in (0..<2).map { _ in State.Running {} } }
  private static let workers = (0..<length).map { number in
    (0..<2).map { _ in ClosureWorker(number) }
  }

  let inOrder: Bool
  let isRetried: Bool
  var state: State
  var added = 0
  var unwanted: Set<Int> = []
  /// Awaited before they began.
  var awaited: Set<Int> = []
  var attempts: [Attempt: Running] = [:]
  /// Results that were not taken, in the order in which they came, and whether they are failures.
  var finished: [Int] = []
  var failed: Set<Int> = []
  /// Attempts that have failed, and will be repeated; whether a demand was told.
  var failedForNow: [Int: Bool] = [:]
  var places = [Place.idle, .idle]
  var taken = 0
  /// No other closure is started.
  var isStopped = false
  var isAtFate = false
  var isAbandoned = false
  var violation: String?

  init(inOrder: Bool, isRetried: Bool) {
    (self.inOrder, self.isRetried) = (inOrder, isRetried)
    state = State(inOrder: inOrder)
  }

  var key: String {
    let closures = state.closures.sorted { $0.key < $1.key }.map { number, closure in
      let phase =
        switch closure.phase {
        case .known: "known"
        case .running(let task): "running \(task != nil)"
        case .done(_, let task): "done \(task != nil)"
        case .failed(_, let isTold): "failed \(isTold)"
        }
      return "\(number) \(phase) \(closure.raisedTo)"
    }
    let attempts = attempts.sorted {
      ($0.key.closure, $0.key.number) < ($1.key.closure, $1.key.number)
    }
    return """
      \(closures) \(state.done) \(state.taken) \(state.isOver) \(state.isAbandoned) \(state.waiters) \
      \(added) \(unwanted.sorted()) \(awaited.sorted()) \(attempts) \(finished) \(failed.sorted()) \
      \(failedForNow.sorted { $0.key < $1.key }) \(places) \(taken) \(isStopped) \(isAtFate)
      """
  }

  private func isRunning(_ number: Int) -> Bool {
    attempts.contains { $0.key.closure == number && $0.value.isRunning }
  }

  private func isBegun(_ number: Int) -> Bool { attempts.keys.contains { $0.closure == number } }

  var events: [Event] {
    var events: [Event] = []
    if added < Self.length, !isStopped, !isAbandoned { events.append(.add) }
    for number in 0..<added {
      // The one that adds it begins it, also if it is not wanted any more.
      if !isBegun(number), !unwanted.contains(number) || number == added - 1 {
        events.append(.begin(number))
      }
      if isRunning(number) {
        events.append(.finish(number, fails: false))
        if !isRetried || attempts[Attempt(closure: number, number: 1)] == nil {
          events.append(.finish(number, fails: true))
        }
      }
    }
    events += attempts.filter { !$0.value.isAttached }.map { .attach($0.key) }
    for (reader, place) in places.enumerated() {
      switch place {
      case .idle:
        if taken < added, !isAtFate, !isAbandoned {
          events += [.demand(reader, hasWaited: false), .demand(reader, hasWaited: true)]
        }
      case .waiting: events.append(.waits(reader))
      case .asleep: events.append(.leaves(reader))
      }
    }
    if places.contains(.asleep) { events.append(.raise) }
    if !isAbandoned { events.append(.abandon) }
    return events
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .add:
      state.add(added)
      added += 1
    case .begin(let number): begin(number, attempt: 0)
    case .attach(let attempt):
      let (isWanted, raised) = state.attach(
        Self.tasks[attempt.closure][attempt.number], attempt.closure,
        Self.workers[attempt.closure][attempt.number], madeAt: .low)
      attempts[attempt]!.isAttached = true
      if !isWanted { attempts[attempt]!.isCancelled = true }
      if raised != nil { raise(attempt) }
      if !isWanted, attempts[attempt]!.isRunning, !unwanted.contains(attempt.closure) {
        violation = "closure \(attempt.closure) is cancelled, and is wanted"
      }
    case .finish(let number, let fails): finish(number, fails)
    case .demand(let reader, let hasWaited): demand(reader, hasWaited)
    case .waits(let reader):
      guard case .waiting(let after) = places[reader] else { return }
      let refusal = state.enter(Self.readers[reader], after: after)
      places[reader] = refusal == nil ? .asleep : .idle
      switch refusal {
      case .released? where !isAbandoned || after < taken:
        violation = "reader \(reader) is released"
      case .lookAgain? where isAbandoned && after == taken:
        violation = "reader \(reader) looks again for ever"
      default: break
      }
    case .leaves(let reader):
      state.leave(Self.readers[reader])
      places[reader] = .idle
    case .raise:
      let all = inOrder ? taken...taken : 0...added
      for number in all where number < added && !isDone(number) {
        if isRunning(number) {
          for attempt in attempts.keys where attempt.closure == number {
            if attempts[attempt]!.isRunning { attempts[attempt]!.isAwaited = true }
          }
        }
        awaited.insert(number)
      }
      let raised = state.raise(to: .high)
      for attempt in attempts.keys
      where raised.contains(Self.tasks[attempt.closure][attempt.number]) {
        raise(attempt)
      }
    case .abandon:
      isAbandoned = true
      let left = state.abandon()
      for number in 0..<added where !isDone(number) { unwanted.insert(number) }
      settle(left)
    }
    check()
  }

  private func isDone(_ number: Int) -> Bool {
    finished.contains(number) || inOrder && number < taken
      || isBegun(number) && !isRunning(number) && failedForNow[number] == nil
  }

  private mutating func begin(_ number: Int, attempt: Int) {
    let begins = state.begin(number, Self.workers[number][attempt], at: .low)
    if begins == unwanted.contains(number) { violation = "begin(\(number)) gives \(begins)" }
    var running = Running(isRunning: begins)
    running.isAwaited = awaited.contains(number)
    // Nothing is made of one that is not wanted.
    if !begins { running.isAttached = true }
    attempts[Attempt(closure: number, number: attempt)] = running
  }

  private mutating func finish(_ number: Int, _ fails: Bool) {
    for attempt in attempts.keys where attempt.closure == number {
      attempts[attempt]!.isRunning = false
    }
    // What lies behind a failure is discarded first.
    if fails, inOrder, !isRetried {
      isStopped = true
      for other in number + 1..<max(added, number + 1) where !unwanted.contains(other) {
        if let task = state.discard(other)?.task { cancel(task) }
        unwanted.insert(other)
        finished.removeAll { $0 == other }
      }
    }
    var outcome: State.Outcome? = fails ? .failure(Failure()) : .success(number)
    let left = state.finish(number, &outcome, retried: fails && isRetried ? Failure() : nil)
    let isWanted = !unwanted.contains(number)
    if isWanted != (outcome == nil) { violation = "the result of \(number) is taken: \(!isWanted)" }
    if isWanted {
      if fails, isRetried {
        failedForNow[number] = false
      } else {
        finished.append(number)
        if fails { failed.insert(number) }
        if fails, !inOrder {
          isStopped = true
          for other in 0..<added where !isDone(other) { unwanted.insert(other) }
        }
      }
    }
    settle(left)
  }

  private mutating func demand(_ reader: Int, _ hasWaited: Bool) {
    switch state.next(hasWaited: hasWaited) {
    case .result(let result):
      let expected = inOrder ? taken : finished.first
      guard let expected, let index = finished.firstIndex(of: expected) else {
        violation = "a result that is not there"
        return
      }
      finished.remove(at: index)
      taken += 1
      switch result {
      case .success(let value):
        if value != expected || failed.contains(expected) {
          violation = "\(value), not \(expected)"
        }
      case .failure:
        if !failed.contains(expected) { violation = "a failure, not \(expected)" }
        isAtFate = true
      }
    case .failed:
      if failedForNow[taken] != false { violation = "a failure is told again" }
      if !hasWaited { violation = "a reader that has not waited is told" }
      failedForNow[taken] = true
    case .again(_, let number):
      if number != taken || failedForNow[number] == nil
        || hasWaited && failedForNow[number] == false
      {
        violation = "\(number) is tried again, and who has waited is not told"
      }
      failedForNow[number] = nil
      begin(number, attempt: 1)
      places[reader] = .waiting(after: number)
    case .wait(let after):
      if after != taken { violation = "\(after) were taken, not \(taken)" }
      if inOrder ? finished.contains(taken) || failedForNow[taken] != nil : !finished.isEmpty {
        violation = "a result is there, and the demand waits"
      }
      places[reader] = .waiting(after: after)
    }
  }

  private mutating func raise(_ attempt: Attempt) {
    if attempts[attempt]!.isRaised { violation = "\(attempt) is raised twice" }
    if !attempts[attempt]!.isAwaited { violation = "\(attempt) is raised for nobody" }
    attempts[attempt]!.isRaised = true
  }

  private mutating func cancel(_ task: State.Running) {
    for attempt in attempts.keys where Self.tasks[attempt.closure][attempt.number] == task {
      attempts[attempt]!.isCancelled = true
    }
  }

  private mutating func settle(_ left: State.Leavings) {
    for closure in left.closures { if let task = closure.task { cancel(task) } }
    for waiter in left.waiters where places[waiter.number] == .asleep {
      places[waiter.number] = .idle
    }
  }

  private mutating func check() {
    if violation != nil { return }
    if places.contains(.asleep) {
      let isThere = inOrder ? finished.contains(taken) : !finished.isEmpty
      if isThere || isAbandoned || inOrder && failedForNow[taken] != nil {
        violation = "a reader sleeps, and nothing is to come"
      }
    }
    for (attempt, running) in attempts where running.isAttached && running.isRunning {
      if unwanted.contains(attempt.closure) != running.isCancelled {
        violation = "\(attempt) runs, and nobody wants it, or is cancelled, and somebody does"
      }
      if !running.isCancelled, running.isAwaited != running.isRaised {
        violation = "\(attempt) is not raised though it is awaited, or the other way round"
      }
    }
  }
}

@Suite("Closures that run at the same time: every order of events", .inTurn)
struct RunningClosuresOrdersTests {
  @Test(
    "results come in their order, unwanted closures are cancelled, and nobody sleeps for ever",
    arguments: [(true, false), (true, true), (false, false)])
  func orders(_ inOrder: Bool, _ isRetried: Bool) async {
    await RunningModel(inOrder: inOrder, isRetried: isRetried).expectSafe(
      limit: Size.usual(6_000, full: 5_000_000), isComplete: RandomCases.areFull)
  }
}
