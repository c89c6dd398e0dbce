import Tailrace
import TailraceTesting
import Testing

@Suite(
  "Context: a plain step has its demand's, an asynchronous list that of the first demand", .inTurn)
struct ContextTests {
  @TaskLocal static var word = "none"

  @Test("task-locals of the task that demands reach a plain step")
  func plainTaskLocals() async {
    let list = LazyList(0..<4).map { _ in Self.word }
    #expect(await list.head() == "none")
    await Self.$word.withValue("second") { #expect(await list.element(at: 1) == "second") }
    await Self.$word.withValue("third") { #expect(await list.element(at: 2) == "third") }
    #expect(await list.array() == ["none", "second", "third", "none"])
  }

  @Test("task-locals of the demand that started an asynchronous list reach all its steps")
  func asynchronousTaskLocals() async {
    let list = LazyList(0..<4).mapAsync { (_: Int) async -> String in
      await Task.yield()
      return Self.word
    }
    let layer = list.map { "\($0), \(Self.word)" }
    await Self.$word.withValue("first") { #expect(await list.head() == "first") }
    await Self.$word.withValue("second") { #expect(await list.element(at: 1) == "first") }
    await Self.$word.withValue("third") { #expect(await layer.element(at: 2) == "first, third") }
    #expect(
      await layer.array() == ["first, third", "first, third", "first, third", "first, none"])
  }

  @Test("building a list is no demand: its task begins with the first")
  func building() async {
    let list = Self.$word.withValue("maker") {
      Steps<String, Never>(2) { _ in Self.word }.memoized()
    }
    await Self.$word.withValue("reader") { #expect(await list.array() == ["reader", "reader"]) }
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
    await seen.waitForCount(1)
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
    await gate.waitForArrivals(1)
    let fast = Task.detached(priority: .high) {
      for await element in list { return element }
      return -1
    }
    await raised.waitForCount(1)
    gate.open()
    #expect(raised.values.first == .high)
    #expect(await (slow.value, fast.value) == (0, 0))
  }

  @Test("a step rises when the reader that waits for it is raised", .timeLimit(.minutes(15)))
  func raisedReader() async {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    for layers in 0..<3 {
      let (gate, raised) = (Gate(), Probe<TaskPriority>())
      var list = Steps<Int, Never>(1) { position in
        await withTaskPriorityEscalationHandler {
          await gate.wait()
        } onPriorityEscalated: { _, new in
          raised.record(new)
        }
        return position
      }.memoized()
      for _ in 0..<layers { list = layers == 1 ? list.map { $0 } : list.mapAsync { $0 } }
      // The reader that started the step, and the one that only joined, both raise it.
      let starter = Task.detached(priority: .background) { [list] in await list.head() }
      await gate.waitForArrivals(1)
      let joiner = Task.detached(priority: .background) { [list] in await list.head() }
      joiner.escalatePriority(to: .medium)
      await raised.waitForCount(1)
      starter.escalatePriority(to: .high)
      await raised.waitForCount(2)
      #expect(raised.values == [.medium, .high])
      gate.open()
      #expect(await starter.value == 0)
      #expect(await joiner.value == 0)
    }
  }
}
