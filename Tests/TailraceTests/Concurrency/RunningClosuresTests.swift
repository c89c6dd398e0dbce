import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("Closures that run at the same time", .inTurn)
struct RunningClosuresTests {
  private typealias State = RunningClosures<Int, Waiter>

  private static func known(inOrder: Bool, _ count: Int) -> State {
    var state = State(inOrder: inOrder)
    for number in 0..<count { state.add(number) }
    return state
  }

  @Test(
    "a priority that waits before the task is known raises it when it is",
    arguments: [true, false],
    0..<4)
  func raisedEarly(_ inOrder: Bool, _ moment: Int) {
    let (task, worker) = (Task {}, ClosureWorker(0))
    var state = Self.known(inOrder: inOrder, 1)
    if moment == 0 { #expect(state.raise(to: .high).isEmpty, "it has not begun") }
    #expect(state.begin(0, worker, at: .utility) == true)
    if moment == 1 { #expect(state.raise(to: .high).isEmpty, "its task is being made") }
    let (isWanted, raised) = state.attach(task, 0, worker, madeAt: .utility)
    #expect(isWanted)
    #expect(raised == (moment < 2 ? .high : nil))
    #expect(state.raise(to: .utility).isEmpty, "it was made with that")
    #expect(state.raise(to: .high) == (moment < 2 ? [] : [task]), "it was raised to that")
    #expect(state.raise(to: .high).isEmpty, "each priority is asked for once")
    var outcome: State.Outcome? = .success(7)
    _ = state.finish(0, &outcome)
    #expect(state.raise(to: TaskPriority(rawValue: 99)).isEmpty, "it is done")
  }

  @Test("in order, only the closure is raised that brings the next result; else all are")
  func raised() {
    for inOrder in [true, false] {
      var state = Self.known(inOrder: inOrder, 2)
      let tasks = (0..<2).map { _ in Task {} }
      for (number, task) in tasks.enumerated() {
        let worker = ClosureWorker(number)
        #expect(state.begin(number, worker, at: .utility) == true)
        _ = state.attach(task, number, worker, madeAt: .utility)
      }
      #expect(Set(state.raise(to: .high)) == Set(inOrder ? [tasks[0]] : tasks))
      #expect(state.awaited?.position == (inOrder ? 0 : nil))
    }
  }

  @Test("a failure that ends all: what has no result is forgotten, and nothing is added")
  func ending() {
    var state = Self.known(inOrder: false, 3)
    for number in 0..<2 { _ = state.begin(number, ClosureWorker(number), at: .medium) }
    var outcome: State.Outcome? = .failure(Mishap(position: 0))
    let left = state.finish(0, &outcome)
    #expect(left.closures.count == 2)
    #expect(Array(state.closures.keys) == [0])
    state.add(3)
    #expect(Array(state.closures.keys) == [0])
    #expect(!state.isMissing(after: 0))
  }

  @Test("the next result is missing until it has come, and only for those who have not taken it")
  func missing() throws {
    var state = Self.known(inOrder: true, 2)
    #expect(state.isMissing(after: 0))
    _ = state.begin(0, ClosureWorker(0), at: .medium)
    #expect(state.isMissing(after: 0))
    #expect(!state.isMissing(after: 1))
    var outcome: State.Outcome? = .success(7)
    _ = state.finish(0, &outcome)
    #expect(!state.isMissing(after: 0))
    guard case .result(let result) = state.next() else {
      Issue.record("there is a result")
      return
    }
    #expect(try result.get() == 7)
    #expect(!state.closures.keys.contains(0), "it would be kept with its task")
    #expect(!state.isMissing(after: 0))
    #expect(state.isMissing(after: 1))
  }

  @Test("a task of the first attempt that becomes known late is not taken for the second one's")
  func lateTask() {
    let (late, task) = (Task {}, Task {})
    let workers = [ClosureWorker(0), ClosureWorker(0)]
    var state = Self.known(inOrder: true, 1)
    _ = state.begin(0, workers[0], at: .medium)
    var outcome: State.Outcome? = .failure(Mishap(position: 0))
    _ = state.finish(0, &outcome, retried: Mishap(position: 0))
    guard case .failed = state.next(hasWaited: true) else { Issue.record("it is not told"); return }
    guard case .again(_, 0) = state.next() else { Issue.record("it is not tried again"); return }
    _ = state.begin(0, workers[1], at: .medium)
    _ = state.attach(task, 0, workers[1], madeAt: .medium)
    #expect(state.attach(late, 0, workers[0], madeAt: .medium).isWanted)
    #expect(state.discard(0)?.task == task)
  }

  @Test(
    "a failure is told to the demand that has begun the closure, if that looks next, and to one that has waited",
    arguments: [true, false], [true, false])
  func told(_ isDemanded: Bool, _ looksBefore: Bool) {
    for hasWaited in [true, false] { told(isDemanded, looksBefore, hasWaited) }
  }

  private func told(_ isDemanded: Bool, _ looksBefore: Bool, _ hasWaited: Bool) {
    var state = Self.known(inOrder: true, 1)
    _ = state.begin(0, ClosureWorker(0), at: .medium, isDemanded: isDemanded)
    if looksBefore {
      guard case .wait(0) = state.next() else { Issue.record("it has a result"); return }
    }
    var outcome: State.Outcome? = .failure(Mishap(position: 0))
    _ = state.finish(0, &outcome, retried: Mishap(position: 0))
    let isTold =
      switch state.next(hasWaited: hasWaited) {
      case .failed: true
      default: false
      }
    #expect(isTold == (hasWaited || isDemanded && !looksBefore))
    if isTold {
      guard case .again = state.next(hasWaited: true) else { Issue.record("told twice"); return }
    }
  }

  @Test("closures that are given up release those who wait for a result, and take no others")
  func givenUp() async throws {
    let closures = ConcurrentClosures<Int, Int>(inOrder: true, isRetried: false) { .success($0) }
    let slot = closures.add(7, 0)
    let cell = MissingCell(closures, mark: Published(count: 0), .one)
    let (early, late) = (Waiter(), Waiter())
    #expect(closures.enter(early, for: cell) == nil)
    closures.abandon()
    closures.start(slot, endingAtFailure: nil, isDemanded: true)
    try #require(!early.isWaiting, "nobody wakes it any more")
    guard case .released = await early.wait(cancellable: false),
      case .released? = closures.enter(late, for: cell)
    else {
      Issue.record("a reader waits for a closure that never begins")
      return
    }
  }

  @Test("a reader that waits before the closure is started raises it", .timeLimit(.minutes(15)))
  func raisedBeforeItBegins() async {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let (gate, priority) = (Gate(), Probe<TaskPriority>())
    let closures = ConcurrentClosures<Int, Int>(inOrder: true, isRetried: false) { number in
      await gate.wait()
      priority.record(Task.currentPriority)
      return .success(number)
    }
    let slot = closures.add(7, 0)
    closures.raise(to: .high)
    let starter = Probe<Int>()
    // Awaiting the starter would raise it.
    Task.detached(priority: .background) {
      closures.start(slot, endingAtFailure: nil, isDemanded: true)
      starter.record(0)
    }
    await starter.waitForCount(1)
    await gate.waitForArrivals(1)
    await raisesAreMade()
    gate.open()
    await priority.waitForCount(1)
    #expect(priority.values == [.high])
  }

  @Test("readers that are cancelled leave the others their result", .timeLimit(.minutes(15)))
  func cancelled() async {
    for round in 0..<200 {
      let gate = Gate()
      let list = LazyList(0..<1).concurrentMap(limit: 2) { element in
        await gate.wait()
        return element
      }
      let readers = (0..<4).map { _ in
        Task { () async -> Int? in
          var iterator = list.makeAsyncIterator()
          return await iterator.next()
        }
      }
      await gate.waitForArrivals(1)
      for _ in 0..<20 { await Task.yield() }
      readers[round % 4].cancel()
      _ = await readers[round % 4].value
      gate.open()
      for (number, reader) in readers.enumerated() where number != round % 4 {
        #expect(await reader.value == 0)
      }
    }
  }
}
