import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists

/// A list's task, driven by hand.
@Suite(
  "StepExecutor: runs where it is driven, and parks between demands", .timeLimit(.minutes(15)),
  .inTurn)
struct StepExecutorTests {
  private final class Fake: StepOwner {
    let parked = Probe<Int>()
    let done = Counter()
    let left = Counter()
    let isGivenUp = Locked(false)

    var isAbandoned: Bool { isGivenUp.withLock { $0 } }
    var title: Title { "fake" }
    func driverLeaves() { left.increment() }
    func stepIsDone() { done.increment() }
    func taskHasParked() { parked.record(done.value) }

    /// As a producer does that nobody can read from any more.
    func giveUp(_ task: StepExecutor) {
      isGivenUp.withLock { $0 = true }
      _ = task.finish {}
    }
  }

  /// A task that takes so many steps.
  private func start(
    _ task: StepExecutor, _ list: Fake, steps: Int = .max,
    _ step: @escaping @Sendable (Int) async -> Void
  ) {
    task.start(list) {
      WorkerToken.making(task) { token in
        Task(executorPreference: task) {
          token.begin()
          for number in 0..<steps {
            if list.isAbandoned { break }
            await step(number)
            task.isParking = true
            await task.park()
          }
          token.end(of: task)
          task.end()
        }
      }
    }
  }

  @Test("it begins when it is driven, and runs right there")
  func driven() {
    let (task, list, steps) = (StepExecutor(), Fake(), Probe<Int>())
    #expect(!task.isStarted)
    start(task, list, steps: 3) { steps.record($0) }
    #expect(task.isStarted && steps.count == 0)
    for count in 1...3 {
      #expect(task.drive())
      #expect(steps.values == Array(0..<count))
    }
    // The last step was taken: it comes to its end.
    #expect(task.drive())
    #expect(steps.count == 3)
    #expect(list.parked.count == 0 && list.left.value == 0)
  }

  @Test("a step that suspends is left; it goes on elsewhere, and parks there")
  func suspended() async {
    let (task, list, gate, steps) = (StepExecutor(), Fake(), Gate(), Probe<Int>())
    start(task, list) { number in
      await gate.wait()
      steps.record(number)
    }
    for count in 1...50 {
      #expect(!task.drive())
      #expect(list.left.value == count)
      gate.pass()
      await list.parked.waitForCount(count)
      #expect(steps.values == Array(0..<count))
    }
    // The step's outcome is settled before the task can be driven again.
    #expect(list.parked.values == Array(1...50))
    list.giveUp(task)
  }

  @Test("a step that comes back at once is not left", arguments: [1, 10, 30])
  func yielding(_ turns: Int) {
    let (task, list, steps) = (StepExecutor(), Fake(), Probe<Int>())
    start(task, list, steps: 4) { number in
      for _ in 0..<turns { await Task.yield() }
      steps.record(number)
    }
    for count in 1...4 {
      #expect(task.drive())
      #expect(steps.values == Array(0..<count))
    }
    list.giveUp(task)
  }

  @Test("a step that comes back again and again is", arguments: [100, 1000])
  func endless(_ turns: Int) async {
    let (task, list, steps) = (StepExecutor(), Fake(), Probe<Int>())
    start(task, list, steps: 2) { number in
      for _ in 0..<turns { await Task.yield() }
      steps.record(number)
    }
    #expect(!task.drive())
    await list.parked.waitForCount(1)
    #expect(steps.values == [0])
    list.giveUp(task)
  }

  @Test("nor do many that come back a few times each stay where they are", arguments: [1, 10, 30])
  func yieldingOn(_ turns: Int) async {
    let (task, list, steps) = (StepExecutor(), Fake(), Probe<Int>())
    let count = 640 / turns
    start(task, list, steps: count) { number in
      for _ in 0..<turns { await Task.yield() }
      steps.record(number)
    }
    var left = 0
    for _ in 0..<count where !task.drive() {
      left += 1
      await list.parked.waitForCount(left)
    }
    #expect(steps.values == Array(0..<count))
    // After a thousand jobs, and each turn takes two.
    #expect((1...3).contains(left))
    list.giveUp(task)
  }

  @Test("the code of a step knows its list: the step, its children, and nothing else")
  func current() async {
    let (task, list, seen) = (StepExecutor(), Fake(), Probe<Bool>())
    start(task, list, steps: 1) { _ in
      seen.record(StepExecutor.current === task)
      async let child = StepExecutor.current === task
      seen.record(await child)
      await Task.yield()
      seen.record(StepExecutor.current === task)
      seen.record(await Task { StepExecutor.current == nil }.value)
      seen.record(await Task.detached { StepExecutor.current == nil }.value)
    }
    #expect(StepExecutor.current == nil)
    if !task.drive() { await list.parked.waitForCount(1) }
    #expect(StepExecutor.current == nil)
    #expect(seen.values == [true, true, true, true, true])
    list.giveUp(task)
  }

  @Test("a task whose list was abandoned before it began comes to its end")
  func abandoned() {
    let (task, list, steps) = (StepExecutor(), Fake(), Probe<Int>())
    list.isGivenUp.withLock { $0 = true }
    start(task, list) { steps.record($0) }
    let hasEnded = task.finish {}
    #expect(hasEnded && steps.count == 0)
  }

  @Test("cancelled in the middle of a step, it is told at once")
  func cancelled() async {
    let (task, list, gate, told) = (StepExecutor(), Fake(), Gate(), Gate())
    start(task, list, steps: 1) { _ in
      await withTaskCancellationHandler {
        await gate.wait()
      } onCancel: {
        told.open()
      }
    }
    #expect(!task.drive())
    task.cancel()
    await told.wait()
    gate.open()
    await list.parked.waitForCount(1)
  }
}
