import TailraceLists
import TailraceSupport

// Lists that are stored: stored elements are read, others are computed and stored.
extension LazyList where Failure == any Error {
  /// Creates a list of the stored elements, continued by a closure that computes from the state
  /// stored with them.
  ///
  /// After its process or machine has stopped, a list continues where it stopped: it reads the
  /// stored elements, and computes the next one from the state after the last.
  ///
  /// ```swift
  /// let store = MemoryStore<Int, Int>()
  /// func squares() -> LazyList<Int, any Error> {
  ///   LazyList(storedIn: store, state: 1) { number in
  ///     defer { number += 1 }
  ///     return number * number
  ///   }
  /// }
  /// try await squares().prefix(2).array()   // [1, 4]; computed
  /// try await squares().prefix(3).array()
  /// // [1, 4, 9]; two are read, one is computed
  /// ```
  ///
  /// - *Publication exactly once*: every reader given the element at a position gets the same
  ///   element there ever after, within the store's durability.
  /// - *Computation at least once*: a step that was not stored runs again with the state before
  ///   it. Its position is its idempotency key.
  ///
  /// See <doc:StoringLists>.
  ///
  /// - Parameters:
  ///   - store: stores the elements, and the state after the last one.
  ///   - position: of the list's first element, 0 or more; a negative position is a programmer's
  ///     error and traps. Beyond the stored elements, a list that would have to compute throws
  ///     ``ListStoreError/refused(_:)``.
  ///   - state: the first step's state, if nothing is stored.
  ///   - policy: whether the list computes, follows another writer, or both.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  ///   - next: makes an element and changes the state; `nil` at the end, which is stored.
  /// - Laziness: stepwise; stored elements are read in pages. Nothing is opened before the first
  ///   request. The first request for an element that is not stored acquires its lease. A request for
  ///   everything, such as ``array()``, stores several elements at once: those available without
  ///   waiting, at most as many as requested, gathered for a tenth of a second.
  /// - Isolation: tasks of the list call the store and an asynchronous closure.
  /// - Failure: the closure's or the store's, at its position. It is neither kept nor
  ///   stored: the next request runs the step again, or, if the store failed, only stores its
  ///   result. Several elements that cannot be stored at once are stored one by one, up to the one
  ///   that fails. ``ListStoreError/inUse`` if another writer holds the store.
  /// - Cancellation: cancelling a reader leaves the append whole.
  @_alwaysEmitIntoClient
  public init<Store: ListStore>(
    storedIn store: Store, from position: Int = 0, state: Store.State,
    atTail policy: TailPolicy = .compute, file: StaticString = #fileID, line: UInt = #line,
    next: @escaping @Sendable (inout Store.State) throws -> Element?
  ) where Store.Element == Element {
    let work = StoredWork<Store>(
      state, nil,
      next: { state in
        // It changes only if the step succeeds.
        var attempt = state
        guard let element = try next(&attempt) else { return nil }
        state = attempt
        return element
      })
    self.init(storing: store, from: position, policy, file, line, work)
  }

  /// Creates a list of the stored elements, continued by an asynchronous closure that computes
  /// from the state stored with them.
  @_alwaysEmitIntoClient
  public init<Store: ListStore>(
    storedIn store: Store, from position: Int = 0, state: Store.State,
    atTail policy: TailPolicy = .compute, file: StaticString = #fileID, line: UInt = #line,
    next: @escaping @Sendable (inout Store.State) async throws -> Element?
  ) where Store.Element == Element {
    let work = StoredWork<Store>(
      state, nil,
      asyncNext: { state in
        var attempt = state
        guard let element = try await next(&attempt) else { return nil }
        state = attempt
        return element
      })
    self.init(storing: store, from: position, policy, file, line, work)
  }

  /// Creates a list of the stored elements, continued by a closure that computes from a state
  /// folded from the elements.
  ///
  /// Use it if the state is too large to store with each element, as the frontier of a crawler is.
  /// Only `rebuild` changes the state, once for each element, whether computed or read again:
  ///
  /// ```swift
  /// let store = MemoryStore<Int, Set<Int>>()
  /// let list = LazyList(storedIn: store, state: [1]) {
  ///   (seen: inout Set<Int>, number: Int) in
  ///   seen.insert(number)
  /// } next: { seen in
  ///   (2...).first { number in !seen.contains { $0 > 1 && number % $0 == 0 } }
  /// }
  /// try await list.prefix(4).array()   // [2, 3, 5, 7]
  /// ```
  ///
  /// - Parameters:
  ///   - store: stores the elements, and now and then the state.
  ///   - position: of the list's first element, 0 or more; a negative position is a programmer's
  ///     error and traps. Beyond the stored elements, a list that would have to compute throws
  ///     ``ListStoreError/refused(_:)``.
  ///   - state: before the first element.
  ///   - policy: whether the list computes, follows another writer, or both.
  ///   - snapshots: how often the state is also stored.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  ///   - rebuild: changes the state by one element.
  ///   - next: makes an element from the state; `nil` at the end.
  /// - Laziness: as ``init(storedIn:from:state:atTail:file:line:next:)``; the first request for an
  ///   element that is not stored reads the elements since the last snapshot.
  @_alwaysEmitIntoClient
  public init<Store: ListStore>(
    storedIn store: Store, from position: Int = 0, state: Store.State,
    atTail policy: TailPolicy = .compute, snapshots: SnapshotPolicy = .growing,
    file: StaticString = #fileID, line: UInt = #line,
    rebuilding rebuild: @escaping @Sendable (inout Store.State, Element) -> Void,
    next: @escaping @Sendable (Store.State) throws -> Element?
  ) where Store.Element == Element {
    snapshots.check(file, line)
    let work = StoredWork<Store>(
      state, .init(snapshots, rebuild), next: { state in try next(state) })
    self.init(storing: store, from: position, policy, file, line, work)
  }

  /// Creates a list of the stored elements, continued by an asynchronous closure that computes
  /// from a state folded from the elements.
  @_alwaysEmitIntoClient
  public init<Store: ListStore>(
    storedIn store: Store, from position: Int = 0, state: Store.State,
    atTail policy: TailPolicy = .compute, snapshots: SnapshotPolicy = .growing,
    file: StaticString = #fileID, line: UInt = #line,
    rebuilding rebuild: @escaping @Sendable (inout Store.State, Element) -> Void,
    next: @escaping @Sendable (Store.State) async throws -> Element?
  ) where Store.Element == Element {
    snapshots.check(file, line)
    let work = StoredWork<Store>(
      state, .init(snapshots, rebuild), asyncNext: { state in try await next(state) })
    self.init(storing: store, from: position, policy, file, line, work)
  }

  /// - Parameter patience: for how long demanded elements are gathered before they are stored
  ///   together. A process killed meanwhile loses them.
  @_alwaysEmitIntoClient
  init<Store: ListStore>(
    storing store: Store, from position: Int, _ policy: TailPolicy, _ file: StaticString,
    _ line: UInt, patience: Duration = .milliseconds(100), _ work: StoredWork<Store>
  ) where Store.Element == Element {
    require(
      position >= 0,
      "LazyList(storedIn:from:) takes a position of 0 or more, not \(position); "
        + "positions count from the first element that was stored", file: file, line: line)
    let list = StoredList(store, from: position, policy, patience: patience, work)
    self.init(paging: Owned(list), stage: "storedIn")
  }
}

extension SnapshotPolicy {
  @usableFromInline
  func check(_ file: StaticString, _ line: UInt) {
    guard case .every(let count) = self else { return }
    require(
      count > 0, "SnapshotPolicy.every(_:) takes a count of 1 or more, not \(count)",
      file: file, line: line)
  }
}
