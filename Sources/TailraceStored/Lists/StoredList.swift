import TailraceLists

/// A list over a store: gives the stored elements, then computes, stores and gives, in this order.
@usableFromInline
struct StoredList<Store: ListStore>: ListPager {
  @usableFromInline package typealias Element = Store.Element
  @usableFromInline typealias Pending = PendingCommit<Store.Element, Store.State>

  /// The state of a list that is the writer.
  @usableFromInline
  struct Writer {
    @usableFromInline var steps: Cursor<StoredStep<Store.Element, Store.State>>
    /// Computed and not stored yet: the next demand stores it without computing again.
    @usableFromInline var pending: Pending?
    /// The failure of a step whose predecessors must be stored first.
    @usableFromInline var untold: (any Error)?

    @_alwaysEmitIntoClient
    init(_ steps: consuming StoredWork<Store>.Steps) {
      self.steps = Cursor(steps, stopsWhenCancelled: true)
    }
  }

  @usableFromInline let store: Store
  @usableFromInline let work: StoredWork<Store>
  @usableFromInline var tail: TailTracker<Store.State>
  @usableFromInline var size = PageSize()
  @usableFromInline var writer: Writer?
  /// For how long elements are gathered to be stored together.
  @usableFromInline let patience: Duration

  @_alwaysEmitIntoClient
  init(
    _ store: Store, from position: Int, _ policy: TailPolicy, patience: Duration,
    _ work: StoredWork<Store>
  ) {
    self.store = store
    self.work = work
    self.patience = patience
    tail = TailTracker(policy, position: position)
  }

  @_alwaysEmitIntoClient
  nonisolated(nonsending) mutating func page(
    _ demand: PageDemand<Store.Element>
  ) async throws -> ListPage<Store.Element> {
    while true {
      if writer != nil {
        if let failure = writer?.pending?.failure.take() { throw failure }
        if writer?.pending == nil {
          let gathered = try await gather(demand)
          writer?.pending = gathered
        }
        if let page = try await append() { return page }
      } else if let page = try await readOn() {
        return page
      }
    }
  }

  // MARK: Reading

  /// Reads stored elements until the end. `nil` when this list becomes the writer.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) mutating func readOn() async throws -> ListPage<Store.Element>? {
    while true {
      let page = try await store.read(from: tail.position, upTo: size.count)
      if page.elements.count == size.count { size.grow() }
      var action = tail.didRead(page.elements.count, isEnd: page.isEnd)
      if case .acquire = action { action = tail.didAcquire(try await store.acquireLease()) }
      switch action {
      case .give: return page
      case .end: return ListPage([], isEnd: true)
      case .read, .acquire: continue
      case .wait:
        try await store.waitForMore(than: tail.position)
        try Task.checkCancellation()
      case .fail(let failure): throw failure
      case .compute(let checkpoint):
        writer = Writer(try await work.resume(store, checkpoint))
        return nil
      }
    }
  }

  // MARK: Computing

  /// One element, and as many more as are demanded and available without waiting; or the end.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) mutating func gather(
    _ demand: PageDemand<Store.Element>
  ) async throws -> Pending {
    if let failure = writer?.untold.take() { throw failure }
    guard let first = await writer?.steps.nextInStep() else {
      switch writer?.steps.takeAbsence() {
      case .end: return Pending(ListCommit([], state: nil, isEnd: true))
      case .failed(let failure): throw failure
      case .failedTransiently(let failure): throw failure
      case .cancelled, .released, .missing, .paused, nil: throw CancellationError()
      }
    }
    var gathered = Pending(ListCommit([first.element], state: first.state))
    if demand.wanted > 1, !first.endsCommit { gatherMore(demand, into: &gathered) }
    return gathered
  }

  @_alwaysEmitIntoClient
  mutating func gatherMore(_ demand: PageDemand<Store.Element>, into gathered: inout Pending) {
    let clock = ContinuousClock()
    let deadline = clock.now + patience
    // Whoever has an element does not wait for another.
    writer?.steps.demand.mayBeDropped = true
    defer { writer?.steps.demand.mayBeDropped = false }
    while gathered.commit.elements.count < demand.wanted, clock.now < deadline {
      guard let step = writer?.steps.next() else {
        // A suspended step continues: its result is for the next commit.
        switch writer?.steps.takeAbsence() {
        case .end: gathered.commit.isEnd = true
        case .failed(let failure): writer?.untold = failure
        case .failedTransiently(let failure): writer?.untold = failure
        case .cancelled, .released, .missing, .paused, nil: break
        }
        return
      }
      gathered.append(step)
      if step.endsCommit { return }
    }
  }

  /// Stores the pending commit, or as much of it as the store takes at once, and gives its elements.
  /// `nil` if another writer was faster.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) mutating func append() async throws -> ListPage<Store.Element>? {
    guard var commit = writer?.pending?.commit else { return nil }
    do {
      while let part = try await append(commit) { commit = part }
    } catch let failure as ListStoreError where failure == .superseded {
      // The other writer's element counts.
      writer = nil
      guard tail.didLose() else { throw failure }
      return nil
    } catch {
      guard commit.elements.count > 1, !Self.isCancellation(error) else { throw error }
      return try await appendSingly(after: error)
    }
    if writer?.pending?.commit.elements.count == commit.elements.count {
      writer?.pending = nil
    } else {
      writer?.pending?.didStore(commit.elements.count)
    }
    tail.didAppend(commit.elements.count)
    return ListPage(commit.elements, isEnd: commit.isEnd)
  }

  /// Stores a commit of the first pending elements. If it is too large, returns a smaller one.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func append(
    _ commit: ListCommit<Store.Element, Store.State>
  ) async throws -> ListCommit<Store.Element, Store.State>? {
    do {
      try await store.append(commit, at: tail.position)
      return nil
    } catch ListStoreError.tooLarge(let count) where commit.elements.count > 1 {
      return writer?.pending?.part(0..<min(max(count, 1), commit.elements.count - 1))
    }
  }

  /// Stores the elements of a pending commit one by one, because they could not be stored at once,
  /// and gives those that are stored. `nil` if another writer was faster.
  ///
  /// The first one that cannot be stored stays pending, with those after it. Its failure is thrown
  /// at its position: at once if it is the first of all, otherwise at the next demand.
  ///
  /// - Parameter refusal: the failure of the whole commit.
  @usableFromInline
  nonisolated(nonsending) mutating func appendSingly(
    after refusal: any Error
  ) async throws -> ListPage<Store.Element>? {
    guard let pending = writer?.pending else { return nil }
    let elements = pending.commit.elements
    var stored = 0
    do {
      while stored < elements.count {
        try await store.append(pending.part(stored..<stored + 1), at: tail.position)
        stored += 1
        tail.didAppend(1)
      }
      writer?.pending = nil
    } catch {
      let failure = error as? ListStoreError
      if failure == .superseded {
        // From here on, the other writer's elements count.
        writer = nil
        let isFirst = tail.didLose()
        if stored == 0 {
          guard isFirst else { throw error }
          return nil
        }
      } else if stored == 0 {
        // A store that was poisoned by the whole commit: its failure says why.
        throw failure == .poisoned ? refusal : error
      } else {
        writer?.pending?.didStore(stored)
        if !Self.isCancellation(error) { writer?.pending?.failure = error }
      }
    }
    let isEnd = pending.commit.isEnd && stored == elements.count
    return ListPage(Array(elements[..<stored]), isEnd: isEnd)
  }

  /// Whether an append has failed because it was cancelled, not because of its elements.
  @usableFromInline
  static func isCancellation(_ failure: any Error) -> Bool {
    failure is CancellationError || Task.isCancelled
  }
}
