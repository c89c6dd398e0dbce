/// The shell around a table: a lock, a clock, and the closures, which run outside of the lock.
///
/// A cell of its own computes each key: a list of one element, under the laws of lists. The table
/// holds the cell during the computation, and then the value. The cell's closure holds only a weak
/// reference to the store. So a computation goes on without waiting tasks, and is cancelled when
/// the store is released and nothing can read it.
@usableFromInline
final class MemoStore<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Table = MemoTable<Key, Value, Failure>
  @usableFromInline typealias Cell = Segment<Value>

  /// How a value is computed: with or without the memos themselves.
  @usableFromInline
  enum Computation: Sendable {
    case plain(@Sendable (Key) throws(Failure) -> Value)
    case inTask(@Sendable (Key) async throws(Failure) -> Value)
    case recursive(@Sendable (Memos<Key, Value, Failure>, Key) throws(Failure) -> Value)
    case recursiveInTask(@Sendable (Memos<Key, Value, Failure>, Key) async throws(Failure) -> Value)
  }

  @usableFromInline let table: Locked<Table>
  @usableFromInline let computation: Computation
  @usableFromInline let cost: (@Sendable (Value) -> Int)?
  @usableFromInline let retriesFailures: Bool
  /// The time since the store was made; `nil` if nothing expires.
  @usableFromInline let clock: (@Sendable () -> Duration)?
  @usableFromInline let reference = Reference()

  // Guard: the runtime's, for a weak reference; it is set once, before it is shared.
  // May touch it: the maker, then the cells' closures.
  @usableFromInline
  final class Reference: @unchecked Sendable {
    @usableFromInline weak var store: MemoStore?

    @inlinable
    init() {}

    /// The step of a cell that has computed a result. The table gets it, too, if the memos are
    /// still there.
    @inlinable
    func finish(_ load: Table.Load, _ result: Result<Value, Failure>) -> Step<Value> {
      store?.finish(load, result)
      switch result {
      case .success(let value): return .last(value)
      case .failure(let failure): return .nothing(.failed(failure))
      }
    }
  }

  @inlinable
  init(
    _ capacity: Memos<Key, Value, Failure>.Capacity, _ ages: Ages, retriesFailures: Bool,
    clock: any Clock<Duration>, _ computation: Computation
  ) {
    table = Locked(Table(limit: capacity.limit, ages))
    cost = capacity.cost
    self.retriesFailures = retriesFailures
    self.clock = ages.areKept ? timeFromNow(on: clock) : nil
    self.computation = computation
    reference.store = self
  }

  @inlinable var now: Int64 {
    guard let clock else { return 0 }
    return Ages.nanoseconds(clock())
  }

  // MARK: Demands

  @inlinable @inline(__always)
  func hit(_ key: Key) -> Value? {
    let now = now
    return table.withLock { $0.hit(key, at: now) }
  }

  /// Finds the value, computes it, or waits for it.
  @inlinable @inline(never)
  nonisolated(nonsending) func demand(_ key: Key) async throws(Failure) -> Value {
    let now = now
    if Task.isCancelled, let cancellation = Failure.cancellation {
      // A reader that stops starts nothing.
      switch table.withLock({ $0.peek(key, at: now) }) {
      case .value(let value): return value
      case .renewing(let renewal): return renewal.old
      case .failure(let failure): throw failure
      case .none, .computing: throw cancellation
      }
    }
    let awaited: Cell
    switch table.withLock({ $0.demand(key, at: now) { makeCell(key, $0) } }) {
    case .value(let value): return value
    case .failure(let failure): throw failure
    // The former content is released before the wait.
    case .pending(let cell, former: _): awaited = cell
    case .due(let old, let cell): return run(cell) ?? old
    }
    return try await value(of: awaited, for: key)
  }

  @inlinable
  nonisolated(nonsending) func value(of cell: Cell, for key: Key) async throws(Failure) -> Value {
    var cursor = Cursor(
      LazyList<Value, Failure>(segment: cell, offset: 0), takesOver: false, runsTasks: true)
    // The demanding task was not cancelled: it starts the computation.
    if let value = cursor.next() { return value }
    cursor.stopsWhenCancelled = Failure.self != Never.self
    nameForCycles(cell, key)
    guard let value = try await cursor.nextOrFailure(Failure.self) else {
      preconditionFailure("a computation of Memos came to an end without a value")
    }
    return value
  }

  /// Computes a cell until it suspends. A suspended computation goes on by itself.
  @inlinable
  func run(_ cell: Cell) -> Value? {
    var cursor = Cursor(
      LazyList<Value, Failure>(segment: cell, offset: 0), takesOver: false, runsTasks: true)
    return cursor.next()
  }

  @inlinable
  func refresh(_ key: Key) {
    let now = now
    let renewal = table.withLock { $0.refresh(key, at: now) { makeCell(key, $0) } }
    if let renewal { _ = run(renewal.cell) }
  }

  // MARK: Cells

  /// The cell that computes a key. It runs nothing before a demand.
  @inlinable
  func makeCell(_ key: Key, _ load: Table.Load) -> Cell {
    let evaluator =
      switch computation {
      case .plain(let compute): evaluator(of: key, load, compute)
      case .inTask(let compute): evaluator(of: key, load, compute)
      // The cell retains the store, and the store the cell, until the value is there or the memos
      // are released (`MemoOwner`).
      case .recursive(let compute):
        evaluator(of: key, load) { (key) throws(Failure) in try compute(Memos(store: self), key) }
      case .recursiveInTask(let compute):
        evaluator(of: key, load) { (key) async throws(Failure) in
          try await compute(Memos(store: self), key)
        }
      }
    return Segment(owner: evaluator, capacity: 1)
  }

  @inlinable
  func evaluator(
    of key: Key, _ load: Table.Load, _ compute: @escaping @Sendable (Key) throws(Failure) -> Value
  ) -> Evaluator<Value> {
    Evaluator(
      Producer<Value>(
        stage: "Memos",
        stepping: { [reference] _ in
          reference.finish(load, Result { () throws(Failure) in try compute(key) })
        }))
  }

  @inlinable
  func evaluator(
    of key: Key, _ load: Table.Load,
    _ compute: @escaping @Sendable (Key) async throws(Failure) -> Value
  ) -> Evaluator<Value> {
    Evaluator(
      ListTask<Value>(
        stage: "Memos",
        { [reference] steps in
          await steps.take {
            let result: Result<Value, Failure>
            do throws(Failure) { result = .success(try await compute(key)) } catch {
              result = .failure(error)
            }
            return reference.finish(load, result)
          }
        }))
  }

  @inlinable
  func finish(_ load: Table.Load, _ result: Result<Value, Failure>) {
    let outcome: Table.Outcome =
      switch result {
      case .success(let value): .value(value, cost: max(1, cost?(value) ?? 1))
      case .failure(let failure):
        .failure(
          failure, isRemembered: !retriesFailures && !(failure is CancellationError))
      }
    let now = now
    let leavings = table.withLock { $0.finish(load, outcome, at: now) }
    withExtendedLifetime(leavings) {}
  }

  /// Names a cell that a step is about to wait for: only these can be part of a cycle. A test that
  /// explores orders names all that are waited for.
  @usableFromInline
  func nameForCycles(_ cell: Cell, _ key: Key) {
    guard WorkerToken.runningWorker != nil || Exploring.isOn else { return }
    cell.evaluator?.name(ListName(CyclicEvaluationError.name(ofKey: key)))
  }

  /// The memos are released, and only their computations can still ask. Computations without
  /// waiting tasks are cancelled. One that cannot be told goes on, and the results that it asks for
  /// are remembered.
  @usableFromInline
  func abandon() {
    guard Failure.cancellation != nil else { return }
    let former = table.withLock { $0.abandon() }
    withExtendedLifetime(former) {}
  }
}

/// Retained by memos whose closure asks for other keys, but not by those that the closure receives.
@usableFromInline
final class MemoOwner: Sendable {
  private let abandon: @Sendable () -> Void

  @usableFromInline
  init(abandon: @escaping @Sendable () -> Void) { self.abandon = abandon }

  deinit { abandon() }
}

/// Measures the time from now on, on a clock.
@usableFromInline
package func timeFromNow(on clock: some Clock<Duration>) -> @Sendable () -> Duration {
  let start = clock.now
  return { start.duration(to: clock.now) }
}
