import Foundation
import Tailrace
import TailraceTesting
import Testing

/// Leaving costs the same whether few or many wait: what is measured is the work of one thread, on which
/// all of it happens, and how much more of it four times as many cause.
@Suite("Crowds: many who wait for one thing leave as fast as few, each", .hangLimit)
struct LeavingTests {
  #if DEBUG
    static let few = 1_000
  #else
    static let few = 4_000
  #endif

  enum Crowd: CaseIterable {
    case step, plainOverStep, concurrentMap, unordered, prefetching, memo, key, sharedIterator, work
    case signal, signalFromTheFront, children, childrenThatLeave, woken
  }

  @Test("four times as many cause about four times the work", arguments: Crowd.allCases)
  func leaving(_ crowd: Crowd) async {
    // Four where each costs the same, sixteen where it costs what there are.
    var ratios: [Double] = []
    repeat {
      let few = await OneThread.run { await crowd.leave(Self.few) }
      let many = await OneThread.run { await crowd.leave(4 * Self.few) }
      ratios.append(many / few)
    } while ratios.count < 4 && (ratios.min() ?? 0) > 9
    #expect((ratios.min() ?? 0) < 9, "\(ratios)")
  }
}

extension CrowdTests.Crowd {
  /// Lets so many wait, and then leave. Returns how long that kept the thread busy, in seconds.
  fileprivate func leave(_ count: Int) async -> Double {
    let gate = Gate()
    defer { gate.open() }
    let step = LazyList(state: 0) { state async throws -> Int? in
      await gate.wait()
      state += 1
      return state
    }
    switch self {
    case .step: return await cancelled(count) { _ = try? await step.head() }
    case .plainOverStep:
      let list = step.map { $0 }
      return await cancelled(count) { _ = try? await list.head() }
    case .concurrentMap:
      let list = LazyList(0..<4).concurrentMap(limit: 2) { number async throws in
        await gate.wait()
        return number
      }
      return await cancelled(count) { _ = try? await list.head() }
    case .unordered:
      let list = LazyList(0..<4).concurrentMapUnordered(limit: 2) { number async throws in
        await gate.wait()
        return number
      }
      return await cancelled(count) { _ = try? await list.head() }
    case .prefetching:
      let list = LazyList(state: 0) { state async throws -> Int? in
        if state > 0 { await gate.wait() }
        state += 1
        return state
      }.prefetching(2)
      _ = try? await list.head()
      return await cancelled(count) { _ = try? await list.element(at: 1) }
    case .memo:
      let memo = Memo { () async throws in await gate.wait() }
      return await cancelled(count) { _ = try? await memo.value() }
    case .key:
      let memos = Memos { (key: Int) async throws -> Int in
        await gate.wait()
        return key
      }
      return await cancelled(count) { _ = try? await memos.value(for: 1) }
    case .sharedIterator:
      let iterator = step.makeSharedIterator()
      return await cancelled(count) { _ = try? await iterator.next() }
    case .work:
      let scheduler = VirtualScheduler()
      let work = scheduler.schedule(after: .seconds(1)) {}
      return await cancelled(count) {
        _ = await work.value
      } leaving: {
        work.cancel()
      }
    case .signal, .signalFromTheFront:
      let (signal, subscriber) = Signal<Int, Never>.makeSignal(replaying: 1)
      var iterators = (0..<count).map { _ in signal.makeAsyncIterator() }
      subscriber.send(1)
      if self == .signalFromTheFront { iterators.reverse() }
      let start = Self.busy()
      while !iterators.isEmpty { iterators.removeLast() }
      return Self.busy() - start
    case .children, .childrenThatLeave: return await children(count, step, gate)
    case .woken:
      let started = Counter()
      let tasks = started.tasks(count) { _ = try? await step.head() }
      await started.reaches(count)
      return await Self.measured {
        gate.open()
        for task in tasks { await task.value }
      }
    }
  }

  /// So many tasks ask, and are cancelled.
  private func cancelled(
    _ count: Int, _ ask: @escaping @Sendable () async -> Void,
    leaving leave: (() -> Void)? = nil
  ) async -> Double {
    let started = Counter()
    let tasks = started.tasks(count, ask)
    await started.reaches(count)
    return await Self.measured {
      if let leave { leave() } else { for task in tasks { task.cancel() } }
      for task in tasks { await task.value }
    }
  }

  /// So many children of one step wait for another list.
  private func children(
    _ count: Int, _ list: LazyList<Int, any Error>, _ gate: Gate
  ) async -> Double {
    let (started, ended) = (Counter(), Counter())
    var parent: LazyList<Int, any Error>? = Steps(1) { _ in
      await withTaskGroup { group in
        for _ in 0..<count {
          group.addTask {
            started.increment()
            _ = try? await list.head()
            ended.increment()
          }
        }
      }
      return 0
    }.memoized()
    let reader = Task(executorPreference: OneThread.current) { [parent] in
      _ = try? await parent?.head()
    }
    await started.reaches(count)
    return await Self.measured {
      if self == .childrenThatLeave {
        reader.cancel()
        await reader.value
        // The step is nobody's any more, and is cancelled.
        parent = nil
      } else {
        gate.open()
        await reader.value
      }
      while ended.value < count { await Task.yield() }
    }
  }

  private static func measured(_ body: () async -> Void) async -> Double {
    let start = busy()
    await body()
    return busy() - start
  }

  /// How long the calling thread has been busy since it began, in seconds.
  private static func busy() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

extension Counter {
  /// So many tasks, each of which says that it has begun and then does something.
  fileprivate func tasks(
    _ count: Int, _ body: @escaping @Sendable () async -> Void
  ) -> [Task<Void, Never>] {
    (0..<count).map { _ in
      Task(executorPreference: OneThread.current) {
        self.increment()
        await body()
      }
    }
  }

  /// Waits until so many have begun, on the thread on which they run, and have come to where they wait.
  fileprivate func reaches(_ count: Int) async {
    while value < count { await Task.yield() }
    for _ in 0..<100 { await Task.yield() }
  }
}
