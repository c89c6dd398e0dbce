import Tailrace
import TailraceTesting
import Testing

/// The reader that starts a step waits for it. The end of the step races with that reader's cancellation,
/// with the release of the list, and with other readers.
@Suite("The end of a step races with readers that come, leave, and let go", .inTurn)
struct StepRaceTests {
  #if DEBUG
    static let rounds = 2_000
  #else
    static let rounds = 10_000
  #endif

  @Test(
    "the reader that started the step is cancelled while the step ends; the others get it, once")
  func cancelledStarter() async {
    for round in 0..<Self.rounds {
      let steps = Probe<Int>()
      let list = LazyList<Int, Never>(state: 0) { state async in
        steps.record(state)
        await Task.yield()
        state += 1
        return state
      }
      let starter = Task { () -> Int in
        var count = 0
        for await element in list.prefix(4) {
          count += 1
          if element != count { return -1 }
        }
        return count
      }
      let others = (0..<round % 4).map { _ in Task { await list.prefix(4).array() } }
      if round % 2 == 0 { await Task.yield() }
      starter.cancel()
      #expect((0...4).contains(await starter.value), "round \(round)")
      for other in others { #expect(await other.value == [1, 2, 3, 4], "round \(round)") }
      #expect(await list.prefix(5).array() == [1, 2, 3, 4, 5], "round \(round)")
      #expect(steps.values == [0, 1, 2, 3, 4], "round \(round)")
    }
  }

  @Test("the last reference goes while the step ends: everything is released")
  func abandoned() async {
    let instances = InstanceCounter()
    await withTaskGroup { group in
      for round in 0..<Self.rounds {
        group.addTask {
          let token = instances.member()
          let list = LazyList<Int, Never>(state: 0) { state async in
            await Task.yield()
            state += 1 + token.number
            return state
          }
          let derived = round % 2 == 0 ? list : list.map { (number: Int) async in number }
          let reader = Task { for await _ in derived { return } }
          if round % 3 == 0 { await Task.yield() }
          reader.cancel()
          if round % 5 == 0 { await reader.value }
        }
      }
    }
    await instances.waitUntilEmpty()
  }

  @Test("a failure that may be retried reaches who started the step, and leaves nothing behind")
  func transient() async throws {
    struct Refused: Error {}
    for round in 0..<Self.rounds / 10 {
      let attempts = Probe<Int>()
      let list = LazyList<Int, any Error>(state: 0, retryingFailures: true) {
        state async throws in
        await Task.yield()
        state += 1
        attempts.record(state)
        if attempts.count % 2 == 1 { throw Refused() }
        return state
      }
      for position in 0..<3 {
        await #expect(throws: Refused.self, "round \(round)") {
          _ = try await list.element(at: position)
        }
        #expect(try await list.element(at: position) == position + 1, "round \(round)")
      }
      #expect(attempts.values == [1, 1, 2, 2, 3, 3], "round \(round)")
    }
  }

  @Test("a reader that is cancelled before it starts a step goes at once; the step is the others'")
  func cancelledBefore() async {
    let gate = Gate()
    let list = LazyList<Int, Never>(state: 0) { state async in
      await gate.wait()
      state += 1
      return state
    }
    let question = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      // A question that cannot throw waits, though it is cancelled.
      return await list.head()
    }
    await gate.waitForArrivals(1)
    let iteration = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      for await element in list { return element }
      return 0
    }
    #expect(await iteration.value == 0)
    gate.open()
    #expect(await question.value == 1)
  }

  @Test("readers of many lists: no wake-up is lost, whoever starts and whoever joins")
  func joined() async {
    let sums = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<Self.rounds / 20 {
        let list = LazyList<Int, Never>(0..<50).map { (number: Int) async -> Int in
          await Task.yield()
          return number
        }
        for _ in 0..<4 {
          group.addTask {
            var sum = 0
            for await element in list { sum += element }
            return sum
          }
        }
      }
      return await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(sums == [1225])
  }
}
