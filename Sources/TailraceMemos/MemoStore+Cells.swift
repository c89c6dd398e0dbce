import TailraceLists
import TailraceSupport

extension MemoStore {
  /// How a value is computed: with or without the memos themselves.
  @usableFromInline
  enum Computation: Sendable {
    case plain(@Sendable (Key) throws(Failure) -> Value)
    case inTask(@Sendable (Key) async throws(Failure) -> Value)
    /// Makes the producer of one computation, and runs nothing. The producer tells the table.
    case produced(@Sendable (Key, Table.Load, Reference) -> Producer<Value>)
    case recursive(@Sendable (Memos<Key, Value, Failure>, Key) throws(Failure) -> Value)
    case recursiveInTask(@Sendable (Memos<Key, Value, Failure>, Key) async throws(Failure) -> Value)

    @_alwaysEmitIntoClient var isRecursive: Bool {
      switch self {
      case .plain, .inTask, .produced: false
      case .recursive, .recursiveInTask: true
      }
    }
  }

  /// What the maker of the memos has chosen. A class: to copy all of it for each look takes longer
  /// than a computation.
  @usableFromInline
  final class Rules: Sendable {
    @usableFromInline let limit: Int?
    @usableFromInline let cost: (@Sendable (Value) -> Int)?
    @usableFromInline let ages: Ages
    @usableFromInline let lifetime: (@Sendable (Key, Value) -> Duration)?
    @usableFromInline let retriesFailures: Bool
    @usableFromInline let report: (@Sendable (Table.Event) -> Void)?
    /// Whether a computation is cancelled when the last caller that waits for it leaves.
    @usableFromInline let cancelsUnobserved: Bool
    /// How often a closure was called for several keys.
    @usableFromInline let batches: (@Sendable () -> Int)?
    /// `nil` if values cannot be compared.
    @usableFromInline let areEqual = equality(of: Value.self)

    @_alwaysEmitIntoClient
    init(
      _ capacity: Memos<Key, Value, Failure>.Capacity,
      _ lifetime: Memos<Key, Value, Failure>.Lifetime, refreshingAfter: Duration?,
      servingStaleFor: Duration?, retriesFailures: Bool, cancelsUnobserved: Bool,
      report: (@Sendable (Table.Event) -> Void)?, batches: (@Sendable () -> Int)? = nil
    ) {
      (limit, cost) = (capacity.limit, capacity.cost)
      ages = Ages(
        lifetime: lifetime.rule, refreshingAfter: refreshingAfter, servingStaleFor: servingStaleFor)
      self.lifetime = lifetime.each
      self.cancelsUnobserved = cancelsUnobserved
      (self.retriesFailures, self.report, self.batches) = (retriesFailures, report, batches)
    }
  }

  /// The cell that computes a key. It runs nothing before a demand.
  @_alwaysEmitIntoClient
  func makeCell(_ key: Key, _ load: Table.Load) -> Cell {
    let evaluator =
      switch computation {
      case .plain(let compute): evaluator(of: key, load, compute)
      case .inTask(let compute): evaluator(of: key, load, compute)
      case .produced(let make): Evaluator(make(key, load, reference))
      case .recursive(let compute): evaluator(of: key, load, compute)
      case .recursiveInTask(let compute): evaluator(of: key, load, compute)
      }
    return Segment(owner: evaluator, capacity: 1)
  }

  @_alwaysEmitIntoClient
  func evaluator(
    of key: Key, _ load: Table.Load, _ compute: @escaping @Sendable (Key) throws(Failure) -> Value
  ) -> Evaluator<Value> {
    Evaluator(
      Producer<Value>(
        stage: "Memos",
        stepping: { [reference] _ in
          reference.finish(key, load, Result { () throws(Failure) in try compute(key) })
        }))
  }

  @_alwaysEmitIntoClient
  func evaluator(
    of key: Key, _ load: Table.Load,
    _ compute: @escaping @Sendable (Key) async throws(Failure) -> Value
  ) -> Evaluator<Value> {
    Evaluator(
      AsyncSteps<Value>(
        stage: "Memos",
        { [reference] steps in
          await steps.take {
            let result: Result<Value, Failure>
            do throws(Failure) { result = .success(try await compute(key)) } catch {
              result = .failure(error)
            }
            return reference.finish(key, load, result)
          }
        }))
  }

  // MARK: Recursive ones

  // The cell retains the store, and the store the cell, until the value is there or the memos are
  // released (`MemoOwner`).

  @_alwaysEmitIntoClient
  func evaluator(
    of key: Key, _ load: Table.Load,
    _ compute: @escaping @Sendable (Memos<Key, Value, Failure>, Key) throws(Failure) -> Value
  ) -> Evaluator<Value> {
    Evaluator(
      Producer<Value>(
        stage: "Memos",
        stepping: { _ in
          // It only looks at other keys, so there is nothing to wait for.
          var asker = self.nextStep(of: key, load, mayWait: false).asker
          while true {
            let memos = Memos(store: self, asker: asker)
            let result = Result { () throws(Failure) in try compute(memos, key) }
            switch self.finish(key, load, as: asker, result) {
            case .again(let next): asker = next
            case .hasEnded: return .of(result)
            }
          }
        }))
  }

  @_alwaysEmitIntoClient
  func evaluator(
    of key: Key, _ load: Table.Load,
    _ compute: @escaping @Sendable (Memos<Key, Value, Failure>, Key) async throws(Failure) -> Value
  ) -> Evaluator<Value> {
    Evaluator(
      AsyncSteps<Value>(
        stage: "Memos",
        { steps in
          await steps.take { await self.step(of: key, load, compute) }
        }))
  }

  /// Brings what a value was computed from up to date, if there is one, and runs the closure if need
  /// be.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func step(
    of key: Key, _ load: Table.Load,
    _ compute: @Sendable (Memos<Key, Value, Failure>, Key) async throws(Failure) -> Value
  ) async -> Step<Value> {
    var next = nextStep(of: key, load, mayWait: true)
    if case .demand = next {
      yieldToCycles(true)
      while case .demand(let chains) = next {
        let isUpToDate = await bringUpToDate(chains, for: load)
        if !isUpToDate {
          if Task.isCancelled, let cancellation = Failure.cancellation {
            yieldToCycles(false)
            return .nothing(.failed(cancellation))
          }
          recursiveEvent { table, _ in table.overrule(load) }
        }
        next = nextStep(of: key, load, mayWait: true)
      }
      yieldToCycles(false)
    }
    if case .unchanged(let value) = next { return .last(value) }
    var asker = next.asker
    while true {
      let result: Result<Value, Failure>
      do throws(Failure) {
        result = .success(try await compute(Memos(store: self, asker: asker), key))
      } catch {
        result = .failure(error)
      }
      switch finish(key, load, as: asker, result) {
      case .again(let next): asker = next
      case .hasEnded: return .of(result)
      }
    }
  }

  /// Brings the inputs of a value up to date: the lists at the same time, the keys of a list one after the
  /// other.
  ///
  /// - Returns: whether all are there; if not, the closure decides.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func bringUpToDate(_ chains: [[Key]], for load: Table.Load) async -> Bool
  {
    if chains.count == 1 { return await bringUpToDate(chains[0], for: load) }
    return await withTaskGroup(of: Bool.self) { group in
      for chain in chains { group.addTask { await self.bringUpToDate(chain, for: load) } }
      for await isUpToDate in group where !isUpToDate {
        group.cancelAll()
        return false
      }
      return true
    }
  }

  @_alwaysEmitIntoClient
  nonisolated(nonsending) func bringUpToDate(_ keys: [Key], for load: Table.Load) async -> Bool {
    for key in keys {
      // An input before it has changed: whether the others are of interest, the closure decides.
      guard table.withLock({ $0.isUnderReview(load) }) else { return false }
      switch answer(key, by: nil) {
      case .value: break
      case .failure: return false
      case .due(_, let cell): runAside(cell)
      case .pending(let cell):
        guard (try? await value(of: cell, for: key, throwing: (any Error).self)) != nil else {
          return false
        }
      }
    }
    return true
  }

  @_alwaysEmitIntoClient
  func nextStep(of key: Key, _ load: Table.Load, mayWait: Bool) -> Recursion.Review {
    let (now, task) = (now, runningTask())
    return recursiveEvent { table, leavings in
      if !mayWait { table.overrule(load) }
      return table.review(key, load, in: task, at: now, &leavings)
    }
  }

  // MARK: The end

  /// A computation has ended.
  ///
  /// - Returns: the value that stands in for a failure.
  @_alwaysEmitIntoClient
  func finish(_ key: Key, _ load: Table.Load, _ result: Result<Value, Failure>) -> Value? {
    let (outcome, now) = (outcome(of: result, key, isEqual: false), now)
    return event { table, leavings in table.finish(load, outcome, at: now, &leavings) }
  }

  /// The same for a computation that has asked for other keys.
  @_alwaysEmitIntoClient
  func finish(
    _ key: Key, _ load: Table.Load, as asker: Asker?, _ result: Result<Value, Failure>
  ) -> Recursion.Verdict {
    var isEqual = false
    if canCompare, case .success(let value) = result, let areEqual = rules.areEqual,
      let former = table.withLock({ $0.former(of: load) })
    {
      isEqual = areEqual(former, value)
    }
    let (outcome, now, task) = (outcome(of: result, key, isEqual: isEqual), now, runningTask())
    return recursiveEvent { table, leavings in
      table.finish(key, load, as: asker, outcome, in: task, at: now, &leavings)
    }
  }

  @_alwaysEmitIntoClient
  func outcome(
    of result: Result<Value, Failure>, _ key: Key, isEqual: Bool
  ) -> Table.Outcome {
    switch result {
    case .success(let value):
      .value(value, cost: cost(of: value), lifetime: lifetime(of: value, key), isEqual: isEqual)
    case .failure(let failure):
      .failure(
        failure, isRemembered: !rules.retriesFailures && !(failure is CancellationError))
    }
  }

  /// Names a cell that a step is about to wait for: only these can be part of a cycle. A test that
  /// explores orders names all that are waited for.
  @usableFromInline
  func nameForCycles(_ cell: Cell, _ key: Key) {
    guard WorkerToken.runningWorker != nil || Exploring.isOn else { return }
    cell.evaluator?.name(
      ListName(
        Title(
          "Memos[\(String(reflecting: key))]",
          remedy:
            "give one of these keys a value that does not depend on the others; to follow links that "
            + "lead back, as those of pages do, let the memos give the links of one key, and follow them "
            + "outside, with a set of the keys seen")))
  }
}

/// Whether the running step only looks whether a former value is still right: a cycle through its waits is
/// none of the values', and ends these waits.
@usableFromInline
func yieldToCycles(_ isOn: Bool) { StepExecutor.yieldToCycles(isOn) }

extension MemoStore.Reference {
  /// The step of a cell that has computed a result. The table gets it, too, if the memos are still
  /// there.
  @_alwaysEmitIntoClient
  func finish(
    _ key: Key, _ load: MemoStore.Table.Load, _ result: Result<Value, Failure>
  ) -> Step<Value> {
    if let value = store?.finish(key, load, result) { return .last(value) }
    return .of(result)
  }
}

extension RecursiveTable.Review {
  @_alwaysEmitIntoClient var asker: DependencyGraph.Asker? {
    switch self {
    case .compute(let asker): asker
    case .demand, .unchanged: nil
    }
  }
}

extension Step {
  @_alwaysEmitIntoClient
  static func of(_ result: Result<Element, some Error>) -> Step {
    switch result {
    case .success(let value): .last(value)
    case .failure(let failure): .nothing(.failed(failure))
    }
  }
}

/// Compares two values of a type, if it can be done.
@usableFromInline
func equality<Value>(of type: Value.Type) -> (@Sendable (Value, Value) -> Bool)? {
  guard type is any Equatable.Type else { return nil }
  return { one, other in
    guard let one = one as? any Equatable else { return false }
    return isEqual(one, other)
  }
}

private func isEqual<Known: Equatable>(_ one: Known, _ other: Any) -> Bool {
  other as? Known == one
}
