import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("Leaving a step takes the same time, however many wait", .hangLimit, .inTurn)
struct LeavingCrowdTests {
  @Test(
    "readers that wait for a step, and leave, take time in proportion", arguments: [false, true])
  func crowd(_ isConcurrent: Bool) async {
    let growth = await growth(from: 500) { count in
      let gate = Gate()
      let steps = LazyList(0..<2).map { (number: Int) async -> Int in
        await gate.wait()
        return number
      }
      let list =
        isConcurrent
        ? LazyList(0..<2).concurrentMap(limit: 2) { (number: Int) async -> Int in
          await gate.wait()
          return number
        } : steps
      let scheduler = VirtualScheduler()
      let tasks = (0..<count).map { _ in
        scheduler.schedule { for await _ in list { return } }
      }
      scheduler.run()
      for task in tasks { task.cancel() }
      scheduler.run()
      for task in tasks { await task.value }
      gate.open()
    }
    #expect(growth < mostGrowth)
  }
}
