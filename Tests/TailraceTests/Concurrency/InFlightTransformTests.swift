import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("A step that runs beside others", .inTurn)
struct InFlightTransformTests {
  @Test("a waiter that leaves takes nobody along", arguments: 0..<3)
  func leaving(_ leaver: Int) {
    let all = [Waiter(), Waiter(), Waiter()]
    var state = InFlightState<Waiter>()
    #expect(state.begin(at: .medium) == true)
    for waiter in all { #expect(state.enter(waiter) == nil) }
    state.leave(all[leaver])
    let others = all.indices.filter { $0 != leaver }.map { all[$0] }
    #expect(state.complete().map(ObjectIdentifier.init) == others.map(ObjectIdentifier.init))
    #expect(state.enter(all[leaver]) != nil, "the result is there")
  }

  @Test(
    "a step that nobody wants does not begin, and one that has begun is cancelled when it is known")
  func unwanted() {
    var early = InFlightState<Waiter>()
    #expect(early.cancel().task == nil)
    #expect(early.begin(at: .medium) == false)
    var late = InFlightState<Waiter>()
    #expect(late.begin(at: .medium) == true)
    #expect(late.cancel().task == nil, "its task is being made")
    #expect(late.attach(Task {}, madeAt: .medium).isWanted == false, "which is to be cancelled")
    var known = InFlightState<Waiter>()
    #expect(known.begin(at: .medium) == true)
    let task = Task {}
    #expect(known.attach(task, madeAt: .medium).isWanted == true)
    #expect(known.cancel().task == task)
  }

  @Test("given up before it begins, a step releases those who wait for it, and takes no others")
  func givenUp() async throws {
    let rules = InFlightTransform<Int, Int>.Rules(isRetried: false) {
      $0
    } failure: { _ in
      nil
    }
    let step = InFlightTransform(rules, 7, 0, in: nil)
    let cell = MissingCell(step, mark: Published(count: 0), .one, since: 0)
    let (early, late) = (Waiter(), Waiter())
    #expect(step.enter(early, for: cell) == nil)
    step.cancel()
    step.start()
    try #require(!early.isWaiting, "nobody wakes it any more")
    guard case .released = await early.wait(cancellable: false),
      case .released? = step.enter(late, for: cell)
    else {
      Issue.record("a reader waits for a step that never begins")
      return
    }
  }

  @Test("a priority that waits before the task is known raises it when it is", arguments: 0..<4)
  func raisedEarly(_ moment: Int) {
    let task = Task {}
    var state = InFlightState<Waiter>()
    if moment == 0 { #expect(state.raise(to: .high) == nil, "it has not begun") }
    #expect(state.begin(at: .utility) == true)
    if moment == 1 { #expect(state.raise(to: .high) == nil, "its task is being made") }
    let (isWanted, raised) = state.attach(task, madeAt: .utility)
    #expect(isWanted)
    #expect(raised == (moment < 2 ? .high : nil))
    #expect(state.raise(to: .utility) == nil, "it was made with that")
    #expect(state.raise(to: .high) == (moment < 2 ? nil : task), "it was raised to that")
    #expect(state.raise(to: .high) == nil, "each priority is asked for once")
    _ = state.complete()
    #expect(state.raise(to: TaskPriority(rawValue: 99)) == nil, "it is done")
  }

  @Test("a reader that waits before the closure is started raises it", .timeLimit(.minutes(15)))
  func raisedBeforeItBegins() async {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let (gate, priority) = (Gate(), Probe<TaskPriority>())
    let rules = InFlightTransform<Int, Int>.Rules(isRetried: false) { number in
      await gate.wait()
      priority.record(Task.currentPriority)
      return number
    } failure: { _ in
      nil
    }
    let step = InFlightTransform(rules, 7, 0, in: nil)
    step.raise(to: .high)
    let starter = Probe<Int>()
    // Awaiting the starter would raise it.
    Task.detached(priority: .background) {
      step.start()
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
