import Tailrace
import TailraceTesting
import Testing

@Suite("Context: a step runs as the task that demanded it first")
struct ContextTests {
  @TaskLocal static var word = "none"

  @Test("task-locals reach the step, plain and asynchronous")
  func taskLocals() async {
    let plain = LazyList(0..<4).map { _ in Self.word }
    let asynchronous = LazyList(0..<4).map { (_: Int) async -> String in
      await Task.yield()
      return Self.word
    }
    for list in [plain, asynchronous] {
      #expect(await list.head() == "none")
      await Self.$word.withValue("second") { #expect(await list.element(at: 1) == "second") }
      await Self.$word.withValue("third") { #expect(await list.element(at: 2) == "third") }
      #expect(await list.array() == ["none", "second", "third", "none"])
    }
  }

  @Test("the priority of the first demand reaches the step")
  func priority() async {
    let list = LazyList(0..<2).map { (_: Int) async -> TaskPriority in
      await Task.yield()
      return Task.currentPriority
    }
    // Awaiting the task's value would raise it.
    let seen = Probe<TaskPriority?>()
    Task.detached(priority: .utility) { seen.record(await list.head()) }
    await seen.reaches(1)
    #expect(seen.values == [.utility])
  }

  @Test("a waiter of higher priority raises the step in flight")
  func escalation() async {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let (gate, raised) = (Gate(), Probe<TaskPriority>())
    let list = LazyList<Int, Never>(state: 0) { state async in
      await withTaskPriorityEscalationHandler {
        await gate.wait()
      } onPriorityEscalated: { _, new in
        raised.record(new)
      }
      return state
    }
    let slow = Task.detached(priority: .background) {
      for await element in list { return element }
      return -1
    }
    await gate.arrivals(1)
    let fast = Task.detached(priority: .high) {
      for await element in list { return element }
      return -1
    }
    await raised.reaches(1)
    gate.open()
    #expect(raised.values.first == .high)
    #expect(await (slow.value, fast.value) == (0, 0))
  }
}
