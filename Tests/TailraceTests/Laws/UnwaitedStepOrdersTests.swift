import Tailrace
import TailraceTesting
import Testing

@Suite(
  "A step that nobody waits for: readers that come and leave", .tags(.long), .hangLimit, .inTurn)
struct UnwaitedStepOrdersTests {
  @Test("readers come and leave on all threads: who stays gets everything, and nothing is left")
  func stress() async throws {
    let instances = InstanceCounter()
    for round in 0..<Size.usual(300, full: 20_000) {
      let (begun, ended) = (Counter(), Counter())
      let source = Row.Source(
        state: (number: 0, held: instances.member()), cancelsUnobservedSteps: true
      ) { state async throws in
        begun.increment()
        defer { ended.increment() }
        state.number += 1
        for _ in 0..<(state.number + round) % 4 { await Task.yield() }
        if round % 2 == 0 { try Task.checkCancellation() }
        return state.number <= 5 ? state.number : nil
      }
      let list = round % 3 == 0 ? source : source.mapAsync { $0 }
      let leavers = (0..<4).map { _ in Task { try await list.array() } }
      let canceller = Task {
        for leaver in leavers {
          await Task.yield()
          leaver.cancel()
        }
      }
      if round % 5 > 0 { #expect(try await list.array() == [1, 2, 3, 4, 5]) }
      for leaver in leavers {
        switch await leaver.result {
        case .success(let elements): #expect(elements == [1, 2, 3, 4, 5])
        case .failure(let error): #expect(error is CancellationError)
        }
      }
      await canceller.value
      #expect(try await list.array() == [1, 2, 3, 4, 5])
      #expect(begun.value == ended.value)
    }
    await instances.waitUntilEmpty()
  }

  @Test("one of two readers leaves, in every order: the other one's step runs once")
  func everyOrder() async throws {
    let options = ExplorationOptions(
      runs: Size.usual(3_000, full: 50_000), preemptions: Size.usual(3, full: 5),
      randomRuns: Size.usual(300, full: 5_000))
    let summary = try await explore(options) { run in
      let begun = Counter()
      let list = Row.Source(state: 0, cancelsUnobservedSteps: true) { state async throws in
        begun.increment()
        await Task.yield()
        state += 1
        return state == 1 ? state : nil
      }
      let leaver = run.spawn(name: "leaver") { try await list.head() }
      let reader = run.spawn(name: "reader") { try await list.head() }
      run.spawn(name: "canceller") { leaver.cancel() }
      try run.require(try await reader.value == 1)
      if case .failure(let error) = await leaver.result {
        try run.require(error is CancellationError, "\(error)")
      }
      // Again only if the leaver was alone when it left.
      try run.require((1...2).contains(begun.value), "\(begun.value) steps")
    }
    #expect(summary.jobsFromOutside == 0)
  }

  @Test("readers of stages come and leave, in many orders: who stays gets everything")
  func everyOrderOfStages() async throws {
    let options = ExplorationOptions(
      runs: Size.usual(1_500, full: 20_000), preemptions: Size.usual(3, full: 4),
      randomRuns: Size.usual(500, full: 5_000))
    let summary = try await explore(options) { run in
      let (begun, ended) = (Counter(), Counter())
      let list = Row.Source(state: 0, cancelsUnobservedSteps: true) { state async throws in
        begun.increment()
        defer { ended.increment() }
        state += 1
        await Task.yield()
        try Task.checkCancellation()
        return state <= 2 ? state : nil
      }.mapAsync { $0 * 10 }
      let leavers = ["one", "two"].map { name in
        run.spawn(name: name) { try await list.array() }
      }
      run.spawn(name: "canceller") {
        for leaver in leavers {
          leaver.cancel()
          await Task.yield()
        }
      }
      try run.require(try await list.array() == [10, 20])
      for leaver in leavers {
        switch await leaver.result {
        case .success(let elements): try run.require(elements == [10, 20], "\(elements)")
        case .failure(let error): try run.require(error is CancellationError, "\(error)")
        }
      }
      try run.require(begun.value == ended.value && begun.value <= 9, "\(begun.value) steps")
    }
    #expect(summary.jobsFromOutside == 0)
  }
}
