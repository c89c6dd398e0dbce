import TailraceTesting
import Testing

@Suite("Probe: a record of what ran", .hangLimit, .inTurn)
struct ProbeTests {
  private let probe = Probe<Int>()

  @Test("records in order, gives back what it passes on, and counts")
  func record() {
    #expect(probe.values == [] && probe.count == 0)
    probe.record(3)
    #expect(probe.pass(1) == 1)
    probe.pass(2)
    probe.record(3)
    #expect(probe.values == [3, 1, 2, 3])
    #expect(probe.count == 4)
  }

  @Test("a count that has been reached is not waited for", arguments: 0...2)
  func there(_ count: Int) async {
    probe.record(1)
    probe.record(2)
    await probe.waitForCount(count)
    #expect(probe.count == 2)
  }

  @Test("wakes those who wait when there is as much as they wait for, and nobody sooner")
  func waitForCount() async {
    let woken = Probe<Int>()
    // Started here, each of them waits by the time the next one starts.
    let watchers = [1, 3, 3].map { count in
      Task.immediate { [probe] in
        await probe.waitForCount(count)
        woken.record(count)
      }
    }
    #expect(woken.values == [])
    probe.record(1)
    await watchers[0].value
    probe.record(2)
    #expect(woken.values == [1])
    probe.record(3)
    for watcher in watchers { await watcher.value }
    #expect(woken.values == [1, 3, 3])
  }

  @Test("values are a snapshot")
  func snapshot() {
    probe.record(1)
    let values = probe.values
    probe.record(2)
    #expect(values == [1])
  }

  @Test("many tasks: nothing is lost, and each task's values stay in order")
  func race() async {
    await withTaskGroup { group in
      for task in 0..<8 {
        group.addTask { for number in 0..<500 { probe.record(task * 1000 + number) } }
        group.addTask {
          await probe.waitForCount(task * 500)
          #expect(probe.count >= task * 500)
        }
      }
      await probe.waitForCount(4000)
    }
    for task in 0..<8 {
      #expect(
        probe.values.filter { $0 / 1000 == task } == (0..<500).map { task * 1000 + $0 })
    }
  }
}
