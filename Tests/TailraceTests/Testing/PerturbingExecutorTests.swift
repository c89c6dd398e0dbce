import Dispatch
import Testing

@testable import TailraceTesting

@Suite("PerturbingExecutor: late, one at a time, in another order", .hangLimit, .inTurn)
struct PerturbingExecutorTests {
  /// The numbers of ten tasks, in the order in which they run.
  private func order(on executor: PerturbingExecutor) async -> [Int] {
    await withTaskExecutorPreference(executor) {
      await withTaskGroup(of: Int.self) { group in
        for number in 0..<10 { group.addTask { number } }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
  }

  @Test("serial, it keeps the order in which tasks are started, if it is not to change it")
  func inOrder() async {
    #expect(await order(on: PerturbingExecutor(seed: 1, isSerial: true)) == Array(0..<10))
  }

  @Test("serial, it brings them in an order that follows from the seed", arguments: 0..<20 as Range)
  func reordered(_ seed: UInt64) async {
    let executor = PerturbingExecutor(seed: seed, isSerial: true, reordering: 4)
    let order = await order(on: executor)
    #expect(order.sorted() == Array(0..<10))
    #expect(order != Array(0..<10))
    #expect(
      await self.order(on: PerturbingExecutor(seed: seed, isSerial: true, reordering: 4)) == order)
    #expect(await self.order(on: executor) != order, "it goes on drawing")
  }

  @Test("each job runs once, whatever is drawn", arguments: [true, false], [0, 1, 7])
  func once(_ isSerial: Bool, _ reordering: Int) async {
    let executor = PerturbingExecutor(isSerial: isSerial, reordering: reordering)
    let sum = await withTaskGroup(of: Int.self) { group in
      for number in 1...200 {
        group.addTask(executorPreference: executor) {
          for _ in 0..<number % 5 { await Task.yield() }
          return number
        }
      }
      return await group.reduce(0, +)
    }
    #expect(sum == 200 * 201 / 2, "\(executor)")
  }

  @Test("serial, one job runs at a time")
  func serial() async {
    let executor = PerturbingExecutor(isSerial: true, reordering: 2)
    let (running, most) = (Counter(), Counter())
    await withTaskGroup { group in
      for _ in 0..<100 {
        group.addTask(executorPreference: executor) {
          if running.increment() > 1 { most.increment() }
          running.increment(by: -1)
        }
      }
    }
    #expect(running.value == 0 && most.value == 0, "\(executor)")
  }

  @Test("else several do: one may wait for another")
  func concurrent() async {
    let (executor, arrived) = (PerturbingExecutor(), Counter())
    let both = DispatchSemaphore(value: 0)
    await withTaskGroup { group in
      for _ in 0..<2 {
        group.addTask(executorPreference: executor) {
          // Each has a thread of its own.
          if arrived.increment() == 1 { both.wait() } else { both.signal() }
        }
      }
    }
    #expect(arrived.value == 2)
  }

  @Test("slow, it keeps who starts a task, for a time that follows from the seed")
  func slow() async {
    let pauses = [Probe<Duration>(), Probe<Duration>(), Probe<Duration>()]
    for (pauses, seed) in zip(pauses, [5, 5, 6] as [UInt64]) {
      let executor = PerturbingExecutor(seed, .milliseconds(3), true, 0) { pauses.record($0) }
      // One thread starts them all, and none of them suspends: 20 jobs, drawn for in this order.
      let tasks = (0..<20).map { _ in Task(executorPreference: executor) {} }
      for task in tasks { await task.value }
    }
    #expect(pauses[0].values == pauses[1].values)
    #expect(pauses[0].values != pauses[2].values)
    #expect(pauses[0].count == 20)
    #expect(pauses[0].values.allSatisfy { $0 <= .milliseconds(3) })
    #expect(Set(pauses[0].values).count == 20)
  }

  @Test("slow, a task may be over before the call that started it has returned")
  func overtaken() async {
    let (ran, hasRun) = (Counter(), DispatchSemaphore(value: 0))
    // A pause is time for other threads. Here it is as long as these need.
    let executor = PerturbingExecutor(0, .seconds(1), false, 0) { _ in hasRun.wait() }
    let task = Task(executorPreference: executor) {
      ran.increment()
      hasRun.signal()
    }
    #expect(ran.value == 1)
    await task.value
  }

  @Test("it really keeps the caller")
  func keeps() {
    let executor = PerturbingExecutor(seed: 1, slowness: .milliseconds(10))
    let start = ContinuousClock.now
    for _ in 0..<20 { Task(executorPreference: executor) {} }
    // 100 ms on the average; a machine can be too slow for a test, but not too fast.
    #expect(start.duration(to: .now) > .milliseconds(50))
  }

  @Test("it says how to make it again")
  func description() {
    #expect("\(PerturbingExecutor(seed: 3))" == "PerturbingExecutor(seed: 3)")
    let all = PerturbingExecutor(
      seed: 7, slowness: .microseconds(300), isSerial: true, reordering: 2)
    #expect(
      "\(all)"
        == "PerturbingExecutor(seed: 7, slowness: .nanoseconds(300000), isSerial: true, reordering: 2)"
    )
  }

  @Test("wrong arguments trap, and the message names the place of the call", arguments: [0, 1])
  func misuse(_ kind: Int) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [kind] in
      _ = PerturbingExecutor(
        slowness: kind == 0 ? .seconds(-1) : .zero, reordering: kind == 0 ? 0 : -1)
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("PerturbingExecutorTests.swift"), "\(said)")
    #expect(said.contains("takes a slowness of zero or more"), "\(said)")
  }
}
