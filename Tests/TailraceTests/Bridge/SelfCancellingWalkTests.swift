import Tailrace
import TailraceTesting
import Testing

@Suite("A step that cancels the current task ends no walk", .inTurn)
struct SelfCancellingWalkTests {
  /// Numbers from 1 on; plain steps cancel the task that they run in: one of them, or each.
  private func numbers(each: Bool) -> LazyList<Int, Never> {
    LazyList(1...100).map { number in
      if each || number == 3 { withUnsafeCurrentTask { $0?.cancel() } }
      return number
    }
  }

  /// A sequence that reads a list, and is none.
  private struct Wrapped<Failure: Error>: AsyncSequence, Sendable {
    let list: LazyList<Int, Failure>
    func makeAsyncIterator() -> LazyList<Int, Failure>.Iterator { list.makeAsyncIterator() }
  }

  @Test("signals and streams of a list have all its elements", arguments: [false, true])
  func walks(each: Bool) async throws {
    let queue = QueueScheduler(name: "walk")
    let all = Array(1...100)
    #expect(await numbers(each: each).signal(on: queue).array() == all)
    #expect(
      try await numbers(each: each).setFailureType(to: Loss.self).signal(on: queue).array() == all)
    #expect(
      try await numbers(each: each).setFailureType(to: (any Error).self).signal(on: queue).array()
        == all)
    for policy: AsyncStream<Int>.Continuation.BufferingPolicy in [.unbounded, .bufferingOldest(2)] {
      var seen: [Int] = []
      for await number in numbers(each: each).stream(on: queue, bufferingPolicy: policy) {
        seen.append(number)
      }
      #expect(seen == all)
    }
  }

  @Test("merged lists and signals, and a signal of a sequence, have all", arguments: [false, true])
  func others(each: Bool) async {
    let all = Array(1...100)
    let merged = numbers(each: each).merging(numbers(each: each))
    #expect(await merged.array().sorted() == (all + all).sorted())
    let wrapped = Signal<Int, Never>(
      Wrapped(list: numbers(each: each)), bufferingPolicy: .bufferingOldest(1))
    #expect(await wrapped.array() == all)
    let source = Signal<Int, Never> { subscriber in
      for number in 1...100 { subscriber.send(number) }
      subscriber.complete()
    }
    let cancelling = source.map { number in
      if each || number == 3 { withUnsafeCurrentTask { $0?.cancel() } }
      return number
    }
    #expect(await cancelling.merging(cancelling).array().sorted() == (all + all).sorted())
  }

  @Test("a list of a sequence that cancels the list's task has all", arguments: [false, true])
  func memoized(each: Bool) async {
    #expect(await Wrapped(list: numbers(each: each)).memoized().array() == Array(1...100))
  }

  @Test("a failure that only says that the walk's task was cancelled is not sent")
  func failures() async {
    let queue = QueueScheduler(name: "walk")
    let list = numbers(each: false).setFailureType(to: (any Error).self)
    let failing = list + .failing(CancellationError())
    await #expect(throws: CancellationError.self) { try await failing.signal(on: queue).array() }
    let events = await failing.signal(on: queue).events.array()
    #expect(events.count == 101)
  }
}
