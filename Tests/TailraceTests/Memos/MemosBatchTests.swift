import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceMemos

@Suite("Memos that compute many keys at once", .hangLimit, .inTurn)
struct MemosBatchTests {
  /// Batches that take a tenth of a second each.
  struct World {
    let scheduler = VirtualScheduler()
    let batches = Probe<[Int]>()
    let answers = Probe<String>()

    func memos(_ limit: Int) -> Memos<Int, String, any Error> {
      Memos(batchSize: limit, clock: scheduler.clock) { [scheduler, batches] keys in
        batches.record(keys.sorted())
        try await scheduler.clock.sleep(for: .milliseconds(100))
        return Dictionary(uniqueKeysWithValues: keys.map { ($0, "\($0)") })
      }
    }

    func ask(_ memos: Memos<Int, String, any Error>, _ keys: [Int]) {
      for key in keys {
        scheduler.schedule { [answers] () async in
          answers.record((try? await memos.value(for: key)) ?? "?")
        }
      }
      scheduler.advance(by: .zero)
    }
  }

  @Test(
    "the first key leaves at once; those that come meanwhile leave together, and full ones, too")
  func gathering() {
    let world = World()
    let memos = world.memos(3)
    world.ask(memos, Array(0..<8))
    #expect(world.batches.values == [[0]])
    world.scheduler.advance(by: .milliseconds(100))
    #expect(world.batches.values == [[0], [1, 2, 3], [4, 5, 6], [7]] && world.answers.count == 1)
    world.ask(memos, [8, 9])
    #expect(world.batches.count == 4)
    world.scheduler.advance(by: .milliseconds(100))
    #expect(world.batches.values.last == [8, 9] && world.answers.count == 8)
    world.scheduler.advance(by: .milliseconds(100))
    #expect(world.answers.values.sorted() == (0..<10).map { "\($0)" })
    #expect(memos.statistics.batches == 5 && memos.statistics.loads == 10)
  }

  @Test("a key that is in a batch is not sent again; its callers wait for that one")
  func shared() {
    let world = World()
    let memos = world.memos(10)
    world.ask(memos, [0, 1, 0, 1, 2, 0])
    world.scheduler.advance(by: .milliseconds(200))
    #expect(world.batches.values == [[0], [1, 2]] && world.answers.count == 6)
    #expect(memos.statistics.hits == 3)
  }

  @Test("a key that is forgotten while it waits for its batch, and asked for again, is sent once")
  func sentOnce() {
    let world = World()
    let memos = world.memos(10)
    world.ask(memos, [0, 1])
    memos.forget(1)
    world.ask(memos, [1, 2])
    world.scheduler.advance(by: .milliseconds(200))
    #expect(world.batches.values == [[0], [1, 2]])
    #expect(world.answers.values.sorted() == ["0", "1", "1", "2"] && memos.peek(1) == "1")
  }

  @Test("a batch that is asked for in the background, or whose callers leave, is remembered")
  func background() async {
    let world = World()
    let memos = world.memos(10)
    world.ask(memos, [0])
    world.scheduler.advance(by: .milliseconds(100))
    let caller = world.scheduler.schedule { () async in
      memos.refresh(0)
      memos.refresh(1)
      _ = try? await memos.value(for: 2)
    }
    world.scheduler.advance(by: .zero)
    caller.cancel()
    world.scheduler.advance(by: .zero)
    await caller.value
    world.scheduler.advance(by: .milliseconds(200))
    #expect(world.batches.values == [[0], [0], [1, 2]])
    #expect([0, 1, 2].map { memos.peek($0) } == ["0", "1", "2"] && world.answers.count == 1)
    #expect(memos.store.table.withLock { $0.brokenInvariant } == nil)
  }

  @Test("a batch whose keys were forgotten before it could leave is not sent, and not counted")
  func notSent() async {
    let world = World()
    let memos = world.memos(10)
    world.ask(memos, [0])
    let caller = world.scheduler.schedule { () async in _ = try? await memos.value(for: 1) }
    world.scheduler.advance(by: .zero)
    caller.cancel()
    world.scheduler.advance(by: .zero)
    await caller.value
    memos.forget(1)
    world.scheduler.advance(by: .milliseconds(200))
    world.ask(memos, [2])
    #expect(world.batches.values == [[0], [2]] && memos.statistics.batches == 2)
  }

  @Test("the results of a batch go when the next one leaves")
  func formerResults() async throws {
    let instances = InstanceCounter()
    let (first, second) = (Gate(), Gate())
    let memos = Memos(batchSize: 2) { (keys: [Int]) in
      await (keys == [0] ? first : second).wait()
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, instances.member()) })
    }
    let zero = Task { _ = try await memos.value(for: 0) }
    await first.waitForArrivals(1)
    let one = Task { _ = try await memos.value(for: 1) }
    while memos.statistics.loads < 2 { await Task.yield() }
    first.open()
    try await zero.value
    await second.waitForArrivals(1)
    memos.forget(0)
    await instances.waitUntilEmpty()
    second.open()
    try await one.value
  }

  @Test("a failure of a batch is that of its keys; a missing key has an error of its own")
  func failures() async throws {
    let calls = Counter()
    let memos = Memos(batchSize: 10) { (keys: [Int]) in
      if calls.increment() == 1 { throw Refused() }
      return Dictionary(uniqueKeysWithValues: keys.filter { $0 >= 0 }.map { ($0, "\($0)") })
    }
    await #expect(throws: Refused.self) { try await memos.value(for: 1) }
    #expect(try await memos.value(for: 1) == "1")
    do {
      _ = try await memos.value(for: -7)
      Issue.record("there is no such key")
    } catch let error as MissingValueError {
      #expect(error.key as? Int == -7 && "\(error)".hasSuffix("for the key -7"))
    }
    #expect(memos.statistics.failures == 2 && memos.statistics.batches == 3)
  }

  @Test("a batch that nobody waits for is cancelled, and the next one leaves")
  func cancelled() async throws {
    let ended = Probe<Bool>()
    let gate = Gate()
    let hangs = Locked(true)
    let memos = Memos(batchSize: 5) { (keys: [Int]) in
      if hangs.withLock({ $0 }) {
        await withTaskCancellationHandler {
          await gate.wait()
        } onCancel: {
          gate.open()
        }
        ended.record(Task.isCancelled)
      }
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, $0) })
    }
    let reader = Task { try await memos.value(for: 1) }
    await gate.waitForArrivals(1)
    reader.cancel()
    _ = await reader.result
    hangs.withLock { $0 = false }
    memos.forget(1)
    await ended.waitForCount(1)
    #expect(ended.values == [true])
    #expect(try await memos.value(for: 1) == 1)
  }

  @Test("a batch may ask for keys of another batch; one that asks for a key of its own is an error")
  func cycle() async throws {
    let holder = Locked<Memos<Int, Int, any Error>?>(nil)
    let memos = Memos(batchSize: 5) { (keys: [Int]) in
      let other = keys == [1] ? 2 : keys == [3] ? 3 : 0
      let value = other == 0 ? 7 : try await holder.withLock { $0 }?.value(for: other) ?? 0
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, value) })
    }
    holder.withLock { $0 = memos }
    #expect(try await memos.value(for: 1) == 7)
    let error = await #expect(throws: CyclicEvaluationError.self) {
      try await memos.value(for: 3)
    }
    #expect(error?.description.contains("Memos[3]") == true, "\(error?.description ?? "")")
    holder.withLock { $0 = nil }
  }

  @Test("a batch that hangs holds up others for half a second; for nobody, not at all")
  func hanging() {
    let world = World()
    let (gate, calls) = (Gate(), Probe<[Int]>())
    let memos = Memos(batchSize: 5, clock: world.scheduler.clock) { (keys: [Int]) in
      calls.record(keys)
      if keys.contains(1) { await gate.wait() }
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, "\($0)") })
    }
    world.ask(memos, [1, 2])
    #expect(calls.values == [[1]])
    world.scheduler.advance(by: .milliseconds(499))
    #expect(calls.values == [[1]])
    world.scheduler.advance(by: .milliseconds(1))
    #expect(calls.values == [[1], [2]] && world.answers.values == ["2"])
    // Nobody wants what hangs any more.
    memos.forgetAll()
    let hanging = world.scheduler.schedule { () async in _ = try? await memos.value(for: 1) }
    world.scheduler.advance(by: .zero)
    world.ask(memos, [3])
    #expect(calls.values == [[1], [2], [1]])
    hanging.cancel()
    world.scheduler.advance(by: .zero)
    memos.forget(1)
    world.scheduler.advance(by: .zero)
    #expect(calls.values == [[1], [2], [1], [3]] && world.answers.values == ["2", "3"])
    gate.open()
    world.scheduler.run()
  }

  @Test("a batch whose keys are forgotten is cancelled, also if another gathers behind it")
  func cancelledBeforeOthers() async throws {
    let (gate, calls) = (Gate(), Probe<[Int]>())
    let memos = Memos(batchSize: 5) { (keys: [Int]) in
      calls.record(keys)
      if keys.contains(1) {
        await withTaskCancellationHandler {
          await gate.wait()
        } onCancel: {
          gate.open()
        }
      }
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, $0) })
    }
    let first = Task { try await memos.value(for: 1) }
    await gate.waitForArrivals(1)
    let second = Task { try await memos.value(for: 2) }
    while memos.statistics.loads < 2 { await Task.yield() }
    first.cancel()
    _ = await first.result
    memos.forget(1)
    #expect(try await second.value == 2 && calls.values == [[1], [2]])
  }

  @Test("as many batches at once as there may be")
  func most() async throws {
    let (now, most) = (Counter(), Probe<Int>())
    let scheduler = VirtualScheduler()
    let memos = Memos(batchSize: 2, maxBatches: 3, clock: scheduler.clock) { (keys: [Int]) in
      most.record(now.increment())
      try await scheduler.clock.sleep(for: .milliseconds(10))
      now.increment(by: -1)
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, $0) })
    }
    let answers = Counter()
    for key in 0..<41 {
      scheduler.schedule { () async in
        if (try? await memos.value(for: key)) == key { answers.increment() }
      }
    }
    scheduler.run()
    #expect(answers.value == 41 && most.values.max() == 3 && memos.statistics.batches == 21)
  }

  @Test(
    "asked for together, keys travel together; what comes beside them is kept, unless something was forgotten"
  )
  func together() async throws {
    let calls = Probe<[Int]>()
    let holder = Locked<Memos<Int, Int, any Error>?>(nil)
    let memos = Memos(batchSize: 3) { (keys: [Int]) in
      calls.record(keys)
      if keys.contains(20) { holder.withLock { $0 }?.forget(99) }
      let others = [keys[0] + 100]
      return Dictionary(uniqueKeysWithValues: (keys + others).map { ($0, $0 * 2) })
    }
    holder.withLock { $0 = memos }
    #expect(try await memos.values(for: [1, 2, 3, 4]) == [1: 2, 2: 4, 3: 6, 4: 8])
    #expect(calls.values.map(\.count).sorted() == [1, 3])
    #expect(memos.peek(101) == 202 && memos.peek(104) == 208)
    _ = try await memos.value(for: 20)
    #expect(memos.peek(120) == nil)
    holder.withLock { $0 = nil }
  }

  @Test("an error for one key of a batch")
  func errors() async throws {
    let memos = Memos(batchSize: 3) { (keys: [Int]) -> [Int: Result<Int, any Error>] in
      Dictionary(
        uniqueKeysWithValues: keys.map { ($0, $0 == 2 ? .failure(Refused()) : .success($0)) })
    }
    await #expect(throws: Refused.self) { try await memos.values(for: [1, 2]) }
    #expect(try await memos.value(for: 1) == 1 && memos.statistics.batches == 1)
  }

  @Test("nothing is left behind")
  func release() async throws {
    let instances = InstanceCounter()
    do {
      let member = instances.member()
      let memos = Memos(batchSize: 2) { [member] (keys: [Int]) in
        Dictionary(uniqueKeysWithValues: keys.map { ($0, instances.member(member.number)) })
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for key in 0..<100 { group.addTask { _ = try await memos.value(for: key) } }
        try await group.waitForAll()
      }
      #expect(memos.statistics.batches >= 50 && memos.count == 100)
    }
    await instances.waitUntilEmpty()
  }

  @Test("a batch of nothing traps, with words")
  func nothing() async {
    await #expect(processExitsWith: .failure) {
      _ = Memos(batchSize: 0) { (keys: [Int]) in [Int: Int]() }
    }
  }

  @Test("the queue: who gathers, who leaves, who is waited for")
  func queue() {
    final class Batch: Sendable {
      let number: Int
      let after: Int?
      init(_ number: Int, _ after: Int?) { (self.number, self.after) = (number, after) }
    }
    var queue = BatchQueue<Int, Batch>(limit: 2, most: 9)
    var made: [Batch] = []
    func join(_ key: Int) -> Int {
      queue.join(key) { after, _ in
        made.append(Batch(made.count, after.batch?.number))
        return made[made.count - 1]
      }.batch.number
    }
    #expect(join(0) == 0 && made[0].after == nil)
    #expect(queue.leave(made[0])! == ([0], 1))
    #expect([1, 2, 3].map(join) == [1, 1, 2])
    #expect(made[1].after == 0 && made[2].after == 0)
    queue.comeBack(1)
    #expect(queue.leave(made[1])! == ([1, 2], 2) && queue.leave(made[2])! == ([3], 3))
    #expect(join(4) == 3 && made[3].after == 2)
    queue.comeBack(2)
    queue.comeBack(3)
    #expect(queue.leave(made[3])! == ([4], 4) && queue.leave(made[3]) == nil)
    // One that was out when another left: the other is still out.
    queue.comeBack(3)
    #expect(join(5) == 4 && made[4].after == 3)
    #expect(queue.leave(made[4])! == ([5], 5) && queue.departures == 5)
    queue.comeBack(5)
    #expect(join(6) == 5 && made[5].after == nil)
  }
}
