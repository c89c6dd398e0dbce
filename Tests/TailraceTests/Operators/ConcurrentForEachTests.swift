import Tailrace
import TailraceTesting
import Testing

@Suite("Calls for each element, several at a time", .inTurn)
struct ConcurrentForEachTests {
  @Test("as many at once as the limit says, and all of them", arguments: [1, 3, 100])
  func all(_ limit: Int) async {
    let (running, seen) = (InstanceCounter(), Probe<Int>())
    await LazyList(0..<500).concurrentForEach(limit: limit) { number in
      let member = running.member()
      await Task.yield()
      seen.record(number + member.number)
    }
    #expect(seen.values.sorted() == Array(0..<500))
    #expect(running.greatest <= limit)
  }

  @Test("it pulls when there is room")
  func demand() async {
    let (gate, pulls) = (Gate(), Probe<Int>())
    let list = LazyList(0..<6).map { pulls.pass($0) }
    async let done: Void = list.concurrentForEach(limit: 2) { _ in await gate.wait() }
    await gate.waitForArrivals(2)
    #expect(pulls.count == 2)
    gate.open()
    await done
    #expect(pulls.count == 6)
  }

  @Test("the first failure cancels the others, and is thrown when they have returned")
  func failure() async {
    let (started, returned) = (Gate(), Probe<Int>())
    await #expect(throws: Mishap(position: 1)) {
      try await LazyList(0..<6).concurrentForEach(limit: 2) { number async throws in
        if number == 1 {
          await started.wait()
          throw Mishap(position: 1)
        }
        started.open()
        await ConcurrencyTests.cancellation()
        returned.record(number)
      }
    }
    #expect(returned.values == [0])
  }

  @Test("a failure ends the wait for the next element", .hangLimit)
  func failureWhileWaiting() async {
    let (elements, source) = AsyncStream<Int>.makeStream()
    source.yield(1)
    await #expect(throws: Mishap(position: 1)) {
      try await elements.memoized().concurrentForEach(limit: 2) { number async throws in
        throw Mishap(position: number)
      }
    }
    source.finish()
  }

  @Test("the list's failure is thrown, not the cancellation of the calls that it ends", .hangLimit)
  func listFailureWhileCalling() async {
    let list = [1, 2] + LazyList<Int, any Error>.failing(Mishap(position: 2))
    await #expect(throws: Mishap(position: 2)) {
      try await list.concurrentForEach(limit: 4) { _ async throws in
        await ConcurrencyTests.cancellation()
        try Task.checkCancellation()
      }
    }
  }

  @Test("calls that may fail retain no elements that have been passed")
  func space() async throws {
    let instances = InstanceCounter()
    try await LazyList(0..<2_000).map { _ in instances.member() }
      .concurrentForEach(limit: 2) { _ async throws in await Task.yield() }
    #expect(instances.greatest < 100)
  }

  @Test("it ends when its task is cancelled")
  func cancelled() async {
    await expectCancelled {
      _ = try await $0.throwingCancellation.concurrentForEach(limit: 2) { _ in }
    }
  }

  @Test("a failure of the list is its own type's")
  func listFailure() async {
    let seen = Probe<Int>()
    let list = [1, 2] + LazyList<Int, Mishap>.failing(Mishap(position: 2))
    do throws(Mishap) {
      try await list.concurrentForEach(limit: 4) { seen.record($0) }
      Issue.record("the list must fail")
    } catch {
      #expect(error.position == 2)
    }
    #expect(seen.values.sorted() == [1, 2])
  }
}
