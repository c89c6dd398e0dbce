import Dispatch
import Tailrace
import TailraceTesting
import Testing

/// What the project says of itself in a few words, each as a test.
@Suite("The project in a few words")
struct CardTests {
  @Test("the cells of a list are isolated: a step runs once, whichever actors ask at once")
  func cells() async {
    actor Reader {
      func sum(of list: LazyList<Int, Never>) async -> Int { await list.reduce(0, +) }
    }
    let (calls, running, greatest) = (Counter(), Counter(), Probe<Int>())
    let list = LazyList(1...100).map { (number: Int) async -> Int in
      calls.increment()
      greatest.record(running.increment())
      await Task.yield()
      _ = running.increment(by: -1)
      return number
    }
    await withTaskGroup(of: Int.self) { group in
      for _ in 0..<8 { group.addTask { await Reader().sum(of: list) } }
      for await sum in group { #expect(sum == 5050) }
    }
    #expect(calls.value == 100 && greatest.values.allSatisfy { $0 == 1 })
  }

  @Test("executors over Dispatch: tasks, actors and blocks of one queue exclude each other")
  func executors() async {
    actor Resident {
      private let scheduler: QueueScheduler
      nonisolated var unownedExecutor: UnownedSerialExecutor { scheduler.asUnownedSerialExecutor() }
      init(_ scheduler: QueueScheduler) { self.scheduler = scheduler }
      func isHome() -> Bool { currentScheduler === scheduler }
    }
    let scheduler = QueueScheduler(name: "home", target: DispatchQueue(label: "target"))
    #expect(await Resident(scheduler).isHome())
    let task = Task(executorPreference: scheduler) { () async -> Bool in
      dispatchPrecondition(condition: .onQueue(scheduler.queue))
      await Task.yield()
      return currentScheduler === scheduler
    }
    #expect(await task.value)
  }

  @Test("AsyncStream at the edge: from one, and to one")
  func streams() async {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    for number in 1...3 { continuation.yield(number) }
    continuation.finish()
    let list = stream.memoized()
    for _ in 1...2 { #expect(await list.array() == [1, 2, 3]) }
    var seen: [Int] = []
    for await number in list.stream(on: ImmediateScheduler.shared) { seen.append(number) }
    #expect(seen == [1, 2, 3])
  }
}
