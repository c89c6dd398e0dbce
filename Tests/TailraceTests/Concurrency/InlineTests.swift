import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists

/// Where a reader has to wait before the test goes on, it runs on an ``InlineExecutor``: it waits when the line
/// after it runs.
@Suite("Steps side by side, and ahead, in an order that is known", .hangLimit, .inTurn)
struct InlineTests {
  private struct Refused: Error {}
  private typealias Members = LazyList<InstanceCounter.Member, Never>

  @Test(
    "the task of a closure that has not ended does not hold the list that it returned",
    arguments: [false, true])
  func movedResult(_ isUnordered: Bool) async {
    let (instances, gate) = (InstanceCounter(), Gate())
    let members: @Sendable (Int) async -> Members = { _ in
      await gate.wait()
      return LazyList(0..<400).map { instances.member($0) }
    }
    let reader = Task(executorPreference: InlineExecutor()) {
      let source = LazyList(0..<1)
      return await
        (isUnordered
        ? source.concurrentMapUnordered(limit: 2, members)
        : source.concurrentMap(limit: 2, members))
        .joined().count()
    }
    gate.open()
    #expect(await reader.value == 400)
    #expect(instances.greatest <= 150)
  }

  private typealias Step = @Sendable (Members) async -> Members

  @Test(
    "what has pulled a list, or run a closure for it, does not hold it when its reader goes on",
    arguments: ["prefetching", "concurrentMap", "concurrentMap, retried", "concurrentMapUnordered"])
  func movedElement(_ stage: String) async throws {
    let (instances, gate) = (InstanceCounter(), Gate())
    let lists: @Sendable () -> LazyList<Members, Never> = {
      LazyList(0..<2).map { number async in
        // The first one is pulled by its reader, the second one ahead, while its reader waits.
        if stage == "prefetching", number == 1 { await gate.wait() }
        return LazyList(0..<400).map { instances.member($0) }
      }
    }
    let step: Step = { list in
      await gate.wait()
      return list
    }
    let reader = Task(executorPreference: InlineExecutor()) {
      switch stage {
      case "prefetching": await lists().prefetching(1).joined().count()
      case "concurrentMap": await lists().concurrentMap(limit: 2, step).joined().count()
      case "concurrentMapUnordered":
        await lists().concurrentMapUnordered(limit: 2, step).joined().count()
      default:
        try await lists().concurrentMap(limit: 2, retryingFailures: true, step).joined().count()
      }
    }
    gate.open()
    #expect(try await reader.value == 800)
    #expect(instances.greatest <= 150)
  }

  @Test("a reader is told of the closure that it has begun, which has failed before it could wait")
  func toldOfClosure() async throws {
    let attempts = Probe<Int>()
    let list = LazyList(0..<1).concurrentMap(limit: 2, retryingFailures: true) {
      element async throws -> Int in
      attempts.record(element)
      if attempts.count == 1 { throw Refused() }
      return element
    }
    // The closure runs where the reader starts it.
    let reader = Task(executorPreference: InlineExecutor()) { try await list.head() }
    await #expect(throws: Refused.self) { try await reader.value }
    #expect(attempts.values == [0])
    #expect(try await list.head() == 0)
    #expect(attempts.values == [0, 0])
  }

  @Test(
    "a fold is told of the attempt that it has begun, which has failed before it could wait",
    arguments: ["forEach", "first", "reduce", "iteration"])
  func toldInFold(_ call: String) async {
    let (executor, attempts) = (InlineExecutor(), Probe<Int>())
    let list = LazyList<Int, any Error>(state: 0, retryingFailures: true) { state async throws in
      attempts.record(state)
      // So many that the reader which runs the step leaves it.
      for _ in 0..<70 { await withTaskExecutorPreference(executor) {} }
      if attempts.count == 1 { throw Refused() }
      state += 1
      return state < 3 ? state : nil
    }
    let reader = Task(executorPreference: executor) {
      switch call {
      case "forEach": try await list.forEach { _ in }
      case "first": _ = try await list.first { $0 == 2 }
      case "reduce": _ = try await list.reduce(0) { (sum, element) throws in sum + element }
      default: for try await _ in list {}
      }
    }
    await #expect(throws: Refused.self) { try await reader.value }
    #expect(attempts.values == [0])
  }

  @Test("a failure ahead is told to the reader that waited for it, and the step runs once for that")
  func toldAhead() async throws {
    let (gate, attempts) = (Gate(), Probe<Int>())
    let list = LazyList<Int, any Error>(state: 0, retryingFailures: true) { state async throws in
      attempts.record(state)
      if state == 1, attempts.values.count(where: { $0 == 1 }) == 1 {
        await gate.wait()
        throw Refused()
      }
      state += 1
      return state
    }.prefetching(1)
    #expect(try await list.head() == 1)
    await gate.waitForArrivals(1)
    let reader = Task(executorPreference: InlineExecutor()) { try await list.element(at: 1) }
    gate.open()
    await #expect(throws: Refused.self) { try await reader.value }
    #expect(try await list.element(at: 1) == 2)
    #expect(attempts.values.count { $0 == 1 } == 2)
  }

  @Test("a source that cancels the task that pulls ahead: a demand goes on")
  func cancelledPuller() async {
    let reader = Locked(0)
    let list = LazyList(0..<10).map { number async in
      await Task.yield()
      return number
    }.map { (number: Int) -> Int in
      withUnsafeCurrentTask { task in
        if let task, task.hashValue != reader.withLock({ $0 }) { task.cancel() }
      }
      return number
    }.prefetching(3)
    let task = Task {
      reader.withLock { $0 = withUnsafeCurrentTask { $0?.hashValue ?? 0 } }
      return await list.array()
    }
    #expect(await task.value == Array(0..<10))
  }
}
