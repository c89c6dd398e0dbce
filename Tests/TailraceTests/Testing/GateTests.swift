import TailraceTesting
import Testing

@Suite("Gate: tasks wait until a test lets them through", .hangLimit, .inTurn)
struct GateTests {
  private let gate = Gate()
  private let passed = Probe<Int>()

  /// Tasks that are at the gate, one after the other, when this returns.
  private func queue(_ count: Int) async -> [Task<Void, Never>] {
    var tasks: [Task<Void, Never>] = []
    for number in 0..<count {
      let arrived = gate.arrived
      tasks.append(
        Task { [gate, passed] in
          await gate.wait()
          passed.record(number)
        })
      await gate.waitForArrivals(arrived + 1)
    }
    return tasks
  }

  @Test("closed, it holds everybody; opened, it lets them through, and all who come later")
  func opening() async {
    let tasks = await queue(3)
    #expect(gate.arrived == 3)
    #expect(passed.values == [])
    gate.open()
    for task in tasks { await task.value }
    #expect(passed.values.sorted() == [0, 1, 2])
    await gate.wait()
    #expect(gate.arrived == 4)
    gate.open()
    await gate.wait()
  }

  @Test("a pass is for one task: the one that has waited longest")
  func passing() async {
    let tasks = await queue(3)
    for number in 0..<3 {
      gate.pass()
      await passed.waitForCount(number + 1)
      #expect(passed.values == Array(0...number))
    }
    for task in tasks { await task.value }
  }

  @Test("passes that nobody waits for are kept, each for one task that comes later")
  func passesAhead() async {
    for _ in 0..<2 { gate.pass() }
    await gate.wait()
    await gate.wait()
    let tasks = await queue(1)
    #expect(passed.values == [])
    gate.pass()
    await tasks[0].value
    #expect(passed.values == [0])
  }

  @Test("a cancelled task waits as any other")
  func cancelled() async {
    let tasks = await queue(1)
    tasks[0].cancel()
    let late = Task { [gate, passed] in
      withUnsafeCurrentTask { $0?.cancel() }
      await gate.wait()
      passed.record(1)
    }
    await gate.waitForArrivals(2)
    #expect(passed.values == [])
    gate.open()
    await tasks[0].value
    await late.value
    #expect(passed.values.sorted() == [0, 1])
  }

  @Test("arrivals are counted from the making, and each number is told to all who wait for it")
  func waitForArrivals() async {
    await gate.waitForArrivals(0)
    let told = Probe<Int>()
    let watchers = [1, 2, 2, 3].map { count in
      Task.immediate { [gate] in
        await gate.waitForArrivals(count)
        told.record(count)
      }
    }
    var tasks = await queue(1)
    await watchers[0].value
    #expect(told.values == [1])
    tasks += await queue(1)
    await watchers[1].value
    await watchers[2].value
    #expect(told.values == [1, 2, 2])
    await gate.waitForArrivals(2)
    tasks += await queue(1)
    await watchers[3].value
    #expect(told.values == [1, 2, 2, 3])
    gate.open()
    for task in tasks { await task.value }
  }

  @Test("as many pass as there are passes, however they race", arguments: [0, 1, 60, 100])
  func race(_ passes: Int) async {
    await withTaskGroup { group in
      for number in 0..<100 {
        group.addTask {
          await gate.wait()
          passed.record(number)
        }
        if number < passes { group.addTask { gate.pass() } }
      }
      await gate.waitForArrivals(100)
      await passed.waitForCount(passes)
      // Those without a pass are still there.
      #expect(passed.count == passes)
      gate.open()
    }
    #expect(passed.values.sorted() == Array(0..<100))
    #expect(gate.arrived == 100)
  }
}
