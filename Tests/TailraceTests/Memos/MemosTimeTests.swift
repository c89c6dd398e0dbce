import Tailrace
import TailraceTesting
import Testing

@Suite("Memos in time: values grow old on any clock", .timeLimit(.minutes(15)), .inTurn)
struct MemosTimeTests {
  /// Memos on a scheduler whose values are the numbers of their computations, each of which takes 1 s.
  struct World {
    let scheduler = VirtualScheduler()
    let calls = Counter()

    func memos(
      lifetime: Duration? = nil, refreshingAfter: Duration? = nil, failing: Set<Int> = [],
      retryingFailures: Bool = false
    ) -> Memos<Int, Int, any Error> {
      Memos(
        lifetime: lifetime.map { .fixed($0) } ?? .forever, refreshingAfter: refreshingAfter,
        retryingFailures: retryingFailures,
        clock: scheduler.clock
      ) { [scheduler, calls] (_: Int) in
        let call = calls.increment()
        try await scheduler.clock.sleep(for: .seconds(1))
        if failing.contains(call) { throw Refused() }
        return call
      }
    }

    /// Asks now; gives what the answer is after some time.
    func ask(
      _ memos: Memos<Int, Int, any Error>, _ key: Int = 1, waiting: Duration = .zero
    ) -> Int? {
      let answer = Probe<Int>()
      scheduler.schedule { answer.record((try? await memos.value(for: key)) ?? -1) }
      scheduler.advance(by: waiting)
      return answer.values.first
    }

    /// In a task, so that the computation goes on in virtual time.
    func refresh(_ memos: Memos<Int, Int, any Error>) {
      scheduler.schedule { () async in memos.refresh(1) }
      scheduler.advance(by: .zero)
    }
  }

  @Test("a value that has expired is released before the wait for the next one")
  func expiredValue() {
    let (scheduler, instances, calls) = (VirtualScheduler(), InstanceCounter(), Counter())
    let memos = Memos(lifetime: .seconds(10), clock: scheduler.clock) { (_: Int) async throws in
      if calls.increment() > 1 { try await scheduler.clock.sleep(for: .seconds(5)) }
      return instances.member()
    }
    for seconds in [20, 1] {
      scheduler.schedule { () async in _ = try? await memos.value(for: 1) }
      scheduler.advance(by: .seconds(seconds))
    }
    #expect(calls.value == 2)
    #expect(instances.alive == 0)
    scheduler.advance(by: .seconds(5))
    #expect(instances.alive == 1)
    withExtendedLifetime(memos) {}
  }

  @Test("a lifetime is counted from when the value was there")
  func lifetime() {
    let world = World()
    let memos = world.memos(lifetime: .seconds(10))
    #expect(world.ask(memos, waiting: .seconds(1)) == 1)
    world.scheduler.advance(by: .milliseconds(9_999))
    #expect(world.ask(memos) == 1 && memos.peek(1) == 1)
    world.scheduler.advance(by: .milliseconds(1))
    #expect(memos.peek(1) == nil)
    #expect(world.ask(memos) == nil)
    #expect(world.ask(memos, waiting: .seconds(1)) == 2)
    #expect(memos.statistics.loads == 2)
  }

  @Test("refreshed in time: the old value is served while the new one is computed")
  func refreshing() {
    let world = World()
    let memos = world.memos(lifetime: .seconds(10), refreshingAfter: .seconds(5))
    #expect(world.ask(memos, waiting: .seconds(1)) == 1)
    world.scheduler.advance(by: .seconds(5))
    #expect(world.ask(memos) == 1)
    #expect(world.calls.value == 2)
    #expect(world.ask(memos) == 1)
    world.scheduler.advance(by: .seconds(1))
    #expect(memos.peek(1) == 2)
    #expect(world.ask(memos) == 2)
    #expect(world.calls.value == 2 && memos.count == 1)
  }

  @Test(
    "a value that expires while it is refreshed is not served: the next demand waits for the new one"
  )
  func expiringWhileRefreshed() {
    let world = World()
    let memos = world.memos(lifetime: .seconds(10))
    #expect(world.ask(memos, waiting: .seconds(1)) == 1)
    world.scheduler.advance(by: .milliseconds(9_500))
    world.refresh(memos)
    world.scheduler.advance(by: .milliseconds(400))
    #expect(memos.peek(1) == 1 && world.ask(memos) == 1)
    world.scheduler.advance(by: .milliseconds(200))
    #expect(memos.peek(1) == nil && world.ask(memos) == nil)
    #expect(memos.count == 1, "it is not removed yet")
    world.scheduler.advance(by: .milliseconds(400))
    #expect(world.ask(memos) == 2)
    #expect(world.calls.value == 2)
  }

  @Test("asked to refresh by hand: the old value meanwhile, one computation")
  func byHand() {
    let world = World()
    let memos = world.memos()
    #expect(world.ask(memos, waiting: .seconds(1)) == 1)
    world.refresh(memos)
    world.refresh(memos)
    world.scheduler.advance(by: .milliseconds(500))
    #expect(world.ask(memos) == 1 && memos.peek(1) == 1)
    world.scheduler.advance(by: .milliseconds(500))
    #expect(world.ask(memos) == 2)
    #expect(world.calls.value == 2)
  }

  @Test(
    "a refreshment that fails is tried again after the same time; an expired value is not served")
  func failing() {
    let world = World()
    let memos = world.memos(
      lifetime: .seconds(12), refreshingAfter: .seconds(5), failing: [2, 3], retryingFailures: true)
    #expect(world.ask(memos, waiting: .seconds(1)) == 1)
    world.scheduler.advance(by: .seconds(5))
    #expect(world.ask(memos, waiting: .seconds(1)) == 1)
    #expect(memos.statistics.failures == 1)
    #expect(world.ask(memos, waiting: .seconds(4)) == 1)
    #expect(world.calls.value == 2)
    world.scheduler.advance(by: .seconds(1))
    // The third computation fails when the value has expired.
    #expect(world.ask(memos, waiting: .milliseconds(1_500)) == 1)
    #expect(memos.statistics.failures == 2 && memos.peek(1) == nil && memos.count == 0)
    #expect(world.ask(memos, waiting: .seconds(1)) == 4)
  }

  @Test("a failure that is remembered grows old as a value does", arguments: [true, false])
  func failures(isLifetime: Bool) {
    let world = World()
    let memos = world.memos(
      lifetime: isLifetime ? .seconds(10) : nil, refreshingAfter: isLifetime ? nil : .seconds(10),
      failing: [1])
    #expect(world.ask(memos, waiting: .seconds(1)) == -1)
    world.scheduler.advance(by: .seconds(9))
    #expect(world.ask(memos) == -1)
    world.scheduler.advance(by: .seconds(1))
    #expect(world.ask(memos, waiting: .seconds(1)) == 2)
  }

  @Test("expired values go with the computations of other keys; nothing waits on the clock")
  func sweep() {
    let world = World()
    let memos = world.memos(lifetime: .seconds(10))
    for key in 0..<100 { _ = world.ask(memos, key) }
    world.scheduler.advance(by: .seconds(1))
    #expect(memos.count == 100 && world.scheduler.pendingCount == 0)
    world.scheduler.advance(by: .seconds(10))
    for key in 100..<220 { _ = world.ask(memos, key) }
    world.scheduler.advance(by: .seconds(1))
    #expect(memos.count == 120)
    #expect(memos.statistics.evictions == 0)
  }

  @Test(
    "durations that no clock reaches, and none",
    arguments: [
      (Duration.seconds(Int64.max), 1), (.seconds(300 * 366 * 86_400), 1), (.zero, 2),
      (.seconds(-1), 2),
    ])
  func extremes(lifetime: Duration, loads: Int) {
    let world = World()
    let memos = world.memos(lifetime: lifetime)
    #expect(world.ask(memos, waiting: .seconds(1)) == 1)
    #expect(world.ask(memos, waiting: .seconds(1)) == loads)
  }
}
