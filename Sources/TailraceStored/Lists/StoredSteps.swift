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
  @usableFromInline typealias Work = StepState<Store.Element, Store.State>

  /// Steps of plain calls.
  @_alwaysEmitIntoClient
  init(
    _ initial: Store.State, _ rebuilding: Work.Rebuilding?,
    next: @escaping @Sendable (inout Store.State) throws -> Store.Element?
  ) {
    self.init { store, checkpoint in
      let work = Owned(try await Work(initial, rebuilding, from: checkpoint, in: store))
      return Steps(
        stage: "storedIn",
        stepping: { _ in work.state.answer(Result { try next(&work.state.state) }) })
    }
  }

  /// Steps of asynchronous calls.
  @_alwaysEmitIntoClient
  init(
    _ initial: Store.State, _ rebuilding: Work.Rebuilding?,
    asyncNext next: @escaping @Sendable (inout Store.State) async throws -> Store.Element?
  ) {
    self.init { store, checkpoint in
      let work = Owned(try await Work(initial, rebuilding, from: checkpoint, in: store))
      return Steps(
        stage: "storedIn",
        inTask: { steps in
          while steps.begin() {
            let found: Result<Store.Element?, any Error>
            do { found = .success(try await next(&work.state.state)) } catch {
              found = .failure(error)
            }
            if steps.finish(work.state.answer(found)) { await steps.executor.park() }
          }
        })
    }
  }
}

/// The state that the next element is made from: it is stored with each element; or folded from the
/// elements, and stored now and then.
@usableFromInline
struct StepState<Element: Sendable, State: Sendable>: Sendable {
  @usableFromInline
  struct Rebuilding: Sendable {
    @usableFromInline let snapshots: SnapshotPolicy
    @usableFromInline let fold: @Sendable (inout State, Element) -> Void

    @_alwaysEmitIntoClient
    init(_ snapshots: SnapshotPolicy, _ fold: @escaping @Sendable (inout State, Element) -> Void) {
      self.snapshots = snapshots
      self.fold = fold
    }
  }

  @usableFromInline let rebuilding: Rebuilding?
  @usableFromInline var state: State
  @usableFromInline var count: Int
  /// After how many elements the state was stored last.
  @usableFromInline var stored: Int

  /// The state at a checkpoint: the stored one, and the elements stored since.
  ///
  /// - Throws: ``ListStoreError/refused(_:)`` if there are elements behind the last state, and it cannot be
  ///   rebuilt. A list that stores its state with each element did not make them.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) init<Source: ListSource<Element>>(
    _ initial: State, _ rebuilding: Rebuilding?, from checkpoint: ListCheckpoint<State>,
    in source: Source
  ) async throws {
    self.rebuilding = rebuilding
    state = checkpoint.state ?? initial
    stored = checkpoint.stateCount
    count = stored
    guard count < checkpoint.count else { return }
    guard let rebuilding else { throw checkpoint.refusal }
    var size = PageSize()
    while count < checkpoint.count {
      let page = try await source.read(
        from: count, upTo: min(size.count, checkpoint.count - count))
      if page.elements.isEmpty { throw ListStoreError.damaged(at: count) }
      for element in page.elements { rebuilding.fold(&state, element) }
      count += page.elements.count
      size.grow()
    }
  }

  /// The answer to a call that has made an element, or has found the end.
  @_alwaysEmitIntoClient
  mutating func answer(
    _ found: Result<Element?, any Error>
  ) -> Step<StoredStep<Element, State>> {
    switch found {
    case .failure(let error): return .nothing(.failedTransiently(error))
    case .success(nil): return .nothing(.end)
    case .success(let element?):
      guard let rebuilding else { return .element(StoredStep(element, state)) }
      rebuilding.fold(&state, element)
      count += 1
      guard rebuilding.snapshots.isDue(after: count, since: stored) else {
        return .element(StoredStep(element, nil))
      }
      stored = count
      return .element(StoredStep(element, state, endsCommit: true))
    }
  }
}

extension ListCheckpoint {
  @usableFromInline
  var refusal: ListStoreError {
    .refused(
      """
      the list has \(count) elements, and the state stored last is the one after \(stateCount): it was \
      stored by a list that rebuilds its state. Make it with \
      LazyList(storedIn:state:rebuilding:next:), as before
      """)
  }
}
