import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite(
  "An escalation handler raises what it was given, and holds no list: it runs under a lock of its task",
  .inTurn, .hangLimit)
struct EscalationTests {
  /// What is raised.
  private final class Rising: Raised {
    let priorities = Probe<TaskPriority>()
    func raise(to priority: TaskPriority) { priorities.record(priority) }
  }

  /// A place that is asked what is to be raised. A list would be retained for the answer.
  private final class Place: AwaitedPlace {
    let rising = Rising()
    let questions = Locked(0)
    let title: Title = "place"

    var raised: (any Raised)? {
      questions.withLock { $0 += 1 }
      return rising
    }
    var awaitedWorker: (any Worker)? { nil }
    func isMissing(_ cell: MissingCell) -> Bool { true }
    func enter(_ waiter: Waiter, for cell: MissingCell) -> ResumeReason? { nil }
    func leave(_ waiter: Waiter) {}
  }

  @Test("a place is asked before its reader waits, and not again when the reader is raised")
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  func question() async {
    let (place, waiter) = (Place(), Waiter())
    let cell = MissingCell(place, mark: Published(count: 0), .one)
    let reader = Task(priority: .low) {
      _ = await place.park(waiter, for: cell, asked: nil, cancellable: true)
    }
    await place.rising.priorities.waitForCount(1)
    let before = place.questions.withLock { $0 }
    reader.escalatePriority(to: .high)
    #expect(place.rising.priorities.values.last == .high)
    #expect(place.questions.withLock { $0 } == before)
    waiter.wake(.lookAgain)
    await reader.value
  }

  @Test("what is raised retains neither the list nor what its closure holds")
  func lifetime() async throws {
    final class Member: Sendable {}
    weak var member: Member?
    let gate = Gate()
    var raised: [any Raised] = []
    do {
      let held = Member()
      member = held
      let list = LazyList<Int, Never>(state: 0) { state in
        await gate.wait()
        withExtendedLifetime(held) {}
        state += 1
        return state
      }
      let reader = Task { await list.head() }
      await gate.waitForArrivals(1)
      let segment = try #require(list.segment)
      raised = try [
        #require(segment.raised), #require(segment.evaluator?.steps?.raised),
      ]
      gate.open()
      #expect(await reader.value == 1)
    }
    // The task of the list may end a moment later.
    while member != nil { await Task.yield() }
    #expect(raised.count == 2)
  }
}
