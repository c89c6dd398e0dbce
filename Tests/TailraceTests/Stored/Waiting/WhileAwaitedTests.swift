import Testing

@testable import TailraceStored

/// The one task, those that wait for it, and a shell whose actions happen later, in whatever order.
private struct WhileAwaitedModel: Explorable {
  typealias Awaited = WhileAwaited<String, Int>

  enum Event: Hashable {
    case enter(at: Int)
    /// A waiter gets its continuation; is cancelled; goes on after that.
    case suspend(Int), cancel(Int), leave(Int)
    /// All that wait at a position or before are told.
    case wake(upTo: Int)
    /// Nobody needs the run any more.
    case end
    /// The run with this number is over by itself, as its own view has it.
    case over(Int)
    /// The shell does what was decided.
    case perform(Awaited.Action)
    case alarm(Int)
  }

  struct Waiter: Hashable {
    var number: Int
    var position: Int
    var isSuspended = false
    var isCancelled = false
    var isTold = false
  }

  var awaited: Awaited
  let lingers: Bool
  var waiters: [Waiter] = []
  var entered = 0
  var pending: [Awaited.Action] = []
  /// The runs that were started, and whether each is cancelled.
  var runs: [Int: Bool] = [:]
  var alarms: [Int] = []
  var violation: String?

  init(lingers: Bool) {
    self.lingers = lingers
    awaited = Awaited(lingers: lingers)
  }

  /// What decides how it goes on.
  struct Key: Hashable {
    var waiters: [Waiter]
    var pending: [Awaited.Action]
    var runs: [Int: Bool]
    var alarms: [Int]
    var entered: Int
    var isRunning: Bool
  }

  var key: Key {
    Key(
      waiters: waiters, pending: pending, runs: runs, alarms: alarms, entered: entered,
      isRunning: awaited.isRunning)
  }

  var waiting: [Waiter] { waiters.filter { !$0.isTold } }

  var events: [Event] {
    var events: [Event] = pending.map { .perform($0) } + alarms.map { .alarm($0) }
    if entered < 3 { events += [.enter(at: 0), .enter(at: 1)] }
    for waiter in waiters {
      if waiter.isTold {
        if waiter.isSuspended { events.append(.leave(waiter.number)) }
      } else {
        events.append(.cancel(waiter.number))
      }
      if !waiter.isSuspended { events.append(.suspend(waiter.number)) }
    }
    events += [.wake(upTo: 0), .wake(upTo: 1), .end]
    return events + runs.keys.sorted().map { .over($0) }
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .enter(let position):
      let number = awaited.enter(position, deadline: position == 1 ? .seconds(1) : nil)
      waiters.append(Waiter(number: number, position: position))
      entered += 1
    case .suspend(let number):
      change(number) { $0.isSuspended = true }
      if awaited.wait(number, number) != nil { told(number, "was told early") }
    case .cancel(let number):
      change(number) { $0.isCancelled = true }
      awaited.cancel(number, "cancelled")
    case .leave(let number):
      waiters.removeAll { $0.number == number }
      awaited.left()
    case .wake(let position): awaited.wake("more") { $0 <= position }
    case .end: awaited.end()
    case .over(let run):
      runs[run] = nil
      if awaited.isOver(run) { awaited.wake("failed") { _ in true } }
    case .perform(let action):
      pending.removeAll { $0 == action }
      switch action {
      case .start(let run): runs[run] = !awaited.isPresent(run)
      // The shell has the task of this run, or will find that the run is over.
      case .cancel(let run): if runs[run] != nil { runs[run] = true }
      case .setAlarm(let number, _): alarms.append(number)
      }
    case .alarm(let number):
      alarms.removeAll { $0 == number }
      awaited.alarm(number, at: .seconds(1), "timed out")
    }
    let effects = awaited.takeEffects()
    pending += effects.actions
    for woken in effects.woken { told(woken.continuation, "was resumed") }
    // Those that were told before they had a continuation.
    if case .wake(let position) = event { early { $0.position <= position } }
    if case .over = event, !awaited.isRunning, awaited.count == 0 { early { _ in true } }
    if case .cancel(let number) = event { early { $0.number == number } }
    if case .alarm = event { early { $0.position == 1 } }
    check()
  }

  private mutating func change(_ number: Int, _ body: (inout Waiter) -> Void) {
    guard let index = waiters.firstIndex(where: { $0.number == number }) else { return }
    body(&waiters[index])
  }

  private mutating func told(_ number: Int, _ how: String) {
    guard let index = waiters.firstIndex(where: { $0.number == number }) else {
      return violation = "\(number) \(how), and has left"
    }
    waiters[index].isTold = true
  }

  /// They learn it when they suspend.
  private mutating func early(_ isTold: (Waiter) -> Bool) {
    for index in waiters.indices where !waiters[index].isSuspended && isTold(waiters[index]) {
      waiters[index].isTold = true
    }
  }

  private mutating func check() {
    if awaited.count != waiting.count {
      violation = "counts \(awaited.count) of \(waiting.count)"
    }
    if !waiting.isEmpty, !awaited.isRunning { violation = "nobody works for \(waiting)" }
    let present = runs.filter { awaited.isPresent($0.key) }
    if present.values.contains(true) { violation = "the present run is cancelled" }
    if present.count > 1 { violation = "two runs" }
    // Once everybody has left, and all is done that was decided.
    if waiters.isEmpty, pending.isEmpty {
      if !lingers, awaited.isRunning { violation = "a run for nobody" }
      if awaited.isRunning, present.isEmpty { violation = "a run that was never started" }
      if runs.contains(where: { !awaited.isPresent($0.key) && !$0.value }) {
        violation = "a run that was never cancelled"
      }
    }
    if waiting.contains(where: { $0.position == 1 }), alarms.isEmpty,
      !pending.contains(where: { if case .setAlarm = $0 { true } else { false } })
    {
      violation = "no alarm for a deadline"
    }
  }
}

@Suite("One task while somebody waits", .inTurn)
struct WhileAwaitedTests {
  @Test(
    "every order of events: whoever waits has one run and is told once; nobody waits: none",
    arguments: [false, true])
  func orders(_ lingers: Bool) async {
    await WhileAwaitedModel(lingers: lingers)
      .expectSafe(depth: 9, limit: Size.usual(40_000, full: 150_000), isComplete: false)
  }

  @Test("a task that is told before it has a continuation goes on at once")
  func early() {
    var awaited = WhileAwaited<String, Int>(lingers: false)
    let number = awaited.enter(3)
    #expect(awaited.takeEffects().actions == [.start(1)])
    #expect(awaited.wake("more") { $0 < 3 } == 0)
    #expect(awaited.wake("more") { $0 <= 3 } == 1)
    #expect(awaited.takeEffects().actions == [.cancel(1)])
    #expect(awaited.wait(number, 7) == "more")
  }

  @Test("one alarm for all deadlines: that of the first; one that was replaced is not heard")
  func alarms() {
    var awaited = WhileAwaited<String, Int>(lingers: false)
    let numbers = [9, 5, 7].map { awaited.enter(0, deadline: .seconds($0)) }
    #expect(
      awaited.takeEffects().actions
        == [.start(1), .setAlarm(1, at: .seconds(9)), .setAlarm(2, at: .seconds(5))])
    for (deadline, number) in zip([9, 5, 7], numbers) {
      #expect(awaited.wait(number, deadline) == nil)
    }
    awaited.alarm(1, at: .seconds(9), "too late")
    let none = awaited.takeEffects()
    #expect(none.actions.isEmpty && none.woken.isEmpty)
    let following: [(alarm: Int, deadline: Int, next: WhileAwaited<String, Int>.Action)] = [
      (2, 5, .setAlarm(3, at: .seconds(7))), (3, 7, .setAlarm(4, at: .seconds(9))),
      (4, 9, .cancel(1)),
    ]
    for (alarm, deadline, next) in following {
      awaited.alarm(alarm, at: .seconds(deadline), "too late")
      let effects = awaited.takeEffects()
      #expect(effects.woken.map(\.continuation) == [deadline])
      #expect(effects.actions == [next])
    }
  }
}
