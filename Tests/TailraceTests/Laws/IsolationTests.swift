import Tailrace
import TailraceFoundation
import TailraceTesting
import Testing

@Suite("Isolation: elements reach readers where they read", .inTurn)
struct IsolationTests {
  @Test("an iteration does not leave its actor", arguments: SourceKind.allCases)
  @MainActor
  func iteration(_ kind: SourceKind) async throws {
    let list = kind.make(Probe()).map { (number: Int) async throws in number }
    for try await _ in list { MainActor.preconditionIsolated() }
    for try await _ in list { MainActor.preconditionIsolated() }
  }

  @Test("folds run their closures where they are called", arguments: SourceKind.allCases)
  @MainActor
  func folds(_ kind: SourceKind) async throws {
    let list = kind.make(Probe())
    // Not Sendable, and never sent.
    final class Sum { var value = 0 }
    let sum = Sum()
    try await list.forEach {
      MainActor.preconditionIsolated()
      sum.value += $0
    }
    #expect(sum.value == 21)
    #expect(
      try await list.foldRight(0) { first, rest in
        MainActor.preconditionIsolated()
        return first + (try await rest.value())
      } == 21)
  }

  @Test("every public type is Sendable")
  func sendable() {
    func check<each T: Sendable>(_: repeat (each T).Type) {}
    check(
      LazyList<Int, Never>.self, Memo<Int, any Error>.self, SharedIterator<Int, Never>.self,
      EagerList<Int>.self, CyclicEvaluationError.self)
    check(
      Signal<Int, any Error>.self, Signal<Int, Never>.Subscriber.self,
      Signal<Int, Never>.Event.self, Signal<Int, Never>.SendResult.self,
      Signal<Int, Never>.BufferingPolicy.self)
    check(
      ImmediateScheduler.self, QueueScheduler.self,
      ScheduledWork.self, (any Scheduler).self)
    check(Tuple<Int, String>.self, TupleError.self, FileError.self, ElementTypeError.self)
    check(
      VirtualScheduler.self, VirtualScheduler.Instant.self, VirtualScheduler.Clock.self,
      Gate.self, Probe<Int>.self, InstanceCounter.self, InstanceCounter.Member.self)
  }
}
