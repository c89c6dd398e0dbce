import Dispatch
import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists

/// Callers that add, and the loops that they start.
private struct RaiseModel: Explorable, Hashable {
  enum Event: Hashable { case add(Int), next }

  private var state = RaiseQueueState<Int>()
  private var added: [Int] = []
  private var raised: [Int] = []
  private var loops = 0
  var violation: String?

  var key: [Int] { added + [-1] + raised + [-1, loops] }
  static func == (one: Self, other: Self) -> Bool { one.key == other.key }
  func hash(into hasher: inout Hasher) { hasher.combine(key) }

  var events: [Event] {
    (0..<5).filter { !added.contains($0) }.map { .add($0) } + (loops > 0 ? [.next] : [])
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .add(let number):
      added.append(number)
      if state.add(number) { loops += 1 }
      if loops != 1 { violation = "\(loops) loops run" }
    case .next:
      if let number = state.next() { raised.append(number) } else { loops -= 1 }
    }
    if raised != Array(added.prefix(raised.count)) {
      violation = "\(added) are raised as \(raised)"
    }
  }

  var violationAtRest: String? {
    raised == added ? nil : "of \(added) only \(raised) are raised"
  }
}

@Suite("RaiseQueue: tasks are raised in a loop, outside of all locks", .hangLimit, .inTurn)
struct RaiseQueueTests {
  @Test("every order: one loop at a time, which raises all that is added, in order")
  func orders() async { await RaiseModel().expectSafe() }

  @Test("no task is raised while the lock of the one that waits for it is held")
  func outside() async {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let (gate, raised, waits) = (Gate(), Probe<Bool>(), Probe<TaskPriority>())
    let hasReturned = DispatchSemaphore(value: 0)
    let step: Task<Void, Never> = Task.detached(priority: .background) {
      await withTaskPriorityEscalationHandler {
        await gate.wait()
      } onPriorityEscalated: { _, _ in
        // Inside of the call it would wait in vain for the call to return.
        raised.record(hasReturned.wait(timeout: .now() + 5) == .success)
      }
    }
    await gate.waitForArrivals(1)
    let waiter = Waiter()
    let reader = Task.detached(priority: .background) {
      _ = await waiter.wait(cancellable: false) { priority in
        if priority > .background { step.raise(to: priority) }
        waits.record(priority)
      }
    }
    await waits.waitForCount(1)
    reader.escalatePriority(to: .high)
    hasReturned.signal()
    await raised.waitForCount(1)
    #expect(waits.values == [.background, .high])
    #expect(raised.values == [true])
    waiter.wake(.lookAgain)
    gate.open()
    await reader.value
    await step.value
  }
}
