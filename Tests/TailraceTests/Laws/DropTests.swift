import Tailrace
import TailraceTesting
import Testing

/// Everything that nobody can read any more is released, for every operator, at any moment.
///
/// All tasks of a case run on one serial executor. So the moment at which a reader leaves is a number of
/// turns, and what has to happen afterwards has happened after a number of turns.
@Suite(
  "Dropped at any moment, everything is released and what runs is cancelled", .tags(.long),
  .hangLimit, .inTurn)
struct DropTests {
  /// Enough for a chain of tasks that end one after the other, and for a thread that is late to release
  /// the last reference: other suites keep the processors busy.
  private static let turns = 200_000
  private static let moments = [0, 1, 2, 3, 5, 8, 13, 21, 34]

  @Test("by a reader that is cancelled before the task of its list has taken a step")
  func beforeTheFirstStep() async {
    weak var executor: InlineExecutor?
    do {
      let preferred = InlineExecutor()
      executor = preferred
      let plain = LazyList<Int, any Error>([1]).onEach { _ in
        withUnsafeCurrentTask { $0?.cancel() }
      }
      let list = plain.zip(LazyList([2]).mapAsync { $0 }.setFailureType(to: (any Error).self))
      let reader = Task(executorPreference: preferred) { [list] in try await list.array() }
      await #expect(throws: CancellationError.self) { try await reader.value }
      #expect(list.evaluatedCount == 0)
    }
    for _ in 0..<Self.turns where executor != nil { await Task.yield() }
    #expect(executor == nil, "the list's task is held, and with it the executor that it prefers")
  }

  @Test("by a reader that is cancelled, and by who holds the list", arguments: Row.all)
  func leaving(_ row: Row) async {
    await onSerialExecutors { executor in
      for source in Source.allCases {
        for (number, moment) in Self.moments.enumerated() {
          let reading = Reading.allCases[number % Reading.allCases.count]
          for isListFirst in [false, true] {
            let kept = await Self.drop(row, source, reading, at: moment, isListFirst, executor)
            if let kept {
              return "\(source), \(reading), at \(moment), the list first: \(isListFirst): \(kept)"
            }
          }
        }
      }
      return nil
    }
  }

  @Test("also a list that a closure of the operator is the first to read", arguments: Row.all)
  func inside(_ row: Row) async {
    await onSerialExecutors { executor in
      for source in [Source.plain, .asynchronous] {
        for inner in [Source.asynchronous, .stuckLater] {
          for moment in Self.moments {
            let kept = await Self.dropInside(row, source, inner, at: moment, executor)
            if let kept { return "\(source), inside \(inner), at \(moment): \(kept)" }
          }
        }
      }
      return nil
    }
  }

  @Test("a list that has ended holds nothing of what made it", arguments: Row.all)
  func ended(_ row: Row) async {
    await onSerialExecutors { executor in
      for source in [Source.plain, .asynchronous, .asyncSequence] {
        let instances = InstanceCounter()
        weak var probe: Probe<Int>?
        var calls: Calls? = Calls()
        probe = calls?.probe
        var list = calls.map { row.apply(source.make(instances.member()), $0) }
        calls = nil
        let elements = try? await list?.array()
        await Self.turns { instances.alive == 0 && probe == nil }
        if instances.alive > 0 { return "\(source): its source is held" }
        if probe != nil { return "\(source): its closure is held" }
        if elements != row.elements || list?.evaluatedCount != row.elements.count {
          return "\(source): \(elements ?? [])"
        }
        list = nil
      }
      return nil
    }
  }

  @Test("on all threads at once", arguments: Row.all)
  func racing(_ row: Row) async {
    #if DEBUG
      let rounds = 10
    #else
      let rounds = 200
    #endif
    let (instances, watch) = (InstanceCounter(), HangWatch())
    watch.begins { "\(row.name): something is held" }
    defer { watch.stop() }
    await withTaskGroup { group in
      for round in 0..<rounds {
        group.addTask {
          let source = Source.allCases[round % Source.allCases.count]
          let list = row.apply(source.make(instances.member()), Calls())
          let reading = Reading.allCases[round / 5 % Reading.allCases.count]
          let readers = (0...round % 2).map { _ in Task { await reading.read(list) } }
          for _ in 0..<round % 7 { await Task.yield() }
          for reader in readers { reader.cancel() }
          if round % 3 == 0 { for reader in readers { await reader.value } }
        }
      }
    }
    // This waits for ever where something is held.
    await instances.waitUntilEmpty()
  }

  // MARK: Cases

  /// The source of an operator. All of them give 1, 2, 3 …
  enum Source: CaseIterable {
    case plain, asynchronous, asyncSequence
    /// A step that ends when its task is cancelled: the first one, and the third.
    case stuckAtOnce, stuckLater

    func make(_ token: InstanceCounter.Member) -> Row.Source {
      switch self {
      case .plain:
        return Row.Source(state: 0) { state throws in
          withExtendedLifetime(token) { state < 6 ? Self.next(&state) : nil }
        }
      case .asyncSequence:
        return Steps(6) { position in
          withExtendedLifetime(token) { position + 1 }
        }.memoized()
      case .asynchronous, .stuckAtOnce, .stuckLater:
        let stuck = self == .stuckAtOnce ? 0 : self == .stuckLater ? 2 : .max
        return Row.Source(state: 0) { state async throws in
          await Task.yield()
          if state == stuck { try await Gate().waitUntilCancelled() }
          return withExtendedLifetime(token) { state < 6 ? Self.next(&state) : nil }
        }
      }
    }

    private static func next(_ state: inout Int) -> Int {
      state += 1
      return state
    }
  }

  enum Reading: CaseIterable {
    case iteration, whole, element, derived, leaving

    func read(_ list: Row.Source) async {
      switch self {
      case .iteration: do { for try await _ in list {} } catch {}
      case .whole: _ = try? await list.array()
      case .element: _ = try? await list.element(at: 4)
      case .derived: _ = try? await list.mapAsync { $0 }.map { $0 }.count()
      case .leaving: do { for try await element in list where element > 1 { break } } catch {}
      }
    }
  }

  /// Returns what is still held when nothing is to be.
  private static func drop(
    _ row: Row, _ source: Source, _ reading: Reading, at moment: Int, _ isListFirst: Bool,
    _ executor: PerturbingExecutor
  ) async -> String? {
    let instances = InstanceCounter()
    weak var probe: Probe<Int>?
    do {
      var calls: Calls? = Calls()
      probe = calls?.probe
      var list = calls.map { row.apply(source.make(instances.member()), $0) }
      calls = nil
      let reader = Task(executorPreference: executor) { [list] in
        if let list { await reading.read(list) }
      }
      await turns(moment)
      if isListFirst { list = nil }
      reader.cancel()
      await reader.value
      list = nil
    }
    await turns { instances.alive == 0 && probe == nil }
    if instances.alive > 0 { return "the source is held" }
    return probe == nil ? nil : "the operator's closure is held"
  }

  private static func dropInside(
    _ row: Row, _ source: Source, _ inner: Source, at moment: Int, _ executor: PerturbingExecutor
  ) async -> String? {
    let instances = InstanceCounter()
    do {
      var calls: Calls? = Calls()
      do {
        let inner = inner.make(instances.member())
        calls?.beforeAsync = { element in _ = try? await inner.element(at: element) }
      }
      var list = calls.map { row.apply(source.make(instances.member()), $0) }
      calls = nil
      let reader = Task(executorPreference: executor) { [list] in _ = try? await list?.array() }
      await turns(moment)
      reader.cancel()
      await reader.value
      list = nil
    }
    await turns { instances.alive == 0 }
    return instances.alive == 0 ? nil : "\(instances.alive) of 2 sources are held"
  }

  // MARK: Turns

  private static func turns(_ count: Int) async { for _ in 0..<count { await Task.yield() } }

  private static func turns(until isDone: () -> Bool) async {
    for _ in 0..<turns {
      if isDone() { return }
      await Task.yield()
    }
  }

  /// Runs cases in the order in which tasks are started, and in some others.
  private func onSerialExecutors(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (PerturbingExecutor) async -> String?
  ) async {
    #if DEBUG
      let seeds = 0..<2 as Range<UInt64>
    #else
      let seeds = 0..<20 as Range<UInt64>
    #endif
    for seed in seeds {
      let executor = PerturbingExecutor(
        seed: seed, isSerial: true, reordering: seed == 0 ? 0 : Int(seed % 3) + 1)
      let problem = await Task(executorPreference: executor) { await body(executor) }.value
      if let problem {
        Issue.record("\(executor): \(problem)", sourceLocation: sourceLocation)
        return
      }
    }
  }
}
