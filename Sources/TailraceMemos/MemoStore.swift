import TailraceLists
import TailraceSupport

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

  @usableFromInline let table: Locked<Table>
  @usableFromInline let computation: Computation
  @usableFromInline let rules: Rules
  /// Whether values are compared.
  @usableFromInline let canCompare: Bool
  /// Whether somebody is told of events.
  @usableFromInline let isReporting: Bool
  /// The time since the store was made; `nil` if nothing expires.
  @usableFromInline let clock: (@Sendable () -> Duration)?
  @usableFromInline let reference = Reference()

  // Guard: the runtime's, for a weak reference; it is set once, before it is shared.
  // May touch it: the maker, then the cells' closures.
  @usableFromInline
  final class Reference: @unchecked Sendable {
    @usableFromInline weak var store: MemoStore?

    @_alwaysEmitIntoClient
    init() {}
  }

  @_alwaysEmitIntoClient
  init(_ rules: Rules, clock: any Clock<Duration>, _ computation: Computation) {
    canCompare = computation.isRecursive && rules.areEqual != nil
    table = Locked(
      Table(
        limit: rules.limit, rules.ages, isRecursive: computation.isRecursive,
        canCompare: canCompare, isReporting: rules.report != nil))
    self.rules = rules
    isReporting = rules.report != nil
    self.clock = rules.ages.areKept ? timeFromNow(on: clock) : nil
    self.computation = computation
    reference.store = self
  }

  @_alwaysEmitIntoClient var now: Int64 {
    guard let clock else { return 0 }
    return Ages.nanoseconds(clock())
  }

  /// Reports events outside of the lock.
  @usableFromInline
  func report(_ leftovers: [Table.Leftover]) {
    for case .event(let event) in leftovers { rules.report?(event) }
  }

  // MARK: Demands

  @_alwaysEmitIntoClient @inline(__always)
  func hit(_ key: Key) -> Value? {
    let now = now
    return table.withLock { $0.hit(key, at: now) }
  }

  /// The same for a computation that asks: it depends on the value.
  @_alwaysEmitIntoClient
  func hit(_ key: Key, by asker: Table.Asker) -> Value? {
    let now = now
    return table.withLock { table in
      guard let value = table.hit(key, at: now) else { return nil }
      table.note(key, askedBy: asker)
      return value
    }
  }

  /// Finds the value, computes it, or waits for it.
  @_alwaysEmitIntoClient @inline(never)
  nonisolated(nonsending) func demand(
    _ key: Key, by asker: Table.Asker? = nil
  ) async throws(Failure) -> Value {
    if Task.isCancelled, let cancellation = Failure.cancellation {
      // A reader that stops starts nothing.
      switch look(key, by: asker) {
      case .value(let value): return value
      case .renewing(let renewal): return renewal.old
      case .failure(let failure): throw failure
      case .none, .computing, .stale, .replacing: throw cancellation
      }
    }
    switch answer(key, by: asker) {
    case .value(let value): return value
    case .failure(let failure): throw failure
    case .pending(let cell): return try await value(of: cell, for: key)
    case .due(let old, let cell): return run(cell) ?? old
    }
  }

  /// A demand. What it replaces is released before its caller waits.
  @_alwaysEmitIntoClient
  func answer(_ key: Key, by asker: Table.Asker?) -> Table.Answer {
    let now = now
    var leavings = Table.Leavings()
    let answer = table.withLock { table in
      let answer = table.demand(key, at: now, &leavings) { makeCell(key, $0) }
      if let asker { table.note(key, askedBy: asker) }
      return answer
    }
    if isReporting { report(leavings.others) }
    if isReporting {
      switch answer {
      case .value, .failure, .due: rules.report?(.hit(key))
      case .pending: break
      }
    }
    return answer
  }

  @_alwaysEmitIntoClient
  func look(_ key: Key, by asker: Table.Asker?) -> Table.Content {
    let now = now
    return table.withLock { table in
      let content = table.peek(key, at: now)
      if let asker {
        switch content {
        case .value, .renewing, .failure: table.note(key, askedBy: asker, hasLooked: true)
        case .none, .computing, .stale, .replacing: break
        }
      }
      return content
    }
  }

  @_alwaysEmitIntoClient
  nonisolated(nonsending) func value(of cell: Cell, for key: Key) async throws(Failure) -> Value {
    var cursor = Cursor(
      LazyList<Value, Failure>(segment: cell, offset: 0), takesOver: false)
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
  @_alwaysEmitIntoClient
  func run(_ cell: Cell) -> Value? {
    var cursor = Cursor(
      LazyList<Value, Failure>(segment: cell, offset: 0), takesOver: false)
    return cursor.next()
  }

  // MARK: Computing again

  @_alwaysEmitIntoClient
  func refresh(_ key: Key) {
    if let (cell, isNew) = renewal(of: key, by: nil), isNew { _ = run(cell) }
  }

  @_alwaysEmitIntoClient
  nonisolated(nonsending) func refreshedValue(
    for key: Key, by asker: Table.Asker?
  ) async throws(Failure) -> Value {
    if Task.isCancelled, let cancellation = Failure.cancellation { throw cancellation }
    guard let (cell, _) = renewal(of: key, by: asker) else {
      return try await demand(key, by: asker)
    }
    return try await value(of: cell, for: key)
  }

  @_alwaysEmitIntoClient
  func renewal(of key: Key, by asker: Table.Asker?) -> (cell: Cell, isNew: Bool)? {
    let now = now
    var leavings = Table.Leavings()
    let renewal = table.withLock { table in
      let renewal = table.refresh(key, at: now, &leavings) { makeCell(key, $0) }
      if let asker { table.note(key, askedBy: asker) }
      return renewal
    }
    if isReporting { report(leavings.others) }
    return renewal
  }

  // MARK: Forgetting

  @_alwaysEmitIntoClient
  func forget(_ key: Key) {
    var leavings = Table.Leavings()
    table.withLock { $0.forget(key, &leavings) }
    if isReporting { report(leavings.others) }
  }

  @_alwaysEmitIntoClient
  func forgetAll() {
    let former = table.withLock { $0.forgetAll() }
    withExtendedLifetime(former) {}
  }

  /// The closure runs outside of the lock, for the keys that there are now.
  @_alwaysEmitIntoClient
  func forget(where isForgotten: (Key) throws -> Bool) rethrows {
    let keys = table.withLock { Array($0.slots.index.keys) }
    let forgotten = try keys.filter(isForgotten)
    if forgotten.isEmpty { return }
    var leavings = Table.Leavings()
    table.withLock { table in
      for key in forgotten { table.forget(key, &leavings) }
    }
    if isReporting { report(leavings.others) }
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
