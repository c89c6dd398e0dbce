import Tailrace
import TailraceTesting

@testable import TailraceLists

/// Waits until the tasks are raised that were to be raised before this call.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
func raisesAreMade() async {
  let (gate, raised) = (Gate(), Probe<TaskPriority>())
  let last: Task<Void, Never> = Task.detached(priority: .background) {
    await withTaskPriorityEscalationHandler {
      await gate.wait()
    } onPriorityEscalated: { _, priority in
      raised.record(priority)
    }
  }
  await gate.waitForArrivals(1)
  // Raises are made in order.
  last.raise(to: .high)
  await raised.waitForCount(1)
  gate.open()
  await last.value
}
