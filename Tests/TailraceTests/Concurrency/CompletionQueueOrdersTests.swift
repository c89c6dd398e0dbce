import Tailrace
import TailraceSupport
import Testing

@testable import TailraceLists

/// Closures that run at the same time, their results in the order in which they come, and two readers.
private struct CompletionQueueModel: Explorable {
  enum Event: Hashable {
    case start, attach(Int), finish(Int, fails: Bool), demand(Int), waits(Int), leaves(Int)
    case raise, cancel
  }

  enum Reader: Hashable {
    case idle, asleep
    case waiting(after: Int)
  }

  struct Failure: Error {}

  static let limit = 2
  static let length = 3

  var state = CompletionQueueState<Int>()
  let waiters = [Waiter(), Waiter()]
  var readers = [Reader.idle, .idle]
  var started = 0
  struct Closure {
    /// Whether its task is known, whether that was cancelled, and whether it was raised.
    var isAttached = false
    var isCancelled = false
    var isRaised = false
    /// Whether a task of higher priority has waited for a result since it was started.
    var isAwaited = false
  }

  var running: [Int: Closure] = [:]
  /// Results that were not taken, in the order in which they came; a failure is negative.
  var finished: [Int] = []
  var hasFailed = false
  var isOver = false
  var taken = 0
  var violation: String?

  private static let tasks = (0..<length).map { _ in CompletionQueueState<Int>.Running {} }

  var key: String {
    let running = running.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    let model = "\(readers) \(started) \(running) \(finished) \(hasFailed) \(isOver) \(taken)"
    return "\(model) \(state.results.count) \(state.taken) \(state.isOver) \(state.waiters.count)"
  }

  var events: [Event] {
    var events: [Event] = []
    if started < Self.length, running.count < Self.limit { events.append(.start) }
    for (number, closure) in running.sorted(by: { $0.key < $1.key }) {
      if !closure.isAttached { events.append(.attach(number)) }
      events += [.finish(number, fails: false), .finish(number, fails: true)]
    }
    // The list demands one result more than it has taken, if there is one to come.
    let isExpecting = !isOver && (!running.isEmpty || !finished.isEmpty)
    for (number, reader) in readers.enumerated() {
      switch reader {
      case .idle: if isExpecting { events.append(.demand(number)) }
      case .waiting: events.append(.waits(number))
      case .asleep: events.append(.leaves(number))
      }
    }
    if readers.contains(.asleep) { events.append(.raise) }
    if !isOver { events.append(.cancel) }
    return events
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .start:
      let number = started
      started += 1
      let starts = state.starts(number, at: .low)
      if starts == (isOver || hasFailed) { violation = "starts(\(number)) gives \(starts)" }
      if starts { running[number] = Closure() }
    case .attach(let number):
      let (isWanted, raised) = state.attach(Self.tasks[number], number, madeAt: .low)
      if isWanted == (isOver || hasFailed) { violation = "attach(\(number)) gives \(isWanted)" }
      running[number]?.isAttached = true
      running[number]?.isCancelled = !isWanted
      if raised != nil { raise(number) }
    case .finish(let number, let fails):
      running[number] = nil
      var result: Result<Int, any Error>? = fails ? .failure(Failure()) : .success(number)
      let (cancelled, woken) = state.finished(number, &result)
      if !isOver, !hasFailed, result != nil { violation = "finished(\(number)) leaves its result" }
      cancel(cancelled)
      if !isOver, !hasFailed {
        finished.append(fails ? -1 - number : number)
        if fails { hasFailed = true }
      }
      wake(woken)
    case .demand(let reader):
      switch state.next() {
      case .result(let result):
        let value = (try? result.get()) ?? -1
        let expected = finished.isEmpty ? .min : finished.removeFirst()
        if expected < 0 ? value != -1 : value != expected {
          violation = "\(value), not \(expected)"
        }
        taken += 1
      case .wait(let after):
        if !finished.isEmpty { violation = "a result is there, and the demand waits" }
        readers[reader] = .waiting(after: after)
      }
    case .waits(let reader):
      guard case .waiting(let after) = readers[reader] else { return }
      readers[reader] = state.wait(waiters[reader], after: after) ? .asleep : .idle
    case .leaves(let reader):
      state.leave(waiters[reader])
      readers[reader] = .idle
    case .raise:
      for number in running.keys { running[number]!.isAwaited = true }
      let raised = state.raise(to: .high)
      for (number, task) in Self.tasks.enumerated() where raised.contains(task) { raise(number) }
    case .cancel:
      isOver = true
      let (cancelled, woken) = state.cancel()
      cancel(cancelled)
      wake(woken)
    }
    check()
  }

  private mutating func raise(_ number: Int) {
    if running[number]?.isRaised == true { violation = "closure \(number) is raised twice" }
    running[number]?.isRaised = true
  }

  private mutating func cancel(_ tasks: [CompletionQueueState<Int>.Running]) {
    for (number, task) in Self.tasks.enumerated() where tasks.contains(task) {
      running[number]?.isCancelled = true
    }
  }

  private mutating func wake(_ woken: [Waiter]) {
    for (number, waiter) in waiters.enumerated() where woken.contains(where: { $0 === waiter }) {
      readers[number] = .idle
    }
  }

  private mutating func check() {
    if violation != nil { return }
    let sleeps = readers.contains(.asleep)
    if sleeps, !finished.isEmpty { violation = "a result is there, and a reader sleeps" }
    if sleeps, running.isEmpty { violation = "nothing runs, and a reader sleeps" }
    if running.values.contains(where: { $0.isAttached && $0.isAwaited != $0.isRaised }) {
      violation = "a closure is not raised though it is awaited, or the other way round"
    }
    if isOver || hasFailed,
      running.values.contains(where: { $0.isAttached && !$0.isCancelled })
    {
      violation = "a closure that nobody wants runs on"
    }
  }
}

@Suite("CompletionQueue: every order of events", .inTurn)
struct CompletionQueueOrdersTests {
  @Test("results come in their order, unwanted closures are cancelled, and nobody sleeps for ever")
  func orders() async { await CompletionQueueModel().expectSafe() }
}
