import Tailrace
import TailraceInspection
import TailraceStored
import TailraceTesting
import Testing

@Suite("Lists that are stored", .hangLimit, .inTurn)
struct StoredListTests {
  typealias Store = MemoryStore<Int, Int>
  typealias Stored = LazyList<Int, any Error>

  /// 1, 2, 3 … up to a number; each step is recorded.
  static func numbers(
    in store: some ListStore<Int, Int>, upTo last: Int = .max, _ steps: Probe<Int> = Probe(),
    atTail policy: TailPolicy = .compute
  ) -> Stored {
    LazyList(storedIn: store, state: 0, atTail: policy) { number in
      steps.record(number + 1)
      guard number < last else { return nil }
      number += 1
      return number
    }
  }

  // MARK: Demand

  @Test("making one, and looking at it, asks the store for nothing", arguments: TailPolicy.all)
  func making(_ policy: TailPolicy) {
    let (store, steps) = (Store(), Probe<Int>())
    let list = Self.numbers(in: store, steps, atTail: policy)
    _ = (list, list.tail, list.description, list.debugDescription, list.diagram(), list.prefix(0))
    let reading = LazyList(reading: store)
    _ = (reading, reading.dropFirst(7), reading.description)
    #expect(store.calls == 0)
    #expect(steps.count == 0)
  }

  @Test("stored elements are read without a lease")
  func readingTakesNoClaim() async throws {
    let store = Store()
    _ = try await Self.numbers(in: store).prefix(5).array()
    // The holder of the lease does not matter to readers.
    let (reader, steps) = (Self.numbers(in: store.other(), steps), Probe<Int>())
    #expect(try await reader.element(at: 4) == 5)
    #expect(steps.count == 0)
    await #expect(throws: ListStoreError.inUse) { try await reader.element(at: 5) }
    #expect(try await reader.prefix(5).array() == [1, 2, 3, 4, 5])
  }

  private let steps = Probe<Int>()

  @Test("one at a time, each is stored before it is given, with the state after it")
  func oneAtATime() async throws {
    let store = Store()
    var seen: [Int] = []
    for try await number in Self.numbers(in: store) {
      seen.append(number)
      #expect(store.elements == seen)
      #expect(store.state == number)
      if number == 5 { break }
    }
    #expect(store.commits == (1...5).map { ListCommit([$0], state: $0) })
  }

  @Test("a demand of all elements stores a segment's worth at once, and no more than is wanted")
  func atOnce() async throws {
    let (store, steps) = (Store(), Probe<Int>())
    #expect(try await Self.numbers(in: store, upTo: 1000, steps).array() == Array(1...1000))
    #expect(steps.values == Array(1...1001))
    // 8, 16, 32, 64, and then 128 at a time.
    #expect(
      store.commits.map(\.elements.count) == [8, 16, 32, 64, 128, 128, 128, 128, 128, 128, 112])
    #expect(store.commits.allSatisfy { $0.state == $0.elements.last || $0.elements.isEmpty })
    #expect(store.isEnded)
  }

  @Test("folds do, too, and prefix never does")
  func folds() async throws {
    let store = Store()
    #expect(try await Self.numbers(in: store, upTo: 100).reduce(0, +) == 5050)
    #expect(store.commits.count < 10)
    let (other, steps) = (Store(), Probe<Int>())
    #expect(try await Self.numbers(in: other, steps).prefix(3).array() == [1, 2, 3])
    #expect(steps.values == [1, 2, 3])
    #expect(other.commits.count == 3)
  }

  @Test("a step that suspends does not keep back what was computed before it")
  func suspending() async throws {
    let (store, gate) = (Store(), Gate())
    let list = Stored(storedIn: store, state: 0) { number async throws in
      if number == 3 { await gate.wait() }
      number += 1
      return number <= 5 ? number : nil
    }
    let everything = Task { try await list.array() }
    await gate.waitForArrivals(1)
    // The next step may wait for somebody who has read these.
    #expect(try await list.element(at: 2) == 3)
    #expect(store.elements == [1, 2, 3])
    gate.open()
    #expect(try await everything.value == [1, 2, 3, 4, 5])
    #expect(store.elements == [1, 2, 3, 4, 5])
  }

  @Test("a fold that is cancelled during a step wants no other one")
  func cancelledFold() async throws {
    let (store, gate, steps) = (Store(), Gate(), Probe<Int>())
    let list = Stored(storedIn: store, state: 0) { number async throws in
      steps.record(number + 1)
      await gate.wait()
      number += 1
      return number
    }
    let fold = Task { try await list.reduce(0, +) }
    await gate.waitForArrivals(1)
    fold.cancel()
    await #expect(throws: CancellationError.self) { try await fold.value }
    gate.open()
    #expect(try await list.head() == 1)
    #expect(steps.values == [1])
    #expect(store.elements == [1])
  }

  // MARK: Going on

  @Test("goes on after the last element, from its state", arguments: [1, 5, 8, 33, 300])
  func goingOn(_ count: Int) async throws {
    let store = Store()
    #expect(try await Self.numbers(in: store).prefix(count).count() == count)
    let steps = Probe<Int>()
    let list = Self.numbers(in: store, upTo: count + 3, steps)
    #expect(try await list.array() == Array(1...count + 3))
    #expect(steps.values == [count + 1, count + 2, count + 3, count + 4])
    #expect(store.isEnded)
  }

  @Test("the end is stored, and found without a step")
  func end() async throws {
    let store = Store()
    #expect(try await Self.numbers(in: store, upTo: 2).count() == 2)
    let steps = Probe<Int>()
    #expect(try await Self.numbers(in: store, upTo: 9, steps).array() == [1, 2])
    #expect(steps.count == 0)
    let empty = Store()
    #expect(try await Self.numbers(in: empty, upTo: 0).isEmpty())
    #expect(empty.isEnded)
    #expect(empty.commits == [ListCommit([], state: nil, isEnd: true)])
    #expect(try await Self.numbers(in: empty, steps).isEmpty())
    #expect(steps.count == 0)
  }

  @Test("begins at a position")
  func positions() async throws {
    let store = Store()
    _ = try await Self.numbers(in: store, upTo: 10).count()
    #expect(try await LazyList(reading: store, from: 7).array() == [8, 9, 10])
    #expect(try await LazyList(reading: store, from: 10).array() == [])
    let list = Stored(storedIn: store, from: 8, state: 0) { _ in nil }
    #expect(try await list.array() == [9, 10])
    store.trim(before: 6)
    await #expect(throws: ListStoreError.trimmed(first: 6)) {
      try await LazyList(reading: store, from: 5).head()
    }
    #expect(try await LazyList(reading: store, from: 6).head() == 7)
  }

  // MARK: Failure

  @Test(
    "a failure is not stored, and the next demand runs the step again", arguments: [true, false])
  func failing(_ suspends: Bool) async throws {
    let (store, attempts) = (Store(), Counter())
    @Sendable func step(_ number: inout Int) throws -> Int? {
      number += 1
      if number == 3, attempts.increment() < 3 { throw Mishap(position: 2) }
      return number
    }
    let list =
      suspends
      ? Stored(storedIn: store, state: 0) { number async throws in
        await Task.yield()
        return try step(&number)
      }
      : Stored(storedIn: store, state: 0) { number in try step(&number) }
    await #expect(throws: Mishap(position: 2)) { try await list.prefix(4).array() }
    #expect(store.elements == [1, 2])
    await #expect(throws: Mishap(position: 2)) { try await list.element(at: 2) }
    #expect(try await list.prefix(4).array() == [1, 2, 3, 4])
    #expect(attempts.value == 3)
  }

  @Test("a failure in the middle of what is stored at once comes after the elements before it")
  func failingAtOnce() async throws {
    let (store, attempts) = (Store(), Counter())
    let list = Stored(storedIn: store, state: 0) { number in
      number += 1
      if number == 4, attempts.increment() == 1 { throw Mishap(position: 3) }
      return number <= 6 ? number : nil
    }
    await #expect(throws: Mishap(position: 3)) { try await list.array() }
    #expect(store.elements == [1, 2, 3])
    #expect(list.evaluatedPrefix == [1, 2, 3])
    #expect(attempts.value == 1)
    #expect(try await list.array() == [1, 2, 3, 4, 5, 6])
  }

  @Test("where the store fails, the next demand stores the same element, and computes none")
  func storeFails() async throws {
    let (store, steps) = (Store(), Probe<Int>())
    store.failAppends(with: Mishap(position: 0), Mishap(position: 1))
    let list = Self.numbers(in: store, upTo: 20, steps)
    await #expect(throws: Mishap(position: 0)) { try await list.head() }
    await #expect(throws: Mishap(position: 1)) { try await list.head() }
    #expect(list.evaluatedCount == 0)
    #expect(try await list.head() == 1)
    #expect(steps.values == [1])
    // All that was gathered, and then the first of it alone.
    store.failAppends(with: Mishap(position: 1), Mishap(position: 1))
    await #expect(throws: Mishap(position: 1)) { try await list.array() }
    #expect(try await list.array() == Array(1...20))
    #expect(steps.values == Array(1...21))
  }

  // MARK: Two writers

  @Test("one computes, the other fails, or follows")
  func twoWriters() async throws {
    let store = Store()
    let first = Self.numbers(in: store, upTo: 50)
    let (second, third) = (
      Self.numbers(in: store.other(), upTo: 50, atTail: .compute),
      Self.numbers(in: store.other(), upTo: 50, steps, atTail: .computeOrFollow)
    )
    #expect(try await first.element(at: 9) == 10)
    await #expect(throws: ListStoreError.inUse) { try await second.count() }
    #expect(try await second.element(at: 9) == 10)
    async let followed = third.array()
    async let followedToo = LazyList(reading: store).array()
    #expect(try await first.count() == 50)
    #expect(try await followed == Array(1...50))
    #expect(try await followedToo == Array(1...50))
    #expect(steps.count == 0)
  }

  @Test("a follower takes over when the writer is gone", arguments: [true, false])
  func takingOver(_ isWaiting: Bool) async throws {
    let store = Store()
    let writer = store.other()
    _ = try await Self.numbers(in: writer).prefix(4).array()
    let (heir, steps) = (GatedStore(store.other(), Gate.opened()), Probe<Int>())
    let list = Stored(storedIn: heir, state: 0, atTail: .computeOrFollow) { number async throws in
      steps.record(number + 1)
      await Task.yield()
      guard number < 6 else { return nil }
      number += 1
      return number
    }
    #expect(try await list.element(at: 3) == 4)
    let rest = Task { try await list.array() }
    // It has been refused, and waits, or is about to.
    if isWaiting { await heir.waits.waitForCount(1) }
    writer.release()
    #expect(try await rest.value == [1, 2, 3, 4, 5, 6])
    #expect(steps.values == [5, 6, 7])
  }

  @Test("where all may write, the loser of a race takes the winner's element", arguments: 0..<20)
  func racing(_ seed: Int) async throws {
    let (store, steps) = (MemoryStore<String, Int>(isShared: true), Counter())
    let arrays = try await withThrowingTaskGroup(of: [String].self) { group in
      for writer in 0..<3 {
        group.addTask {
          let list = LazyList<String, any Error>(storedIn: store.other(), state: 0) {
            number async throws in
            if number == 60 { return nil }
            steps.increment()
            await Task.yield()
            number += 1
            return "element \(number) of \(writer)"
          }
          if (writer + seed) % 2 == 0 { return try await list.array() }
          return try await list.reduce(into: []) { $0.append($1) }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(arrays.allSatisfy { $0 == store.elements })
    #expect(store.elements.count == 60)
    for (index, element) in store.elements.enumerated() {
      #expect(element.hasPrefix("element \(index + 1) of "))
    }
    #expect(store.state == 60)
    #expect(steps.value >= 60)
  }

  // MARK: Cancellation and release

  @Test("a cancelled reader leaves the append whole, and the element is there")
  func cancelledAppend() async throws {
    let gate = Gate()
    let store = GatedStore(Store(), gate)
    let list = Stored(storedIn: store, state: 0) { number in
      number += 1
      return number
    }
    let reader = Task { try await list.head() }
    await gate.waitForArrivals(1)
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    gate.open()
    #expect(try await list.head() == 1)
    #expect(store.store.elements == [1])
  }

  @Test("everything is let go of at the end, and when nobody can read on")
  func release() async throws {
    let instances = InstanceCounter()
    func list(upTo last: Int) -> LazyList<Int, any Error> {
      let (store, token) = (Store(), instances.member())
      return LazyList(storedIn: store, state: 0) { number in
        number += 1
        return number <= last + token.number ? number : nil
      }
    }
    let ended = list(upTo: 9)
    #expect(try await ended.count() == 9)
    await instances.waitUntilEmpty()
    do {
      let open = list(upTo: 1000)
      #expect(try await open.element(at: 20) == 21)
      #expect(instances.alive == 1)
    }
    await instances.waitUntilEmpty()
    _ = ended
  }

  @Test("a list that waits is let go of when its last reader leaves")
  func waitingList() async throws {
    let (instances, store) = (InstanceCounter(), Store([1]))
    do {
      let source = WatchedSource(store, instances.member(), Gate())
      let list = LazyList(reading: source)
      let reader = Task { try await list.count() }
      await source.gate.waitForArrivals(1)
      reader.cancel()
      await #expect(throws: CancellationError.self) { try await reader.value }
    }
    await instances.waitUntilEmpty()
  }

  @Test("an iteration over a long stored list holds one page of it")
  func space() async throws {
    let instances = InstanceCounter()
    let store = MemberStore(instances, 5000)
    var seen = 0
    for try await member in LazyList(reading: store) {
      seen += 1
      #expect(member.number == seen - 1)
    }
    #expect(seen == 5000)
    #expect(instances.greatest <= 2 * 1024 + 1)
    await instances.waitUntilEmpty()
  }

  // MARK: Rebuilding

  @Test(
    "a state that is folded from the elements is the same, live and rebuilt",
    arguments: [SnapshotPolicy.never, .every(1), .every(7), .growing], [true, false])
  func rebuilding(_ snapshots: SnapshotPolicy, _ suspends: Bool) async throws {
    let (store, steps) = (MemoryStore<Int, [Int]>(), Probe<Int>())
    @Sendable func step(_ state: [Int]) -> Int? {
      steps.record(state.count)
      return state.count < 2500 ? state.count * 3 : nil
    }
    func list() -> Stored {
      suspends
        ? Stored(
          storedIn: store, state: [], snapshots: snapshots, rebuilding: { $0.append($1) },
          next: { state async throws in step(state) })
        : Stored(
          storedIn: store, state: [], snapshots: snapshots, rebuilding: { $0.append($1) },
          next: { step($0) })
    }
    #expect(try await list().element(at: 9) == 27)
    #expect(try await list().element(at: 1999) == 5997)
    #expect(try await list().array() == (0..<2500).map { $0 * 3 })
    #expect(steps.values == Array(0...2500))
    // A state that is stored is the one after the elements that it is stored with.
    var count = 0
    for commit in store.commits {
      count += commit.elements.count
      if let state = commit.state { #expect(state == (0..<count).map { $0 * 3 }) }
    }
    let stored = store.commits.count { $0.state != nil }
    switch snapshots {
    case .never: #expect(stored == 0)
    case .every(let interval): #expect(stored == 2500 / interval)
    case .growing: #expect(stored == 2)
    }
  }

  // MARK: A list as a source

  @Test("a list as a source: reading demands nothing, waiting demands one element")
  func source() async throws {
    let pulls = Probe<Int>()
    let list = LazyList(1...5).map { pulls.pass($0) }
    let source = list.source
    #expect(try await source.read(from: 0, upTo: 10) == ListPage([]))
    try await source.waitForMore(than: 2)
    #expect(pulls.values == [1, 2, 3])
    #expect(try await source.read(from: 0, upTo: 10) == ListPage([1, 2, 3]))
    #expect(try await source.read(from: 1, upTo: 1) == ListPage([2]))
    #expect(try await source.read(from: 9, upTo: 1) == ListPage([]))
    #expect(await list.count() == 5)
    #expect(try await source.read(from: 1, upTo: 4) == ListPage([2, 3, 4, 5], isEnd: true))
    #expect(try await source.read(from: 1, upTo: 3) == ListPage([2, 3, 4]))
    #expect(try await source.read(from: 5, upTo: 3) == ListPage([], isEnd: true))
    #expect(try await LazyList(reading: source, from: 2).array() == [3, 4, 5])
  }

  @Test("a failure of a list is one of its source, where no element is before it")
  func failingSource() async throws {
    let list = LazyList<Int, Mishap>.failing(Mishap(position: 2)).prepending(2).prepending(1)
    let reader = LazyList(reading: list.source)
    #expect(try await reader.prefix(2).array() == [1, 2])
    await #expect(throws: Mishap(position: 2)) { try await reader.count() }
  }

  @Test("a waiting source is left when its task is cancelled")
  func cancelledSource() async throws {
    let gate = Gate()
    let source = CancellationTests.gated(gate).source
    let waiter = Task { try await source.waitForMore(than: 3) }
    await gate.waitForArrivals(1)
    waiter.cancel()
    try? await waiter.value
    gate.open()
  }
}

/// A store that waits at a gate before each append, and tells when somebody waits for more.
private struct GatedStore<Base: ListStore>: ListStore {
  let store: Base
  let gate: Gate
  let waits = Probe<Int>()

  init(_ store: Base, _ gate: Gate) { (self.store, self.gate) = (store, gate) }

  func read(from position: Int, upTo count: Int) async throws -> ListPage<Base.Element> {
    try await store.read(from: position, upTo: count)
  }
  func waitForMore(than position: Int) async throws {
    waits.record(position)
    try await store.waitForMore(than: position)
  }
  func extent() async throws -> ListExtent { try await store.extent() }
  func acquireLease() async throws -> ListCheckpoint<Base.State>? { try await store.acquireLease() }
  func append(_ commit: ListCommit<Base.Element, Base.State>, at position: Int) async throws {
    await gate.wait()
    try await store.append(commit, at: position)
  }
}

/// A source that tells when somebody waits, and that is counted.
private final class WatchedSource: ListSource {
  let gate: Gate
  private let (store, member): (MemoryStore<Int, Int>, InstanceCounter.Member)

  init(_ store: MemoryStore<Int, Int>, _ member: InstanceCounter.Member, _ gate: Gate) {
    (self.store, self.member) = (store, member)
    self.gate = gate
    gate.open()
  }

  func read(from position: Int, upTo count: Int) async throws -> ListPage<Int> {
    try await store.read(from: position, upTo: count)
  }
  func waitForMore(than position: Int) async throws {
    await gate.wait()
    try await store.waitForMore(than: position)
  }
  func extent() async throws -> ListExtent { try await store.extent() }
}

/// A source that makes its elements when they are read.
private struct MemberStore: ListSource {
  let (instances, count): (InstanceCounter, Int)

  init(_ instances: InstanceCounter, _ count: Int) {
    (self.instances, self.count) = (instances, count)
  }

  func read(from position: Int, upTo count: Int) async throws -> ListPage<InstanceCounter.Member> {
    let range = position..<min(self.count, position + count)
    return ListPage(range.map { instances.member($0) }, isEnd: range.upperBound == self.count)
  }
  func waitForMore(than position: Int) async throws {}
  func extent() async throws -> ListExtent {
    ListExtent(identity: nil, count: count, isEnded: true)
  }
}

extension Gate {
  fileprivate static func opened() -> Gate {
    let gate = Gate()
    gate.open()
    return gate
  }
}
