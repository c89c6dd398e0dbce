import TailraceLists
import TailraceSupport

extension Memos {
  /// Returns the values of several keys, which are computed at the same time.
  ///
  /// ```swift
  /// let lengths = Memos { (word: String) in word.count }
  /// await lengths.values(for: ["one", "three"])["three"]   // 5
  /// ```
  ///
  /// Keys of `Memos(batchSize:)` travel together, as many in a batch as the limit allows.
  ///
  /// - Isolation: plain closures run right here, one after the other; asynchronous ones in tasks of their
  ///   own.
  /// - Failure: that of the first key, in this order, that has one. The other computations continue; with
  ///   `cancelsUnobservedSteps`, those for which other tasks wait.
  /// - Cancellation: as for ``value(for:)``.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func values(
    for keys: some Sequence<Key>
  ) async throws(Failure) -> [Key: Value] {
    if Task.isCancelled, let cancellation = Failure.cancellation {
      var values: [Key: Value] = [:]
      for key in keys {
        guard let known = store.known(key, by: asker) else { throw cancellation }
        values[key] = try known.get()
      }
      return values
    }
    var (values, pending) = try store.answers(for: keys, by: asker)
    for (place, (key, cell)) in pending.enumerated() {
      do throws(Failure) {
        values[key] = try await store.wait(for: cell, key, by: asker, throwing: Failure.self)
      } catch {
        store.leave(pending[(place + 1)...])
        throw error
      }
    }
    return values
  }

  /// Sets the value of a key that is known from elsewhere.
  ///
  /// ```swift
  /// let lengths = Memos { (word: String) in word.count }
  /// lengths.set(3, for: "one")
  /// lengths.peek("one")   // 3
  /// ```
  ///
  /// Tasks that wait for a computation of the key get its result, which is not kept. In recursive
  /// memos, what was computed from another value of the key is out of date.
  ///
  /// - Isolation: the closures for costs and lifetimes run right here, and not under a lock.
  @_alwaysEmitIntoClient
  public func set(_ value: Value, for key: Key) { store.set(value, for: key) }

  /// These memos, for tasks that stop waiting when cancelled.
  ///
  /// ```swift
  /// let lengths = Memos { (word: String) in word.count }
  /// try await lengths.throwingCancellation.value(for: "three")   // 5
  /// ```
  ///
  /// A request of memos that cannot fail waits for the value, even in a cancelled task, so a deadline does
  /// not end it. This one does.
  @_alwaysEmitIntoClient
  public var throwingCancellation: ThrowingCancellation { ThrowingCancellation(self) }

  /// Memos whose requests throw when their task is cancelled (``Memos/throwingCancellation``).
  public struct ThrowingCancellation: Sendable {
    @usableFromInline let memos: Memos

    @_alwaysEmitIntoClient
    init(_ memos: Memos) { self.memos = memos }

    /// Returns the value of a key, as ``Memos/value(for:)`` does.
    ///
    /// - Cancellation: throws `CancellationError`; the computation continues. With `cancelsUnobservedSteps` it
    ///   is cancelled if no other task waits for it.
    @_alwaysEmitIntoClient
    nonisolated(nonsending) public func value(for key: Key) async throws -> Value {
      try await memos.store.demand(key, by: memos.asker, throwing: (any Error).self)
    }
  }
}

extension MemoStore {
  /// The values that are there, and the computations of the others, which have begun.
  @_alwaysEmitIntoClient
  func answers(
    for keys: some Sequence<Key>, by asker: Asker?
  ) throws(Failure) -> ([Key: Value], [(Key, Cell)]) {
    var values: [Key: Value] = [:]
    var pending: [(Key, Cell)] = []
    // All of a batch join it before it leaves.
    for key in keys {
      switch answer(key, by: asker) {
      case .value(let value): values[key] = value
      case .failure(let failure):
        leave(pending)
        throw failure
      case .due(let old, let cell):
        runAside(cell)
        values[key] = old
      case .pending(let cell): pending.append((key, cell))
      }
    }
    for (_, cell) in pending { run(cell) }
    return (values, pending)
  }
}
