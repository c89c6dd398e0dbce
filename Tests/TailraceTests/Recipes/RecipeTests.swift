import Tailrace
import TailraceTesting
import Testing

/// Code that the articles show and the library leaves to its users.
@Suite("Recipes", .inTurn)
struct RecipeTests {
  struct Offline: Error {}

  // MARK: Backing off

  /// Pages 1, 2 … up to 3; the second one fails so many times. Each try says when it is.
  private func pages(
    _ scheduler: VirtualScheduler, failures: Int, _ tries: Probe<Duration>
  ) -> LazyList<Int, any Error> {
    let jitters = Counter()
    return LazyList(state: 1, retryingFailures: true) { number async throws -> Int? in
      guard number <= 3 else { return nil }
      let page = try await retrying(
        on: scheduler.clock, jitter: { jitters.increment() % 2 == 1 ? 1 : 0.5 }
      ) { [number] in
        tries.record(scheduler.now.offset)
        if number == 2, tries.count <= 1 + failures { throw Offline() }
        return number
      }
      number += 1
      return page
    }
  }

  @Test("a step that backs off: twice as long each time, less at random")
  func backingOff() {
    let (scheduler, tries, answer) = (VirtualScheduler(), Probe<Duration>(), Probe<[Int]>())
    let list = pages(scheduler, failures: 3, tries)
    scheduler.schedule { answer.record((try? await list.array()) ?? []) }
    scheduler.advance(by: .milliseconds(599))
    #expect(answer.count == 0)
    scheduler.advance(by: .milliseconds(1))
    #expect(answer.values == [[1, 2, 3]])
    // 100 whole, 200 halved, 400 whole.
    let expected: [Duration] = [0, 0, 100, 200, 600, 600].map { .milliseconds($0) }
    #expect(tries.values == expected)
  }

  @Test("a step that has given up is tried again at the next demand, and no page before it")
  func givingUp() {
    let (scheduler, tries, answer) = (VirtualScheduler(), Probe<Duration>(), Probe<[Int]?>())
    let list = pages(scheduler, failures: 7, tries)
    for _ in 0..<2 {
      scheduler.schedule { answer.record(try? await list.array()) }
      scheduler.advance(by: .seconds(60))
    }
    #expect(answer.values == [nil, [1, 2, 3]])
    #expect(tries.count == 1 + 5 + 3 + 1)
  }

  @Test("a step that backs off is cancelled when nobody is left")
  func leaving() {
    let (scheduler, tries, answer) = (VirtualScheduler(), Probe<Duration>(), Probe<Bool>())
    var list: LazyList? = pages(scheduler, failures: 1_000, tries)
    let reader = scheduler.schedule { [list] () async in
      answer.record(((try? await list?.element(at: 1)) ?? nil) == nil)
    }
    scheduler.advance(by: .milliseconds(150))
    #expect(tries.count == 3)
    list = nil
    reader.cancel()
    scheduler.run()
    #expect(answer.values == [true])
    #expect(tries.count == 3)
  }

  @Test("a step that backs off under a deadline, in tasks that do not run on the scheduler")
  func backingOffWithinDeadline() async throws {
    for _ in 0..<50 {
      let (scheduler, tries) = (VirtualScheduler(), Counter())
      let list = LazyList(state: 1) { number async throws -> Int? in
        let page = try await withTimeout(.seconds(60), on: scheduler.clock) { [number] in
          try await retrying(on: scheduler.clock, jitter: { 1 }) {
            if tries.increment() < 3 { throw Offline() }
            return number
          }
        }
        number += 1
        return page
      }
      let reader = Task { try await list.head() }
      // The deadline may sleep before the first attempt has failed.
      for delay in [100, 300] {
        let due = VirtualScheduler.Instant.start + .milliseconds(delay)
        await scheduler.waitForSleeper(due: due)
        scheduler.advance(to: due)
      }
      #expect(try await reader.value == 1)
      #expect(tries.value == 3)
    }
  }

  @Test("a deadline on virtual time")
  func deadline() {
    let (scheduler, answer) = (VirtualScheduler(), Probe<Int?>())
    let numbers = LazyList(state: 0) { number async -> Int? in
      try? await scheduler.clock.sleep(for: .seconds(1))
      number += 1
      return number
    }
    for limit in [3, 10] {
      scheduler.schedule { () async in
        let found = try? await withTimeout(.seconds(limit), on: scheduler.clock) {
          try await numbers.throwingCancellation.first { $0 == 5 }
        }
        answer.record(found ?? nil)
      }
      scheduler.advance(by: .seconds(limit) + .milliseconds(500))
    }
    #expect(answer.values == [nil, 5])
  }

  // MARK: One limit for all

  /// At most so many requests at a time, of all lists and memos.
  struct RequestLimit: Sendable {
    private let free: SharedIterator<Int, Never>
    private let permits: AsyncStream<Int>.Continuation

    init(_ count: Int) {
      let (stream, permits) = AsyncStream.makeStream(of: Int.self)
      for permit in 1...count { permits.yield(permit) }
      free = stream.memoized().makeSharedIterator()
      self.permits = permits
    }

    func run<Value: Sendable>(
      _ request: @Sendable () async throws -> Value
    ) async throws -> Value {
      guard let permit = await free.next() else { throw CancellationError() }
      defer { permits.yield(permit) }
      return try await request()
    }
  }

  @Test("one limit for a list and memos: two at a time, and a caller that leaves takes no permit")
  func limit() {
    let (scheduler, starts, answers) = (VirtualScheduler(), Probe<Duration>(), Probe<[Int]>())
    let limit = RequestLimit(2)
    let request: @Sendable (Int) async throws -> Int = { number in
      try await limit.run {
        starts.record(scheduler.now.offset)
        try await scheduler.clock.sleep(for: .seconds(1))
        return number
      }
    }
    let list = LazyList(0..<4).concurrentMap(limit: 4) { try await request($0) }
    let memos = Memos { (number: Int) in try await request(number) }
    scheduler.schedule { () async in answers.record((try? await list.array()) ?? []) }
    scheduler.advance(by: .milliseconds(200))
    scheduler.schedule { () async in answers.record((try? await [memos.value(for: 4)]) ?? []) }
    let leaver = scheduler.schedule { () async in _ = try? await request(5) }
    scheduler.schedule { () async in answers.record((try? await [memos.value(for: 6)]) ?? []) }
    scheduler.advance(by: .milliseconds(200))
    #expect(starts.count == 2)
    leaver.cancel()
    scheduler.run()
    #expect(starts.values == [0, 0, 1, 1, 2, 2].map { .seconds($0) })
    #expect(Set(answers.values) == [[0, 1, 2, 3], [4], [6]])
  }

  // MARK: Several at a time, and stored

  actor Squares {
    private var next = 0
    private var ahead: SharedIterator<Int, any Error>?
    private let attempts = Counter()

    func square(at position: Int) async throws -> Int? {
      if position != next { ahead = nil }
      let squares =
        ahead
        ?? LazyList(1...6).dropFirst(position)
        .concurrentMap(limit: 4) { [attempts] number async throws in
          await Task.yield()
          if number == 5, attempts.increment() == 1 { throw Offline() }
          return number * number
        }
        .makeSharedIterator()
      ahead = nil
      let square = try await squares.next()
      (ahead, next) = (squares, position + 1)
      return square
    }
  }

  private func squares(
    in store: MemoryStore<Int, Int>, _ computed: Squares = Squares()
  ) -> LazyList<Int, any Error> {
    LazyList(storedIn: store, state: 0, atTail: .computeOrFollow) {
      position async throws -> Int? in
      let square = try await computed.square(at: position)
      position += 1
      return square
    }
  }

  @Test("several at a time, and stored: a writer that others were before, and one that fails")
  func severalAndStored() async throws {
    let first = MemoryStore<Int, Int>()
    let (second, third) = (first.other(), first.other())
    var (writer, heir): (LazyList?, LazyList) = (squares(in: first), squares(in: second))
    #expect(try await writer?.prefix(2).array() == [1, 4])
    // While the other has the lease.
    #expect(try await heir.prefix(2).array() == [1, 4])
    #expect(try await writer?.prefix(3).array() == [1, 4, 9])
    writer = nil
    first.release()
    #expect(try await heir.prefix(4).array() == [1, 4, 9, 16])
    await #expect(throws: Offline.self) { try await heir.array() }
    #expect(try await heir.array() == [1, 4, 9, 16, 25, 36])
    #expect(try await third.read(from: 0, upTo: 10).elements == [1, 4, 9, 16, 25, 36])
  }

  @Test("several at a time, and stored: a writer that goes on behind what another has stored")
  func severalAndStoredInTurns() async throws {
    let (one, other) = (Squares(), Squares())
    let store = MemoryStore<Int, Int>()
    for (computed, length) in [(one, 2), (other, 3), (one, 4)] {
      let turn = store.other()
      #expect(try await squares(in: turn, computed).prefix(length).count() == length)
      turn.release()
    }
    #expect(try await store.read(from: 0, upTo: 10).elements == [1, 4, 9, 16])
  }

  // MARK: Loading more

  @MainActor
  final class OrdersModel {
    private(set) var orders: [String] = []
    private(set) var failure: (any Error)?
    private(set) var isAtEnd = false
    private var rest: LazyList<[String], any Error>
    private var loading: Task<Void, Never>?

    init(pages: LazyList<[String], any Error>) { rest = pages }

    @discardableResult
    func loadMore() -> Task<Void, Never> {
      if let loading { return loading }
      let task = Task {
        defer { loading = nil }
        do {
          failure = nil
          guard let (page, rest) = try await rest.uncons() else {
            isAtEnd = true
            return
          }
          orders += page
          self.rest = rest
        } catch {
          failure = error
        }
      }
      loading = task
      return task
    }
  }

  @Test("a view model that loads more, and tries again")
  @MainActor
  func loadingMore() async {
    let loads = Probe<Int>()
    let pages = LazyList(state: 1, retryingFailures: true) { number async throws -> [String]? in
      loads.record(number)
      if number == 2, loads.count == 2 { throw Offline() }
      guard number <= 2 else { return nil }
      defer { number += 1 }
      return ["\(number)a", "\(number)b"]
    }
    let (model, other) = (OrdersModel(pages: pages), OrdersModel(pages: pages))
    #expect(loads.count == 0)
    let (first, again) = (model.loadMore(), model.loadMore())
    await first.value
    await again.value
    #expect(model.orders == ["1a", "1b"])
    await model.loadMore().value
    #expect(model.failure is Offline)
    #expect(model.orders == ["1a", "1b"])
    await model.loadMore().value
    #expect(model.failure == nil)
    #expect(model.orders == ["1a", "1b", "2a", "2b"])
    await model.loadMore().value
    #expect(model.isAtEnd)
    for _ in 0..<2 { await other.loadMore().value }
    #expect(other.orders == model.orders)
    #expect(loads.values == [1, 2, 2, 3])
  }
}
