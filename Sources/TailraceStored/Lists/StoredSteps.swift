import TailraceLists

/// The result of a step of a stored list: an element, and the state after it, if stored.
@usableFromInline
struct StoredStep<Element: Sendable, State: Sendable>: Sendable {
  @usableFromInline let element: Element
  @usableFromInline let state: State?
  /// Whether a commit ends with this element, because the state after it is a snapshot and the
  /// next step has none.
  @usableFromInline let endsCommit: Bool

  @_alwaysEmitIntoClient
  init(_ element: Element, _ state: State?, endsCommit: Bool = false) {
    self.element = element
    self.state = state
    self.endsCommit = endsCommit
  }
}

/// The computation of a stored list: the steps from a checkpoint on, as a list.
///
/// Only the stored list reads it, and only to compute. As a list it lets a suspended step
/// continue, while the elements computed before it are stored.
@usableFromInline
struct StoredWork<Store: ListStore>: Sendable {
  @usableFromInline typealias Steps = LazyList<StoredStep<Store.Element, Store.State>, any Error>
  @usableFromInline
  typealias Resume =
    nonisolated(nonsending) @Sendable (Store, ListCheckpoint<Store.State>) async throws -> Steps

  @usableFromInline let resume: Resume

  @_alwaysEmitIntoClient
  init(_ resume: @escaping Resume) { self.resume = resume }
}

extension StoredWork {
  /// Steps of plain calls, over a value that is made from a checkpoint.
  @_alwaysEmitIntoClient
  private init<Work: Sendable>(
    _ makeWork:
      nonisolated(nonsending) @escaping @Sendable (
        Store, ListCheckpoint<Store.State>
      ) async throws -> Work,
    step: @escaping @Sendable (inout Work) throws -> StoredStep<Store.Element, Store.State>?
  ) {
    self.init { store, checkpoint in
      let work = Owned(try await makeWork(store, checkpoint))
      return Steps(
        stage: "storedIn",
        stepping: { _ in
          do { return try step(&work.state).map { .element($0) } ?? .nothing(.end) } catch {
            return .nothing(.failedTransiently(error))
          }
        })
    }
  }

  /// Steps of asynchronous calls, over a value that is made from a checkpoint.
  @_alwaysEmitIntoClient
  private init<Work: Sendable>(
    _ makeWork:
      nonisolated(nonsending) @escaping @Sendable (
        Store, ListCheckpoint<Store.State>
      ) async throws -> Work,
    asyncStep step:
      @escaping @Sendable (inout Work) async throws -> StoredStep<Store.Element, Store.State>?
  ) {
    self.init { store, checkpoint in
      let work = Owned(try await makeWork(store, checkpoint))
      return Steps(
        stage: "storedIn",
        inTask: { steps in
          while steps.begin() {
            var next = Step<StoredStep<Store.Element, Store.State>>.nothing(.end)
            do { if let found = try await step(&work.state) { next = .element(found) } } catch {
              next = .nothing(.failedTransiently(error))
            }
            if steps.finish(next) { await steps.executor.park() }
          }
        })
    }
  }

  /// Steps that change a state stored with each element. The state changes only if a step succeeds.
  @_alwaysEmitIntoClient
  init(
    _ initial: Store.State,
    _ next: @escaping @Sendable (inout Store.State) throws -> Store.Element?
  ) {
    self.init { _, checkpoint in
      try checkpoint.completeState ?? initial
    } step: { state in
      var attempt = state
      guard let element = try next(&attempt) else { return nil }
      state = attempt
      return StoredStep(element, attempt)
    }
  }

  /// The same with an asynchronous closure.
  @_alwaysEmitIntoClient
  init(
    _ initial: Store.State,
    _ next: @escaping @Sendable (inout Store.State) async throws -> Store.Element?
  ) {
    self.init { _, checkpoint in
      try checkpoint.completeState ?? initial
    } asyncStep: { state in
      var attempt = state
      guard let element = try await next(&attempt) else { return nil }
      state = attempt
      return StoredStep(element, attempt)
    }
  }

  /// Steps from a state folded from the elements.
  @_alwaysEmitIntoClient
  init(
    _ initial: Store.State, _ snapshots: SnapshotPolicy,
    _ fold: @escaping @Sendable (inout Store.State, Store.Element) -> Void,
    _ next: @escaping @Sendable (Store.State) throws -> Store.Element?
  ) {
    self.init { store, checkpoint in
      try await RebuiltState(initial, snapshots, fold, from: checkpoint, in: store)
    } step: { state in
      try next(state.state).map { state.take($0) }
    }
  }

  /// The same with an asynchronous closure.
  @_alwaysEmitIntoClient
  init(
    _ initial: Store.State, _ snapshots: SnapshotPolicy,
    _ fold: @escaping @Sendable (inout Store.State, Store.Element) -> Void,
    _ next: @escaping @Sendable (Store.State) async throws -> Store.Element?
  ) {
    self.init { store, checkpoint in
      try await RebuiltState(initial, snapshots, fold, from: checkpoint, in: store)
    } asyncStep: { state in
      try await next(state.state).map { state.take($0) }
    }
  }
}

extension ListCheckpoint {
  /// The state after the last element; `nil` if there is neither.
  ///
  /// - Throws: ``ListStoreError/refused(_:)`` if there are elements behind the last state. A list that
  ///   stores its state with each element did not make them.
  @usableFromInline
  var completeState: State? {
    get throws {
      guard stateCount == count else {
        throw ListStoreError.refused(
          """
          the list has \(count) elements, and the state stored last is the one after \(stateCount): it was \
          stored by a list that rebuilds its state. Make it with \
          LazyList(storedIn:state:rebuilding:next:), as before
          """)
      }
      return state
    }
  }
}

/// A state folded from the elements, and stored now and then.
@usableFromInline
struct RebuiltState<Element: Sendable, State: Sendable>: Sendable {
  @usableFromInline typealias Fold = @Sendable (inout State, Element) -> Void

  @usableFromInline let snapshots: SnapshotPolicy
  @usableFromInline let fold: Fold
  @usableFromInline var state: State
  @usableFromInline var count: Int
  /// The number of elements at the last snapshot.
  @usableFromInline var stored: Int

  /// The state at a checkpoint: its snapshot, and the elements stored since.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) init<Source: ListSource<Element>>(
    _ initial: State, _ snapshots: SnapshotPolicy, _ fold: @escaping Fold,
    from checkpoint: ListCheckpoint<State>, in source: Source
  ) async throws {
    self.snapshots = snapshots
    self.fold = fold
    state = checkpoint.state ?? initial
    stored = checkpoint.stateCount
    count = stored
    var size = PageSize()
    while count < checkpoint.count {
      let page = try await source.read(
        from: count, upTo: min(size.count, checkpoint.count - count))
      if page.elements.isEmpty { throw ListStoreError.damaged(at: count) }
      for element in page.elements { fold(&state, element) }
      count += page.elements.count
      size.grow()
    }
  }

  @_alwaysEmitIntoClient
  mutating func take(_ element: Element) -> StoredStep<Element, State> {
    fold(&state, element)
    count += 1
    guard snapshots.isDue(after: count, since: stored) else { return StoredStep(element, nil) }
    stored = count
    return StoredStep(element, state, endsCommit: true)
  }
}
