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
  @usableFromInline typealias Recursion = RecursiveTable<Key, Value, Failure>
  @usableFromInline typealias Asker = DependencyGraph.Asker
  @usableFromInline typealias Cell = Segment<Value>

  @usableFromInline let table: Locked<Recursion>
  @usableFromInline let isRecursive: Bool
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
    isRecursive = computation.isRecursive
    canCompare = isRecursive && rules.areEqual != nil
    table = Locked(
      Recursion(
        Table(
          limit: rules.limit, rules.ages, isReporting: rules.report != nil,
          cancelsUnobserved: rules.cancelsUnobserved), isRecursive: isRecursive,
        canCompare: canCompare))
    self.rules = rules
    isReporting = rules.report != nil
    self.clock = rules.ages.isTimed ? timeFromNow(on: clock) : nil
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

  /// A value that is there. The key is hashed before the lock is taken: many tasks ask, and the less they
  /// do under the lock, the less they wait for each other.
  @_alwaysEmitIntoClient @inline(__always)
  func hit(_ key: Key) -> Value? {
    let (now, hash) = (now, key.hashValue)
    return table.withLock { table in
      guard let place = table.base.slots.place(of: key, hash: hash) else { return nil }
      return table.base.hit(in: place, at: now)
    }
  }

  /// The same for a computation that asks: it depends on the value.
  @_alwaysEmitIntoClient
  func hit(_ key: Key, by asker: Asker) -> Value? {
    let (now, hash, task) = (now, key.hashValue, runningTask())
    return table.withLock { table in
      guard let place = table.base.slots.place(of: key, hash: hash) else { return nil }
      return table.hit(in: place, by: asker, in: task, at: now)
    }
  }

  /// An event of a table whose keys know nothing of each other. What it removes is released, and
  /// reported, outside of the lock.
  @_alwaysEmitIntoClient @inline(__always)
  func event<Answer: Sendable>(_ body: (inout Table, inout Table.Leavings) -> Answer) -> Answer {
    var leavings = Table.Leavings()
    let answer = table.withLock { table in
      let answer = body(&table.base, &leavings)
      table.base.checkInvariants()
      return answer
    }
    if isReporting { report(leavings.others) }
    return answer
  }

  /// An event of a recursive table. What it marks may take several turns under the lock; it begins when
  /// there is nothing left of those before it.
  @_alwaysEmitIntoClient @inline(__always)
  func recursiveEvent<Answer: Sendable>(
    _ body: (inout Recursion, inout Table.Leavings) -> Answer
  ) -> Answer {
    var leavings = Table.Leavings()
    var answer: Answer?
    var hasEnded = false
    while !hasEnded {
      hasEnded = table.withLock { table in
        if answer == nil, !table.graph.isMarking { answer = body(&table, &leavings) }
        return table.settleDown(&leavings) && answer != nil
      }
    }
    if isReporting { report(leavings.others) }
    guard let answer else { preconditionFailure("an event of Memos has no answer") }
    return answer
  }

  /// Finds the value, computes it, or waits for it.
  ///
  /// - Parameter type: what the caller can throw: the failure of the closure, or any error, so also a
  ///   cancellation where the closure cannot fail.
  @_alwaysEmitIntoClient @inline(never)
  nonisolated(nonsending) func demand<Thrown: Error>(
    _ key: Key, by asker: Asker?, throwing type: Thrown.Type
  ) async throws(Thrown) -> Value {
    if Task.isCancelled, let cancellation = Thrown.cancellation {
      switch known(key, by: asker) {
      case .success(let value)?: return value
      case .failure(let failure)?: throw Thrown.known(failure)
      case nil: throw cancellation
      }
    }
    switch answer(key, by: asker) {
    case .value(let value): return value
    case .failure(let failure): throw Thrown.known(failure)
    case .due(let old, let cell):
      runAside(cell)
      return old
    case .pending(let cell): return try await wait(for: cell, key, by: asker, throwing: type)
    }
  }

  /// The result that is served. A cancelled reader gets no other, and starts nothing.
  @_alwaysEmitIntoClient
  func known(_ key: Key, by asker: Asker?) -> Result<Value, Failure>? {
    if !isRecursive { return table.withLock { [now] in $0.base.peek(key, at: now) } }
    let (now, task) = (now, asker == nil ? 0 : runningTask())
    return recursiveEvent { table, _ in table.peek(key, by: asker, in: task, at: now) }
  }

  @_alwaysEmitIntoClient
  func answer(_ key: Key, by asker: Asker?) -> Table.Answer {
    let now = now
    if !isRecursive {
      return event { table, leavings in
        let answer = table.demand(key, at: now, &leavings) { makeCell(key, $0) }
        table.observe(key, answer)
        return answer
      }
    }
    let task = asker == nil ? 0 : runningTask()
    return recursiveEvent { table, leavings in
      table.demand(key, by: asker, in: task, at: now, &leavings) { makeCell(key, $0) }
    }
  }

  /// Callers stop waiting. What nobody wants any more is cancelled, outside of the lock, when its cell is
  /// released.
  @_alwaysEmitIntoClient
  func leave(_ pending: some Collection<(Key, Cell)> & Sendable) {
    guard rules.cancelsUnobserved, !pending.isEmpty else { return }
    event { table, leavings in
      for (key, cell) in pending { table.leave(key, cell, &leavings) }
    }
  }

  /// Waits for a computation. Without a value, the caller depends on that there was none.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func wait<Thrown: Error>(
    for cell: Cell, _ key: Key, by asker: Asker?, throwing type: Thrown.Type
  ) async throws(Thrown) -> Value {
    do throws(Thrown) { return try await value(of: cell, for: key, throwing: type) } catch {
      leave(CollectionOfOne((key, cell)))
      if let asker {
        let task = runningTask()
        recursiveEvent { table, _ in table.note(key, askedBy: asker, .noAnswer, in: task) }
      }
      throw error
    }
  }

  @_alwaysEmitIntoClient
  nonisolated(nonsending) func value<Thrown: Error>(
    of cell: Cell, for key: Key, throwing _: Thrown.Type
  ) async throws(Thrown) -> Value {
    var cursor = Cursor(
      LazyList<Value, Failure>(segment: cell, offset: 0), takesOver: false)
    // The demanding task was not cancelled: it starts the computation.
    if let value = cursor.next() { return value }
    cursor.stopsWhenCancelled = Thrown.self != Never.self
    nameForCycles(cell, key)
    guard let value = try await cursor.nextOrFailure(Thrown.self) else {
      preconditionFailure("a computation of Memos came to an end without a value")
    }
    return value
  }

  /// Computes a cell until it suspends. A suspended computation goes on by itself.
  @_alwaysEmitIntoClient
  func run(_ cell: Cell) {
    var cursor = Cursor(
      LazyList<Value, Failure>(segment: cell, offset: 0), takesOver: false)
    _ = cursor.next()
  }

  /// Computes a cell in a task of its own: its caller has the old value, and does not wait.
  @_alwaysEmitIntoClient
  func runAside(_ cell: Cell) { inOwnTask { [self] in run(cell) } }

  // MARK: Computing again

  @_alwaysEmitIntoClient
  func refresh(_ key: Key) {
    if let (cell, isNew) = renewal(of: key, by: nil), isNew { run(cell) }
  }

  @_alwaysEmitIntoClient
  nonisolated(nonsending) func refreshedValue(
    for key: Key, by asker: Asker?
  ) async throws(Failure) -> Value {
    if Task.isCancelled, let cancellation = Failure.cancellation { throw cancellation }
    guard let (cell, _) = renewal(of: key, by: asker) else {
      return try await demand(key, by: asker, throwing: Failure.self)
    }
    return try await wait(for: cell, key, by: asker, throwing: Failure.self)
  }

  @_alwaysEmitIntoClient
  func renewal(of key: Key, by asker: Asker?) -> (cell: Cell, isNew: Bool)? {
    let now = now
    if !isRecursive {
      return event { table, leavings in
        let renewal = table.refresh(key, at: now, &leavings) { makeCell(key, $0) }
        table.observe(key)
        return renewal
      }
    }
    let task = asker == nil ? 0 : runningTask()
    return recursiveEvent { table, leavings in
      table.refresh(key, by: asker, in: task, at: now, &leavings) { makeCell(key, $0) }
    }
  }

  // MARK: Forgetting

  @_alwaysEmitIntoClient
  func forget(_ key: Key) {
    if !isRecursive { return event { table, leavings in table.forget(key, &leavings) } }
    recursiveEvent { table, leavings in table.forget(key, &leavings) }
  }

  @_alwaysEmitIntoClient
  func forgetAll() {
    let former = table.withLock { $0.forgetAll() }
    withExtendedLifetime(former) {}
  }

  /// The closure runs outside of the lock, for the keys that there are now.
  @_alwaysEmitIntoClient
  func forget(where isForgotten: (Key) throws -> Bool) rethrows {
    var forgotten: [Key] = []
    var place = 0
    while let keys = table.withLock({ $0.base.slots.keys(from: place, atMost: Recursion.slice) }) {
      forgotten += try keys.filter(isForgotten)
      place += Recursion.slice
    }
    for key in forgotten { forget(key) }
  }

  // MARK: Known values

  /// How often something was forgotten, or set.
  @_alwaysEmitIntoClient var forgettings: Int { table.withLock { $0.base.forgettings } }

  /// A value that came beside others.
  @_alwaysEmitIntoClient
  func keep(_ value: Value, for key: Key, ifNothingForgottenSince forgettings: Int?) {
    guard let forgettings else { return }
    let (cost, lifetime, now) = (cost(of: value), lifetime(of: value, key), now)
    event { table, leavings in
      table.keep(
        value, for: key, cost, lifetime, ifNothingForgottenSince: forgettings, at: now, &leavings)
    }
  }

  @_alwaysEmitIntoClient
  func set(_ value: Value, for key: Key) {
    let (cost, lifetime, now) = (cost(of: value), lifetime(of: value, key), now)
    if !isRecursive {
      return event { table, leavings in
        table.set(value, for: key, cost, lifetime, at: now, &leavings)
      }
    }
    var equalTo: UInt32?
    if let areEqual = rules.areEqual,
      let (former, number) = table.withLock({ $0.formerValue(of: key) }), areEqual(former, value)
    {
      equalTo = number
    }
    recursiveEvent { [equalTo] table, leavings in
      table.set(value, for: key, cost, lifetime, equalTo: equalTo, at: now, &leavings)
    }
  }

  @_alwaysEmitIntoClient
  func cost(of value: Value) -> Int { max(1, rules.cost?(value) ?? 1) }

  @_alwaysEmitIntoClient
  func lifetime(of value: Value, _ key: Key) -> Int64? {
    rules.lifetime.map { Ages.nanoseconds($0(key, value)) }
  }

  /// The memos are released, and only their computations can still ask. Computations without
  /// waiting tasks are cancelled. One that cannot be told goes on, and the results that it asks for
  /// are remembered.
  @usableFromInline
  func abandon() {
    guard Failure.cancellation != nil else { return }
    var place = 0
    while recursiveEvent({ $0.abandon(from: place, atMost: Recursion.slice, &$1) }) {
      place += Recursion.slice
    }
  }
}

/// Identifies the running task: children of a computation ask at the same time as others.
@usableFromInline
func runningTask() -> UInt32 {
  withUnsafeCurrentTask { task in
    task.map { UInt32(truncatingIfNeeded: $0.hashValue) & 0x7FFF_FFFF | 1 } ?? 0
  }
}

/// Runs work in a task of its own, where a step of the caller would go on after a suspension.
@usableFromInline
func inOwnTask(_ work: @escaping @Sendable () -> Void) { _ = StepExecutor.atHome { work() } }

/// Retained by memos whose closure asks for other keys, but not by those that the closure receives.
@usableFromInline
final class MemoOwner: Sendable {
  private let abandon: @Sendable () -> Void

  @usableFromInline
  init(abandon: @escaping @Sendable () -> Void) { self.abandon = abandon }

  deinit { abandon() }
}
