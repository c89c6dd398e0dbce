import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

/// Steps that act on their own list, and actions on a list in the middle of a step.
@Suite(
  "Steps: whatever they do, and wherever their list is let go of", .timeLimit(.minutes(15)), .inTurn
)
struct StepAttackTests {
  #if DEBUG
    static let rounds = 200
  #else
    static let rounds = 5_000
  #endif

  private actor Adder {
    var sum = 0
    func add(_ number: Int) -> Int {
      sum += number
      return sum
    }
  }

  /// An actor whose jobs run on a queue.
  private actor Queued {
    private let queue = QueueScheduler()
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
    var calls = 0
    func call() -> Int {
      calls += 1
      return calls
    }
  }

  @MainActor
  private static func onMain(_ number: Int) -> Int {
    MainActor.preconditionIsolated()
    return number
  }

  @Test("a step that comes back hundreds of times", arguments: [1, 63, 64, 65, 700])
  func yields(_ turns: Int) async {
    let list = Steps<Int, Never>(10) { position in
      for _ in 0..<turns { await Task.yield() }
      return position
    }.memoized()
    async let other = list.count()
    #expect(await list.array() == Array(0..<10))
    #expect(await other == 10)
  }

  @Test("a step that calls an actor two hundred times, beside others that do")
  func actors() async {
    let (adder, queued) = (Adder(), Queued())
    let lists = (0..<4).map { _ in
      Steps<Int, Never>(10) { position in
        for _ in 0..<200 { _ = await adder.add(1) }
        for _ in 0..<10 { _ = await queued.call() }
        return position
      }.memoized()
    }
    await withTaskGroup { group in
      for list in lists + lists {
        group.addTask { #expect(await list.array() == Array(0..<10)) }
      }
    }
    #expect(await adder.sum == 8_000)
    #expect(await queued.calls == 400)
  }

  @Test("steps on the main actor, read from it and from elsewhere")
  func mainActor() async {
    let list = Steps<Int, Never>(50) { await Self.onMain($0) }.memoized()
    async let elsewhere = Task.detached { await list.array() }.value
    let here = await Task { @MainActor in
      var seen: [Int] = []
      for await element in list {
        MainActor.preconditionIsolated()
        seen.append(element)
      }
      return seen
    }.value
    #expect(here == Array(0..<50))
    #expect(await elsewhere == here)
    let isolated = LazyList(0..<50).map { @MainActor (number: Int) async in Self.onMain(number) }
    #expect(await isolated.array() == here)
  }

  @Test("a step with ten children, that do what steps do")
  func children() async {
    let (adder, source) = (Adder(), LazyList(0..<1000).mapAsync { $0 })
    let list = Steps<Int, Never>(20) { position in
      await withTaskGroup(of: Int.self) { group in
        for child in 0..<10 {
          group.addTask {
            switch child % 4 {
            case 0: await Task.yield()
            case 1: _ = await adder.add(1)
            case 2: return await source.element(at: position * 10 + child) ?? -1
            default: await ContextTests.outside()
            }
            return position * 10 + child
          }
        }
        return await group.reduce(0, +)
      }
    }.memoized()
    async let other = list.mapAsync { $0 }.array()
    #expect(await list.array() == (0..<20).map { $0 * 100 + 45 })
    #expect(await other == (0..<20).map { $0 * 100 + 45 })
  }

  @Test("a step that cancels its own task: its result counts")
  func cancelsItself() async throws {
    let list = Steps<Int, any Error>(5) { position in
      withUnsafeCurrentTask { $0?.cancel() }
      await Task.yield()
      return position
    }.memoized()
    #expect(try await list.head() == 0)
    // It may go on, or be over with a cancellation; it neither hangs nor gives a wrong element.
    do {
      #expect(try await list.array() == Array(0..<5))
    } catch {
      #expect(error is CancellationError)
    }
    #expect(list.evaluatedPrefix == Array(0..<list.evaluatedCount))
  }

  /// Its step cancels its own task, and has nothing to give after that.
  private static func stopsItself() -> LazyList<Int, Never> {
    LazyList(1...).filter { _ async in
      withUnsafeCurrentTask { $0?.cancel() }
      return false
    }
  }

  private enum Stopped: CancellableFailure { case cancelled }

  @Test("a step that cancels its own task traps where its list cannot throw that")
  func trapsItself() async {
    await #expect(throws: CancellationError.self) {
      try await Self.stopsItself().setFailureType().head()
    }
    await #expect(throws: Stopped.cancelled) {
      try await Self.stopsItself().setFailureType(to: Stopped.self).head()
    }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = await Self.stopsItself().head()
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("a LazyList that cannot fail has cancelled its own task"), "\(said)")
  }

  @Test("the only reference to a list is let go of by its own step", arguments: [false, true])
  func leavesItself(_ suspends: Bool) async {
    let instances = InstanceCounter()
    for _ in 0..<Self.rounds {
      let (holder, token) = (Holder(), instances.member())
      holder.list = Steps<Int, Never> { position in
        if suspends { await Task.yield() }
        if position == 3 { holder.list = .empty }
        return position + token.number
      }.memoized()
      // The reader's own hold goes with the element.
      var seen: [Int] = []
      for await element in holder.list.prefix(4) { seen.append(element) }
      #expect(seen == [0, 1, 2, 3])
    }
    await instances.waitUntilEmpty()
  }

  private final class Holder: Sendable {
    private let held = Locked(LazyList<Int, Never>.empty)
    var list: LazyList<Int, Never> {
      get { held.withLock { $0 } }
      set {
        // Released outside of the lock.
        _ = held.withLock { held in
          defer { held = newValue }
          return held
        }
      }
    }
  }

  /// Where the last reference is let go of.
  enum Release: CaseIterable, Sendable { case here, detached, queue, main }

  @Test(
    "the last reference is let go of on any thread, whatever the list does",
    arguments: Release.allCases, [0, 1, 2, 3])
  func released(_ release: Release, _ state: Int) async {
    let (instances, queue) = (InstanceCounter(), QueueScheduler())
    for _ in 0..<Self.rounds / 4 {
      let (holder, gate, token) = (Holder(), Gate(), instances.member())
      if state != 1 { gate.open() }
      holder.list = Steps<Int, Never> { position in
        // Parked after a step, suspended in one, being driven, or coming back from a suspension.
        if state == 1 || state == 3 { await gate.wait() }
        if state == 3 { await Task.yield() }
        return position + token.number
      }.memoized()
      let reader = Task { [list = holder.list] in
        for await element in list where element > (state == 0 ? 2 : 20) { return }
      }
      if state == 0 { await reader.value } else if state == 1 { await gate.waitForArrivals(1) }
      reader.cancel()
      switch release {
      case .here: holder.list = .empty
      case .detached: await Task.detached { holder.list = .empty }.value
      case .queue: queue.schedule { holder.list = .empty }
      case .main: await MainActor.run { holder.list = .empty }
      }
      if state == 1 { gate.open() }
    }
    await instances.waitUntilEmpty()
  }

  @Test("ten thousand lists with asynchronous steps, parked at once, are released")
  func parked() async {
    let instances = InstanceCounter()
    #if DEBUG
      let count = 2_000
    #else
      let count = 10_000
    #endif
    var lists = (0..<count).map { number in
      let token = instances.member(number)
      return Steps<Int, Never> { position in
        if position == 1 { await Task.yield() }
        return position + token.number
      }.memoized()
    }
    for (number, list) in lists.enumerated() {
      #expect(await list.prefix(2).array() == [number, number + 1])
    }
    #expect(instances.alive == count)
    lists = []
    await instances.waitUntilEmpty()
  }

  @Test("an asynchronous step asks for its own list's earlier elements")
  func earlier() async {
    for _ in 0..<Self.rounds / 20 {
      let holder = Holder()
      holder.list = Steps<Int, Never>(60) { position in
        guard position > 1 else { return 1 }
        async let last = holder.list.element(at: position - 1)
        let before = await holder.list.dropFirst(position - 2).head()
        return ((await last ?? -1) + (before ?? -1)) % 1000
      }.memoized()
      let list = holder.list
      async let other = list.count()
      var expected = [1, 1]
      for _ in 2..<60 { expected.append((expected.suffix(2).reduce(0, +)) % 1000) }
      #expect(await list.array() == expected)
      #expect(await other == 60)
      holder.list = .empty
    }
  }

  @Test("a reader that waits in a list whose definition has gone is told")
  func definitionGone() async {
    for _ in 0..<Self.rounds / 20 {
      let gate = Gate()
      let leaked = Locked(LazyList<Int, any Error>.empty)
      var outer: LazyList<Int, any Error>? = .recursive { list in
        leaked.withLock { $0 = list }
        return [1]
          + list.mapAsync { number in
            await gate.wait()
            return number + 1
          }
      }
      #expect(try! await outer?.head() == 1)
      let starter = Task { [outer] in try await outer?.element(at: 1) }
      await gate.waitForArrivals(1)
      let inner = leaked.withLock { list in
        defer { list = .empty }
        return list
      }
      let reader = Task { try await inner.element(at: 1) }
      await Task.yield()
      starter.cancel()
      _ = await starter.result
      outer = nil
      gate.open()
      switch await reader.result {
      case .success(let element): #expect(element == 2)
      case .failure(let error): #expect(error is CancellationError)
      }
    }
  }
}
