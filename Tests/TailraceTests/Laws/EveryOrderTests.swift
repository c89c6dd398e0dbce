import Tailrace
import TailraceTesting
import Testing

/// Small bodies, of which all orders are tried, or all with a few preemptions.
@Suite("Every order: lists, memos, signals, readers in step", .tags(.long), .hangLimit, .inTurn)
struct EveryOrderTests {
  static let options = ExplorationOptions(
    runs: Size.usual(800, full: 50_000), preemptions: Size.usual(4, full: 6),
    randomRuns: Size.usual(300, full: 10_000))
  static let every = ExplorationOptions(
    runs: Size.usual(3_000, full: 200_000), preemptions: .max, randomRuns: 0)

  /// Explores, and prints what was tried.
  private func tried(
    _ options: ExplorationOptions = options, _ name: String = #function,
    _ body: @escaping @Sendable (ExplorationRun) async throws -> Void
  ) async throws {
    let clock = ContinuousClock()
    let start = clock.now
    let summary = try await explore(options, body: body)
    print("every order: \(name): \(summary), \(clock.now - start)")
    #expect(summary.jobsFromOutside == 0)
    #expect(summary.divergedRuns == 0)
  }

  /// Counts up, with steps that suspend.
  private static func steps(
    upTo last: Int, _ pulls: Probe<Int> = Probe()
  ) -> LazyList<Int, any Error> {
    LazyList(state: 0) { state async throws in
      await Task.yield()
      guard state < last else { return nil }
      state += 1
      pulls.record(state)
      return state
    }
  }

  private static func require(
    _ run: ExplorationRun, _ result: Result<some Equatable & Sendable, any Error>,
    isCancelledOr wanted: some Equatable & Sendable
  ) throws {
    switch result {
    case .success(let value): try run.require("\(value)" == "\(wanted)", "\(value)")
    case .failure(let error): try run.require(error is CancellationError, "\(error)")
    }
  }

  // MARK: Lists

  @Test("each suspension of a step is a step of the run, though a driver runs jobs in place")
  func steps() async throws {
    let seen = Probe<Int>()
    try await tried(Self.every) { run in
      let pulls = Probe<Int>()
      let list = Self.steps(upTo: 3, pulls)
      run.spawn(name: "other") { seen.record(pulls.count) }
      _ = try await list.array()
    }
    #expect(Set(seen.values) == [0, 1, 2, 3])
  }

  @Test("a list, two readers, one of which is cancelled")
  func list() async throws {
    try await tried(Self.every) { run in
      let pulls = Probe<Int>()
      let list = Self.steps(upTo: 1, pulls)
      let cancelled = run.spawn(name: "cancelled") { try await list.head() }
      let reader = run.spawn(name: "reader") { try await list.head() }
      run.spawn(name: "canceller") { cancelled.cancel() }
      try run.require(try await reader.value == 1)
      try Self.require(run, await cancelled.result, isCancelledOr: Int?.some(1))
      try run.require(pulls.values == [1])
    }
  }

  @Test("a list that is released while a step runs ends it, and its readers")
  func released() async throws {
    try await tried { run in
      let ended = Counter()
      var list: LazyList<Int, any Error>? = LazyList(state: 0) { state async throws in
        defer { ended.increment() }
        await Task.yield()
        state += 1
        return state
      }
      let reader = run.spawn(name: "reader") { [list] in try await list?.prefix(2).array() }
      list = nil
      run.spawn(name: "canceller") { reader.cancel() }
      try Self.require(run, await reader.result, isCancelledOr: [Int]?.some([1, 2]))
      try run.require(ended.value <= 2)
    }
  }

  @Test("a shared iterator deals each element once, and a cancelled task takes none with it")
  func sharedIterator() async throws {
    try await tried { run in
      let iterator = Self.steps(upTo: 3).makeSharedIterator()
      let dealt = Probe<Int>()
      @Sendable func read() async throws {
        while let element = try await iterator.next() { dealt.record(element) }
      }
      // The first has the turn, and the second is cancelled while the third waits behind it.
      let first = run.spawn(name: "first") { try await read() }
      let cancelled = run.spawn(name: "cancelled") { try await read() }
      let third = run.spawn(name: "third") { try await read() }
      run.spawn(name: "canceller") { cancelled.cancel() }
      try await first.value
      try await third.value
      _ = await cancelled.result
      try run.require(dealt.values.sorted() == [1, 2, 3], "dealt \(dealt.values)")
    }
  }

  @Test("two lists whose steps need each other: an error for somebody, and no hang")
  func cycle() async throws {
    try await tried { run in
      let knot = CycleTests.Knot()
      for (name, other) in [("a", "b"), ("b", "a")] {
        knot[name] = LazyList(state: 0) { _ async throws in
          await Task.yield()
          return try await knot[other].head()
        }
      }
      let (a, b) = (knot["a"], knot["b"])
      let first = run.spawn(name: "a") { try await a.head() }
      let second = run.spawn(name: "b") { try await b.head() }
      for result in [await first.result, await second.result] {
        guard case .failure(let error) = result, error is CyclicEvaluationError else {
          run.fail("\(result)")
          break
        }
      }
      (knot["a"], knot["b"]) = (.empty, .empty)
    }
  }

  // MARK: Beside and ahead

  @Test("look-ahead: readers that leave and are cancelled", arguments: [1, 3])
  func prefetching(_ distance: Int) async throws {
    try await tried { run in
      let pulls = Probe<Int>()
      let list = Self.steps(upTo: 4, pulls).prefetching(distance)
      let cancelled = run.spawn(name: "cancelled") { try await list.array() }
      run.spawn(name: "canceller") {
        await Task.yield()
        cancelled.cancel()
      }
      async let head = list.head()
      let all = try await list.array()
      try run.require(all == [1, 2, 3, 4], "\(all)")
      try run.require(try await head == 1)
      try Self.require(run, await cancelled.result, isCancelledOr: [1, 2, 3, 4])
      try run.require(pulls.values == [1, 2, 3, 4])
    }
  }

  @Test("closures beside each other, one of which fails")
  func concurrentMap() async throws {
    try await tried { run in
      let list = Self.steps(upTo: 4).concurrentMap(limit: 2) { number in
        await Task.yield()
        if number == 3 { throw Mishap(position: number) }
        return number * 10
      }
      @Sendable func read() async throws -> [Int] {
        var elements: [Int] = []
        do {
          for try await element in list { elements.append(element) }
          run.fail("no failure")
        } catch let error as Mishap { try run.require(error.position == 3) }
        return elements
      }
      async let other = read()
      let (one, two) = (try await read(), try await other)
      try run.require(one == [10, 20] && two == one, "\(one), \(two)")
    }
  }

  @Test("closures beside each other, in order of completion")
  func unordered() async throws {
    try await tried { run in
      let list = Self.steps(upTo: 4).concurrentMapUnordered(limit: 2) { number in
        await Task.yield()
        return number * 10
      }
      async let other = list.array()
      let (one, two) = (try await list.array(), try await other)
      try run.require(one == two, "\(one), \(two)")
      try run.require(one.sorted() == [10, 20, 30, 40], "\(one)")
    }
  }

  @Test("in step: one leaves, one is cancelled, the others get all", arguments: [1, 2])
  func lockstep(_ distance: Int) async throws {
    try await tried { run in
      let pulls = Probe<Int>()
      let readers = Self.steps(upTo: 4, pulls).lockstep(readers: 3, maxLead: distance)
      let cancelled = run.spawn(name: "cancelled") { try await LockstepTests.all(readers[0]) }
      run.spawn(name: "canceller") {
        await Task.yield()
        cancelled.cancel()
      }
      let leaver = run.spawn(name: "leaver") {
        for try await element in readers[1] { return element }
        return 0
      }
      let all = try await LockstepTests.all(readers[2])
      try run.require(all == [1, 2, 3, 4], "\(all)")
      try run.require(try await leaver.value == 1)
      try Self.require(run, await cancelled.result, isCancelledOr: [1, 2, 3, 4])
      try run.require(pulls.values == [1, 2, 3, 4], "\(pulls.values)")
    }
  }

  // MARK: Memos

  @Test("memos: three ask, one is cancelled, one computation")
  func memos() async throws {
    try await tried { run in
      let loads = Counter()
      let memos = Memos<Int, Int, any Error> { (key: Int) async throws in
        loads.increment()
        await Task.yield()
        return key * 10
      }
      let cancelled = run.spawn(name: "cancelled") { try await memos.value(for: 1) }
      run.spawn(name: "canceller") { cancelled.cancel() }
      async let other = memos.value(for: 1)
      try run.require(try await memos.value(for: 1) == 10)
      try run.require(try await other == 10)
      try Self.require(run, await cancelled.result, isCancelledOr: 10)
      try run.require(loads.value == 1, "\(loads.value) computations")
    }
  }

  @Test("memos: forgotten and refreshed meanwhile, a value is one that was computed")
  func forgotten() async throws {
    try await tried { run in
      let loads = Counter()
      let memos = Memos<Int, Int, any Error> { (_: Int) async throws in
        let number = loads.increment()
        await Task.yield()
        return number
      }
      run.spawn(name: "forgetter") { memos.forget(1) }
      run.spawn(name: "refresher") { memos.refresh(1) }
      async let other = memos.value(for: 1)
      let (one, two) = (try await memos.value(for: 1), try await other)
      try run.require((1...loads.value).contains(one) && (1...loads.value).contains(two))
      try run.require((1...3).contains(loads.value), "\(loads.value) computations")
      let last = try await memos.value(for: 1)
      try run.require(last >= max(one, two), "\(last) after \(one) and \(two)")
    }
  }

  @Test("memos: a failed computation is tried again, and told to those who have waited")
  func retried() async throws {
    try await tried { run in
      let loads = Counter()
      let memos = Memos<Int, Int, any Error>(retryingFailures: true) { (key: Int) async throws in
        let attempt = loads.increment()
        await Task.yield()
        if attempt == 1 { throw Mishap(position: key) }
        return key
      }
      let told = Counter()
      @Sendable func ask() async throws -> Int {
        while true {
          do { return try await memos.value(for: 1) } catch is Mishap { told.increment() }
        }
      }
      async let other = ask()
      try run.require(try await ask() == 1)
      try run.require(try await other == 1)
      try run.require((1...2).contains(told.value), "told \(told.value) times")
      try run.require(loads.value == 2, "\(loads.value) computations")
    }
  }

  @Test("memos: keys that need each other, asked for at once")
  func memoCycle() async throws {
    try await tried { run in
      let graph = MemosCycleTests.Graph([0: [1], 1: [0]])
      let memos = graph.make()
      let tasks = (0..<2).map { key in
        run.spawn(name: "key \(key)") { try await memos.value(for: key) }
      }
      for task in tasks {
        let result = await task.result
        guard case .failure(let error) = result, error is CyclicEvaluationError else {
          run.fail("\(result)")
          break
        }
      }
      graph.clear()
    }
  }

  // MARK: Signals

  @Test("a hot signal: two readers, one of which is cancelled, get what is sent after they began")
  func signal() async throws {
    try await tried { run in
      let (signal, subscriber) = Signal<Int, Never>.makeSignal()
      let one = signal.makeAsyncIterator()
      let two = signal.makeAsyncIterator()
      @Sendable func read(_ iterator: Signal<Int, Never>.Iterator) async -> [Int] {
        var (iterator, elements) = (iterator, [Int]())
        while let element = await iterator.next() { elements.append(element) }
        return elements
      }
      let cancelled = run.spawn(name: "cancelled") { await read(two) }
      run.spawn(name: "sender") {
        for number in 1...3 {
          subscriber.send(number)
          await Task.yield()
        }
        subscriber.complete()
      }
      run.spawn(name: "canceller") {
        await Task.yield()
        cancelled.cancel()
      }
      let all = await read(one)
      try run.require(all == [1, 2, 3], "\(all)")
      let some = await cancelled.value
      try run.require(Array([1, 2, 3].prefix(some.count)) == some, "\(some)")
    }
  }

  @Test("a sender that waits for room: nothing is lost, and it does not wait for ever")
  func room() async throws {
    try await tried { run in
      let (signal, subscriber) = Signal<Int, Never>.makeSignal(bufferingPolicy: .bufferingOldest(1))
      let iterator = signal.makeAsyncIterator()
      let senders = [0, 10].map { base in
        run.spawn(name: "sender \(base)") {
          for number in 1...2 { await subscriber.send(whenReady: base + number) }
        }
      }
      run.spawn(name: "ending") {
        for sender in senders { await sender.value }
        subscriber.complete()
      }
      var (reader, elements) = (iterator, [Int]())
      while let element = await reader.next() { elements.append(element) }
      try run.require(elements.sorted() == [1, 2, 11, 12], "\(elements)")
      try run.require(
        elements.filter { $0 < 10 } == [1, 2] && elements.filter { $0 > 10 } == [11, 12])
    }
  }

  @Test("a memoized signal: both readers get all, from one subscription")
  func memoizedSignal() async throws {
    try await tried { run in
      let subscriptions = Counter()
      let signal = Signal<Int, Never> { subscriber in
        subscriptions.increment()
        run.spawn(name: "source") {
          for number in 1...2 {
            subscriber.send(number)
            await Task.yield()
          }
          subscriber.complete()
        }
      }
      let list = signal.memoized()
      async let other = list.array()
      let (one, two) = (await list.array(), await other)
      try run.require(one == [1, 2] && two == one, "\(one), \(two)")
      try run.require(subscriptions.value == 1)
    }
  }
}
