// Lists that are stored: what is there is read, and what is not is computed and stored.
extension LazyList where Failure == any Error {
  /// Creates a list of what is stored, and then of what a closure makes of the state that is stored
  /// with it.
  ///
  /// A list that was stopped, with its process or its machine, goes on where it stopped: the
  /// elements are read, and the next one is computed from the state after the last one.
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
  /// try await squares().prefix(3).array()   // [1, 4, 9]; two are read, one is computed
  /// ```
  ///
  /// - *Publication exactly once*: whoever was given the element at a position gets the same
  ///   element there ever after, in the sense of the store's durability.
  /// - *Computation at least once*: a step that was not stored runs again, with the state before
  ///   it. Its position is its idempotency key.
  ///
  /// See <doc:StoredLists>.
  ///
  /// - Parameters:
  ///   - store: keeps the elements, and the state after the last one.
  ///   - position: of the element that the list begins with, 0 or more; a negative position is a
  ///     programmer's error and traps.
  ///   - state: what the first step begins with, where nothing is stored.
  ///   - policy: whether the list computes, follows somebody else who does, or both.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  ///   - next: makes an element and changes the state; `nil` at the end, which is stored.
  /// - Laziness: stepwise; what is stored is read in pages. Nothing is opened before the first
  ///   demand, and the store is claimed at the first demand for an element that is not stored. What
  ///   wants everything, such as ``array()``, stores several elements at once: at most as many as
  ///   are wanted, those that can be had without waiting, for a tenth of a second.
  /// - Isolation: the store and an asynchronous closure are called from tasks of the list.
  /// - Failure: the closure's, or the store's, at its position. It is not remembered, and not
  ///   stored: the next demand runs the step again; or only stores what it gave, if it was the
  ///   store that failed. ``ListStoreError/inUse`` where somebody else writes.
  /// - Cancellation: a reader that is cancelled leaves the append whole.
  @inlinable
  public init<Store: ListStore>(
    storedIn store: Store, from position: Int = 0, state: Store.State,
    atTail policy: TailPolicy = .compute, file: StaticString = #fileID, line: UInt = #line,
    next: @escaping @Sendable (inout Store.State) throws -> Element?
  ) where Store.Element == Element {
    self.init(storing: store, from: position, policy, file, line, StoredWork(state, next))
  }

  /// Creates a list of what is stored, and then of what an asynchronous closure makes of the state
  /// that is stored with it.
  @inlinable
  public init<Store: ListStore>(
    storedIn store: Store, from position: Int = 0, state: Store.State,
    atTail policy: TailPolicy = .compute, file: StaticString = #fileID, line: UInt = #line,
    next: @escaping @Sendable (inout Store.State) async throws -> Element?
  ) where Store.Element == Element {
    self.init(storing: store, from: position, policy, file, line, StoredWork(state, next))
  }

  /// Creates a list of what is stored, and then of what a closure makes of a state that is folded
  /// from the elements.
  ///
  /// For a state that is too large to be stored with each element, the frontier of a crawler for
  /// one. Only `rebuild` changes it, with each element, whether that has just been computed or is
  /// read again:
  ///
  /// ```swift
  /// let store = MemoryStore<Int, Set<Int>>()
  /// let list = LazyList(storedIn: store, state: [1]) { (seen: inout Set<Int>, number: Int) in
  ///   seen.insert(number)
  /// } next: { seen in
  ///   (2...).first { number in !seen.contains { $0 > 1 && number % $0 == 0 } }
  /// }
  /// try await list.prefix(4).array()   // [2, 3, 5, 7]
  /// ```
  ///
  /// - Parameters:
  ///   - store: keeps the elements, and now and then the state.
  ///   - position: of the element that the list begins with, 0 or more; a negative position is a
  ///     programmer's error and traps.
  ///   - state: before the first element.
  ///   - policy: whether the list computes, follows somebody else who does, or both.
  ///   - snapshots: how often the state is stored, too.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  ///   - rebuild: changes the state by one element.
  ///   - next: makes an element of the state; `nil` at the end.
  /// - Laziness: as ``init(storedIn:from:state:atTail:file:line:next:)``; the first demand for an
  ///   element that is not stored reads the elements since the last snapshot.
  @inlinable
  public init<Store: ListStore>(
    storedIn store: Store, from position: Int = 0, state: Store.State,
    atTail policy: TailPolicy = .compute, snapshots: SnapshotPolicy = .growing,
    file: StaticString = #fileID, line: UInt = #line,
    rebuilding rebuild: @escaping @Sendable (inout Store.State, Element) -> Void,
    next: @escaping @Sendable (Store.State) throws -> Element?
  ) where Store.Element == Element {
    snapshots.check(file, line)
    self.init(
      storing: store, from: position, policy, file, line,
      StoredWork(state, snapshots, rebuild, next))
  }

  /// Creates a list of what is stored, and then of what an asynchronous closure makes of a state
  /// that is folded from the elements.
  @inlinable
  public init<Store: ListStore>(
    storedIn store: Store, from position: Int = 0, state: Store.State,
    atTail policy: TailPolicy = .compute, snapshots: SnapshotPolicy = .growing,
    file: StaticString = #fileID, line: UInt = #line,
    rebuilding rebuild: @escaping @Sendable (inout Store.State, Element) -> Void,
    next: @escaping @Sendable (Store.State) async throws -> Element?
  ) where Store.Element == Element {
    snapshots.check(file, line)
    self.init(
      storing: store, from: position, policy, file, line,
      StoredWork(state, snapshots, rebuild, next))
  }

  /// - Parameter patience: for how long elements that are wanted are gathered before they are
  ///   stored together: what a process loses that is killed meanwhile.
  @inlinable
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
