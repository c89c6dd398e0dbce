import TailraceLists
import TailraceSupport

/// Computes the values of many keys with one call of a closure.
///
/// Each batch is a list of one element: the results of its keys, computed in a task of the batch. The
/// cell of each key is a plain stage over that list, so a key has no task of its own, and whoever waits
/// for whom is known as elsewhere: a batch that needs one of the keys that wait for it is an error.
@usableFromInline
final class Batcher<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Compute = @Sendable (_ keys: [Key]) async throws -> [Key: Value]
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

    @_alwaysEmitIntoClient
    init(_ results: Segment<Results>) { self.results = results }

    @_alwaysEmitIntoClient
    func cursor(isInTask: Bool = false) -> Cursor<Results> {
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
      results = batch.cursor()
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

  @_alwaysEmitIntoClient
  init(limit: Int, report: (@Sendable (Int) -> Void)?, _ compute: @escaping Compute) {
    queue = Locked(BatchQueue(limit: limit))
    (self.report, self.compute) = (report, compute)
  }

  /// How often the closure was called.
  @_alwaysEmitIntoClient var calls: Int { queue.withLock { $0.calls } }

  // MARK: Keys

  /// Computes a key: it joins a batch at the first demand, and then reads its results.
  @_alwaysEmitIntoClient
  func producer(of key: Key, _ load: Load, _ store: Store.Reference) -> Producer<Value> {
    let seat = Owned<Seat?>(nil)
    return Producer(
      stage: "Memos",
      stepping: { [self] demand in
        if seat.state == nil { seat.state = join(Passenger(key, load), store) }
        return seat.state!.step(demand)
      })
  }

  @_alwaysEmitIntoClient
  func join(_ passenger: Passenger, _ store: Store.Reference) -> Seat {
    let (batch, number) = queue.withLock { queue in
      queue.join(passenger) { makeBatch(after: $0, store) }
    }
    return Seat(batch, number)
  }

  // MARK: Batches

  /// A batch that leaves when the one before it is back.
  @_alwaysEmitIntoClient
  func makeBatch(after last: Batch?, _ store: Store.Reference) -> Batch {
    let reference = Reference()
    let former = Owned(last)
    let steps = AsyncSteps<Results>(stage: "Memos") { [self] steps in
      await steps.take { .last(await travel(reference, after: former, store)) }
    }
    let evaluator = Evaluator(steps)
    evaluator.name(ListName("a batch of Memos"))
    let batch = Batch(Segment(owner: evaluator, capacity: 1))
    reference.batch = batch
    return batch
  }

  @_alwaysEmitIntoClient
  nonisolated(nonsending) func travel(
    _ reference: Reference, after former: Owned<Batch?>, _ store: Store.Reference
  ) async -> Results {
    // Its results are released before this batch leaves.
    if let last = former.state.take() {
      var others = last.cursor(isInTask: true)
      _ = await others.nextInStep()
      withExtendedLifetime(last) {}
    }
    let (passengers, number) = depart(reference)
    let values = await values(of: passengers)
    queue.withLock { $0.comeBack(number) }
    return passengers.map { passenger in
      let key = passenger.key
      return store.finish(
        key, passenger.load,
        values.flatMap { values in
          values[key].map { .success($0) } ?? .failure(MissingValueError(key))
        })
    }
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
  ) async -> Result<[Key: Value], any Error> {
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
/// try await users.value(for: 7)   // throws: the batch came back without a value for the key 7
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
