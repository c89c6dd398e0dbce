import TailraceLists
import TailraceSupport

/// Computes the values of many keys with one call of a closure.
///
/// Each batch is a list of one element: the results of its keys, computed in a task of the batch. The
/// cell of each key is a plain stage over that list, so a key has no task of its own, and whoever waits
/// for whom is known as elsewhere: a batch that needs one of the keys that wait for it is an error.
@usableFromInline
final class Batcher<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Compute =
    @Sendable (_ keys: [Key]) async throws -> [Key: Result<Value, any Error>]
  @usableFromInline typealias Store = MemoStore<Key, Value, any Error>
  @usableFromInline typealias Load = Store.Table.Load
  /// In the order in which the keys joined.
  @usableFromInline typealias Results = [Step<Value>]

  /// A key in a batch. The same key may be there twice, if it was forgotten in between.
  @usableFromInline
  struct Passenger: Sendable {
    @usableFromInline let key: Key
    @usableFromInline let load: Load

    @_alwaysEmitIntoClient
    init(_ key: Key, _ load: Load) { (self.key, self.load) = (key, load) }
  }

  @usableFromInline
  final class Batch: Sendable {
    @usableFromInline let results: Segment<Results>

    /// What is told that nobody waits for its keys any more.
    @usableFromInline let watchers = Locked<[AsyncStream<Never>.Continuation]>([])

    @_alwaysEmitIntoClient
    init(_ results: Segment<Results>) { self.results = results }

    deinit { for watcher in watchers.withLock({ $0 }) { watcher.finish() } }

    /// Ends when nobody waits for its keys any more.
    @_alwaysEmitIntoClient
    func end() -> AsyncStream<Never> {
      let (stream, watcher) = AsyncStream.makeStream(of: Never.self)
      watchers.withLock { $0.append(watcher) }
      return stream
    }

    @_alwaysEmitIntoClient
    static func cursor(_ results: Segment<Results>, isInTask: Bool = false) -> Cursor<Results> {
      Cursor(
        LazyList<Results, Never>(segment: results, offset: 0), takesOver: false, isInTask: isInTask)
    }
  }

  /// A key's place in a batch. While there is one, the batch is known to be out.
  @usableFromInline
  struct Seat {
    @usableFromInline let batch: Batch
    @usableFromInline let number: Int
    @usableFromInline var results: Cursor<Results>

    @_alwaysEmitIntoClient
    init(_ batch: Batch, _ number: Int) {
      (self.batch, self.number) = (batch, number)
      results = Batch.cursor(batch.results)
    }

    /// The result of the key, or why it is not there yet. A batch has no failure: its keys have.
    @_alwaysEmitIntoClient
    mutating func step(_ demand: Demand) -> Step<Value> {
      results.demand = demand.forOne
      guard let results = results.next() else { return .nothing(results.takeAbsence()) }
      return results[number]
    }
  }

  /// A batch, known to its own closure, which must not retain it.
  // Guard: the runtime's, for a weak reference; it is set once, before it is shared.
  // May touch it: the maker, then the closure.
  @usableFromInline
  final class Reference: @unchecked Sendable {
    @usableFromInline weak var batch: Batch?

    @_alwaysEmitIntoClient
    init() {}
  }

  @usableFromInline let queue: Locked<BatchQueue<Passenger, Batch>>
  @usableFromInline let report: (@Sendable (Int) -> Void)?
  @usableFromInline let compute: Compute

  /// Sleeps for as long as keys gather at most.
  @usableFromInline let patience: @Sendable () async -> Void

  @_alwaysEmitIntoClient
  init(
    limit: Int, most: Int, clock: some Clock<Duration>, report: (@Sendable (Int) -> Void)?,
    _ compute: @escaping Compute
  ) {
    queue = Locked(BatchQueue(limit: limit, most: most))
    patience = { try? await clock.sleep(for: .milliseconds(500)) }
    (self.report, self.compute) = (report, compute)
  }

  /// How often the closure was called.
  @_alwaysEmitIntoClient var calls: Int { queue.withLock { $0.calls } }

  // MARK: Keys

  /// Computes a key: it joins a batch at once, and reads its results at the first demand. So keys that are
  /// asked for together travel together.
  @_alwaysEmitIntoClient
  func producer(of key: Key, _ load: Load, _ store: Store.Reference) -> Producer<Value> {
    let seat = Owned(join(Passenger(key, load), store))
    return Producer(stage: "Memos", stepping: { demand in seat.state.step(demand) })
  }

  @_alwaysEmitIntoClient
  func join(_ passenger: Passenger, _ store: Store.Reference) -> Seat {
    let (batch, number) = queue.withLock { queue in
      queue.join(passenger) { makeBatch(after: $0, $1, store) }
    }
    return Seat(batch, number)
  }

  // MARK: Batches

  @usableFromInline typealias Former = BatchQueue<Passenger, Batch>.Former

  /// A batch that leaves when the one before it is back, and there is room for it.
  @_alwaysEmitIntoClient
  func makeBatch(after former: Former, _ room: Former, _ store: Store.Reference) -> Batch {
    let reference = Reference()
    let steps = AsyncSteps<Results>(stage: "Memos") { [self] steps in
      await steps.take { .last(await travel(reference, after: former, room, store)) }
    }
    let evaluator = Evaluator(steps)
    evaluator.name(ListName("a batch of Memos"))
    let batch = Batch(Segment(owner: evaluator, capacity: 1))
    reference.batch = batch
    return batch
  }

  @_alwaysEmitIntoClient
  nonisolated(nonsending) func travel(
    _ reference: Reference, after former: Former, _ room: Former, _ store: Store.Reference
  ) async -> Results {
    await wait(for: former, patience)
    await wait(for: room, nil)
    let (passengers, number) = depart(reference)
    let forgettings = store.store?.forgettings
    let values = await values(of: passengers)
    queue.withLock { $0.comeBack(number) }
    if case .success(let all) = values, all.count > passengers.count {
      let keys = Set(passengers.map(\.key))
      for case (let key, .success(let value)) in all where !keys.contains(key) {
        store.store?.keep(value, for: key, ifNothingForgottenSince: forgettings)
      }
    }
    return passengers.map { passenger in
      let key = passenger.key
      return store.finish(
        key, passenger.load,
        values.flatMap { values in values[key] ?? .failure(MissingValueError(key)) })
    }
  }

  /// Waits until a batch is back, or nobody waits for it any more, or it waits for this one, or for so long.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func wait(
    for former: Former, _ patience: (@Sendable () async -> Void)?
  ) async {
    // The batch is retained only by those who wait for its keys; its results are released before this one
    // leaves.
    guard let (results, end) = former.batch.map({ ($0.results, $0.end()) }) else { return }
    var cursor = Batch.cursor(results, isInTask: true)
    if cursor.next() != nil { return }
    yieldToCycles(true)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        var cursor = Batch.cursor(results, isInTask: true)
        _ = await cursor.nextInStep()
      }
      group.addTask { for await _ in end {} }
      if let patience { group.addTask { await patience() } }
      await group.next()
      group.cancelAll()
    }
    yieldToCycles(false)
  }

  /// A batch leaves. From here on only those retain it who wait for it.
  @_alwaysEmitIntoClient
  func depart(_ reference: Reference) -> (passengers: [Passenger], number: Int) {
    // It has gathered keys until here, so the queue retains it.
    guard let batch = reference.batch, let departure = queue.withLock({ $0.leave(batch) }) else {
      preconditionFailure("a batch left twice")
    }
    return departure
  }

  @_alwaysEmitIntoClient
  nonisolated(nonsending) func values(
    of passengers: [Passenger]
  ) async -> Result<[Key: Result<Value, any Error>], any Error> {
    // Nobody waits for them any more.
    if Task.isCancelled { return .failure(CancellationError()) }
    var (known, keys): (Set<Key>, [Key]) = ([], [])
    for passenger in passengers where known.insert(passenger.key).inserted {
      keys.append(passenger.key)
    }
    queue.withLock { $0.calls += 1 }
    report?(keys.count)
    do { return .success(try await compute(keys)) } catch { return .failure(error) }
  }
}

/// A batch of keys came back without the value of one of them.
///
/// ```swift
/// let users = Memos(batchSize: 100) { (ids: [Int]) in
///   Dictionary(uniqueKeysWithValues: ids.filter { $0 < 3 }.map { ($0, "user \($0)") })
/// }
/// try await users.value(for: 7)
/// // throws: the batch came back without a value for the key 7
/// ```
public struct MissingValueError: Error, CustomStringConvertible {
  /// The key.
  public let key: any Sendable

  @usableFromInline
  init(_ key: any Sendable) { self.key = key }

  public var description: String {
    "the batch came back without a value for the key \(String(reflecting: key))"
  }
}
