import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@Suite("Memos: a value for each key, computed once", .timeLimit(.minutes(15)), .inTurn)
struct MemosTests {
  @Test("closures of every kind, with nothing said about types")
  func kinds() async throws {
    let plain = Memos { (key: Int) in key * 2 }
    let throwing = Memos { (key: Int) in if key < 0 { throw Refused() } else { key * 2 } }
    let asynchronous = Memos { (key: Int) in
      await Task.yield()
      return key * 2
    }
    let both = Memos { (key: Int) in
      await Task.yield()
      if key < 0 { throw Refused() }
      return key * 2
    }
    let typed = Memos { (key: Int) throws(Refused) -> Int in
      if key < 0 { throw Refused() }
      return key * 2
    }
    let _: (Memos<Int, Int, Never>, Memos<Int, Int, Never>) = (plain, asynchronous)
    let _: (Memos<Int, Int, any Error>, Memos<Int, Int, any Error>) = (throwing, both)
    let _: Memos<Int, Int, Refused> = typed
    for key in [3, 4, 3] {
      #expect(await plain.value(for: key) == key * 2)
      #expect(try await throwing.value(for: key) == key * 2)
      #expect(await asynchronous.value(for: key) == key * 2)
      #expect(try await both.value(for: key) == key * 2)
      #expect(try await typed.value(for: key) == key * 2)
    }
    #expect(plain.statistics.loads == 2 && both.statistics.loads == 2)
    await #expect(throws: Refused.self) { try await throwing.value(for: -1) }
    await #expect(throws: Refused.self) { try await both.value(for: -1) }
    await #expect(throws: Refused.self) { try await typed.value(for: -1) }
    let words = Memos(capacity: .cost(10) { $0.count }, lifetime: .seconds(1)) { (key: Int) in
      await Task.yield()
      return String(repeating: "a", count: key)
    }
    #expect(await words.value(for: 3) == "aaa")
  }

  @Test("nothing runs before a demand; looking computes nothing")
  func demand() async {
    let calls = Probe<Int>()
    let memos = Memos { (key: Int) in calls.pass(key) }
    #expect(memos.peek(1) == nil && memos.count == 0 && memos.description == "Memos(0 keys)")
    #expect(calls.values == [])
    #expect(await memos.value(for: 1) == 1)
    #expect(memos.peek(1) == 1 && memos.peek(2) == nil && memos.count == 1)
    #expect(await memos.value(for: 1) == 1)
    #expect(calls.values == [1])
    #expect(memos.statistics.hits == 1 && memos.statistics.loads == 1)
  }

  @Test("a computation is shared by all who ask while it goes on")
  func shared() async {
    let (calls, gate) = (Probe<Int>(), Gate())
    let memos = Memos { (key: Int) in
      calls.record(key)
      await gate.wait()
      return key
    }
    let asking = (0..<20).map { number in Task { await memos.value(for: number % 2) } }
    await gate.waitForArrivals(2)
    gate.open()
    for (number, task) in asking.enumerated() { #expect(await task.value == number % 2) }
    #expect(calls.values.sorted() == [0, 1])
    #expect(memos.statistics.hits + memos.statistics.loads == 20)
  }

  @Test("a failure is remembered; or the next demand computes anew", arguments: [false, true])
  func failures(isRetrying: Bool) async throws {
    let calls = Probe<Int>()
    let memos = Memos(retryingFailures: isRetrying) { (key: Int) in
      calls.record(key)
      await Task.yield()
      if calls.count < 3 { throw Refused() }
      return key
    }
    await #expect(throws: Refused.self) { try await memos.value(for: 7) }
    #expect(memos.peek(7) == nil && memos.count == (isRetrying ? 0 : 1))
    await #expect(throws: Refused.self) { try await memos.value(for: 7) }
    if isRetrying {
      #expect(try await memos.value(for: 7) == 7)
    } else {
      memos.forget(7)
      await #expect(throws: Refused.self) { try await memos.value(for: 7) }
      memos.refresh(7)
      #expect(try await memos.value(for: 7) == 7)
    }
    #expect(memos.statistics.failures == 2 && memos.statistics.loads == 3)
  }

  @Test("by default, a failure is not remembered, and neither is a cycle")
  func failuresByDefault() async throws {
    let calls = Counter()
    let plain = Memos { (key: Int) in if calls.increment() == 1 { throw Refused() } else { key } }
    let recursive = Memos<Int, Int, any Error>.recursive { memos, key in
      calls.increment() < 5 ? try await memos.value(for: key) : key
    }
    await #expect(throws: Refused.self) { try await plain.value(for: 7) }
    #expect(plain.count == 0)
    #expect(try await plain.value(for: 7) == 7)
    for _ in 0..<2 {
      await #expect(throws: CyclicEvaluationError.self) { try await recursive.value(for: 7) }
    }
    #expect(try await recursive.value(for: 7) == 7 && recursive.count == 1)
  }

  @Test("a cancelled task stops waiting, and nothing else")
  func cancellation() async throws {
    let gate = Gate()
    let memos = Memos<Int, Int, any Error> { (key: Int) async throws in
      await gate.wait()
      try Task.checkCancellation()
      return key
    }
    let first = Task { try await memos.value(for: 1) }
    await gate.waitForArrivals(1)
    let second = Task { try await memos.value(for: 1) }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    gate.open()
    #expect(try await second.value == 1)
    // A value that is there can be read; a computation is not begun.
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return (try await memos.value(for: 1), try? await memos.value(for: 2))
    }
    #expect(try await cancelled.value == (1, nil))
    #expect(memos.statistics.loads == 1 && memos.count == 1)
  }

  @Test("where it cannot fail, a cancelled task waits for the value")
  func cancelledQuestion() async {
    let memos = Memos { (key: Int) in
      await Task.yield()
      return key
    }
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await memos.value(for: 1)
    }
    #expect(await task.value == 1)
  }

  @Test("a cancellation is never remembered")
  func cancellationOfOwn() async throws {
    let calls = Counter()
    let memos = Memos { (key: Int) in
      if calls.increment() == 1 { throw CancellationError() }
      return key
    }
    await #expect(throws: CancellationError.self) { try await memos.value(for: 1) }
    #expect(try await memos.value(for: 1) == 1)
  }

  @Test("a computation that nobody waits for goes on, and is remembered")
  func alone() async throws {
    let gate = Gate()
    let memos = Memos<Int, Int, any Error>(capacity: .count(1)) { (key: Int) async throws in
      if key == 1 {
        await gate.wait()
        try Task.checkCancellation()
      }
      return key
    }
    let task = Task { try await memos.value(for: 1) }
    await gate.waitForArrivals(1)
    task.cancel()
    _ = try? await task.value
    // Others come and go meanwhile: a value that is being computed is not evicted.
    for key in 2..<50 { #expect(try await memos.value(for: key) == key) }
    gate.open()
    #expect(try await memos.value(for: 1) == 1)
    #expect(memos.statistics.loads == 49 && memos.peek(1) == 1 && memos.count == 1)
  }

  @Test("forgotten while it is computed: waiting tasks get it, the next demand computes anew")
  func forgotten() async {
    for all in [false, true] {
      let (calls, gate) = (Counter(), Gate())
      let memos = Memos { (key: Int) in
        let call = calls.increment()
        if call == 1 { await gate.wait() }
        return call
      }
      let first = Task { await memos.value(for: 9) }
      await gate.waitForArrivals(1)
      if all { memos.forgetAll() } else { memos.forget(9) }
      #expect(await memos.value(for: 9) == 2)
      gate.open()
      #expect(await first.value == 1)
      #expect(await memos.value(for: 9) == 2)
      #expect(memos.statistics.loads == 2 && memos.count == 1)
    }
  }

  @Test("forgotten, or released, with nobody who waits: the computation is cancelled")
  func abandoned() async {
    for isReleased in [false, true] {
      let (gate, ended) = (Gate(), Probe<Bool>())
      var memos: Memos<Int, Int, any Error>? = Memos { (key: Int) async throws in
        await withTaskCancellationHandler {
          await gate.wait()
        } onCancel: {
          ended.record(true)
          gate.open()
        }
        return key
      }
      memos?.refresh(1)
      await gate.waitForArrivals(1)
      if isReleased { memos = nil } else { memos?.forget(1) }
      await ended.waitForCount(1)
      #expect(memos?.peek(1) == nil)
    }
  }

  @Test("refreshed: a plain closure runs at once")
  func refresh() async {
    let calls = Counter()
    let memos = Memos { (_: Int) in calls.increment() }
    #expect(await memos.value(for: 1) == 1)
    memos.refresh(1)
    #expect(memos.peek(1) == 2)
    memos.refresh(2)
    #expect(memos.peek(2) == 3)
    #expect(memos.statistics.loads == 3 && memos.count == 2)
  }

  @Test("a refreshment that fails leaves the old value")
  func failedRefresh() async throws {
    let calls = Counter()
    let memos = Memos(capacity: .count(3)) { (key: Int) in
      if calls.increment() == 2 { throw Refused() }
      return calls.value
    }
    #expect(try await memos.value(for: 1) == 1)
    memos.refresh(1)
    #expect(try await memos.value(for: 1) == 1 && memos.statistics.failures == 1)
    memos.refresh(1)
    #expect(try await memos.value(for: 1) == 3 && memos.count == 1)
  }

  @Test("values are released outside of the lock: they may ask the same memos")
  func released() async {
    let (seen, shelf) = (Probe<Int>(), Shelf())
    let memos = Memos<Int, Asking, Never>(capacity: .count(2)) { (_: Int) in Asking(shelf, seen) }
    shelf.memos.withLock { $0 = memos }
    for key in 0..<20 { _ = await memos.value(for: key) }
    memos.forget(19)
    memos.refresh(18)
    memos.forgetAll()
    #expect(seen.count == 21)
    shelf.memos.withLock { $0 = nil }
  }

  final class Shelf: Sendable {
    let memos = Locked<Memos<Int, Asking, Never>?>(nil)
  }

  /// It looks at the memos that let go of it.
  final class Asking: Sendable {
    let shelf: Shelf
    let seen: Probe<Int>

    init(_ shelf: Shelf, _ seen: Probe<Int>) { (self.shelf, self.seen) = (shelf, seen) }

    deinit {
      guard let memos = shelf.memos.withLock({ $0 }) else { return }
      seen.record(memos.count)
    }
  }

  @Test("the closure and the values go with the memos")
  func space() async {
    let instances = InstanceCounter()
    do {
      let token = instances.member()
      let memos = Memos { (key: Int) in
        if key > 5 { await Task.yield() }
        return (token, instances.member(key))
      }
      for key in 0..<10 { _ = await memos.value(for: key) }
      memos.refresh(9)
    }
    await instances.waitUntilEmpty()
  }

  @TaskLocal static var word = "none"

  @Test("task-locals and the place of the demand reach the computation")
  func context() async {
    let memos = Memos { (key: Int) in
      if key > 1 { await Task.yield() }
      return Self.word
    }
    await Self.$word.withValue("here") {
      #expect(await memos.value(for: 1) == "here")
      #expect(await memos.value(for: 2) == "here")
    }
    #expect(await memos.value(for: 3) == "none")
  }
}
