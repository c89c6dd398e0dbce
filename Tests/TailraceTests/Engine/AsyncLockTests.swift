import Tailrace
import TailraceTesting
import Testing

@testable import TailraceSupport

@Suite("AsyncLock: one task at a time, first come, first served", .hangLimit, .inTurn)
struct AsyncLockTests {
  private let lock = AsyncLock(for: "a test")
  private let turns = Probe<Int>()

  /// Tasks that ask for the lock one after the other, on one thread.
  private func line(
    _ count: Int, on executor: PerturbingExecutor
  ) async -> [Task<Void, Never>] {
    let arrived = Counter()
    var tasks: [Task<Void, Never>] = []
    for number in 0..<count {
      tasks.append(
        Task(executorPreference: executor) { [lock, turns] in
          arrived.increment()
          guard await lock.lock() else { return turns.record(-1) }
          turns.record(number)
          lock.unlock()
        })
      while arrived.value <= number { await Task.yield() }
    }
    return tasks
  }

  @Test("it is free at first, and after each turn")
  func free() async {
    for _ in 0..<3 {
      #expect(await lock.lock())
      lock.unlock()
    }
  }

  @Test("those who wait have their turns in the order in which they came")
  func order() async {
    let executor = PerturbingExecutor(isSerial: true)
    await Task(executorPreference: executor) {
      #expect(await lock.lock())
      let tasks = await line(10, on: executor)
      #expect(turns.values == [])
      lock.unlock()
      for task in tasks { await task.value }
      #expect(turns.values == Array(0..<10))
      #expect(await lock.lock())
    }.value
  }

  @Test("a cancelled task leaves the line at once, and the others move up", arguments: [1, 3, 9])
  func leaving(_ step: Int) async {
    let executor = PerturbingExecutor(isSerial: true)
    await Task(executorPreference: executor) {
      #expect(await lock.lock())
      let tasks = await line(20, on: executor)
      let leavers = Array(stride(from: 0, to: 20, by: step))
      for number in leavers { tasks[number].cancel() }
      // While the lock is taken.
      for number in leavers { await tasks[number].value }
      #expect(turns.values == leavers.map { _ in -1 })
      lock.unlock()
      for task in tasks { await task.value }
      #expect(
        turns.values.dropFirst(leavers.count) == (0..<20).filter { !leavers.contains($0) }[...])
      // Nobody has taken the turn along.
      #expect(await lock.lock())
    }.value
  }

  @Test("a waiter that has left and was passed by does not count for the others")
  func passedBy() {
    var state = AsyncLock.State()
    let waiters = (0..<5).compactMap { _ in state.take() }
    for (waiter, length) in zip(waiters, [4, 3]) {
      waiter.wake(.cancelled)
      state.leave()
      #expect(state.line.count == length, "one of them has left")
      let passed = state.pass()
      #expect(passed === waiter)
    }
  }

  @Test("waiters that have left stay in the line until they are more than half of it")
  func forgotten() {
    var state = AsyncLock.State()
    #expect(state.take() == nil, "it is free")
    let waiters = (0..<8).compactMap { _ in state.take() }
    var lengths: [Int] = []
    for waiter in waiters.prefix(6) {
      waiter.wake(.cancelled)
      state.leave()
      lengths.append(state.line.count)
    }
    // 5 of 8 have left, and then 1 of 3.
    #expect(lengths == [8, 8, 8, 8, 3, 3])
    // One that has left is passed by, and no longer counts.
    #expect(state.pass() === waiters[5])
    #expect(state.pass() === waiters[6])
    #expect(state.line.count == 1)
    let late = (0..<3).compactMap { _ in state.take() }
    late[0].wake(.cancelled)
    state.leave()
    #expect(state.line.count == 4)
    late[1].wake(.cancelled)
    state.leave()
    #expect(state.line.count == 4)
    late[2].wake(.cancelled)
    state.leave()
    #expect(state.line.count == 1)
    #expect(state.pass() === waiters[7])
    #expect(state.pass() == nil)
    #expect(!state.isTaken)
  }

  @Test("a task that is cancelled before it asks gets the lock if that is free, and else no turn")
  func cancelledBefore() async {
    let isGiven = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await [lock.lock(), lock.lock()]
    }.value
    #expect(isGiven == [true, false])
    lock.unlock()
    #expect(await lock.lock())
  }

  @Test("never two at once, and no turn is lost, whoever comes and goes on all threads")
  func contended() async {
    let (inside, most, done) = (Counter(), Counter(), Counter())
    await withTaskGroup { group in
      for number in 0..<200 {
        group.addTask {
          let task = Task {
            for _ in 0..<20 {
              guard await lock.lock() else { return }
              if inside.increment() > 1 { most.increment() }
              if number % 3 == 0 { await Task.yield() }
              inside.increment(by: -1)
              lock.unlock()
              done.increment()
            }
          }
          if number % 5 == 0 {
            await Task.yield()
            task.cancel()
          }
          await task.value
        }
      }
    }
    #expect(most.value == 0)
    #expect(done.value >= 160 * 20)
    #expect(await lock.lock())
  }
}
