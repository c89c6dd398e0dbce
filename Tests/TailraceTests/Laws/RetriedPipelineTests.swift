import Dispatch
import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

/// `TAILRACE_PIPELINES` sets how many are read, `TAILRACE_SEED` where they begin.
@Suite(
  "Failures that are retried are told to those who waited for that attempt", .tags(.long),
  .hangLimit, .inTurn)
struct RetriedPipelineTests {
  private static let rounds = RandomCases.count(
    "TAILRACE_PIPELINES", usual: 500, debug: 1_000, optimised: 20_000, full: 5)

  @Test("with every operator, several readers, and whole-list calls")
  func pipelines() async { await Fuzz.run(RetriedPipeline.self, rounds: Self.rounds) }

  @Test("with one operator that may fail, and readers of its elements")
  func short() async { await Fuzz.run(ShortPipeline.self, rounds: Self.rounds) }

  @Test("with a catch at the end, which stands where it was told a failure")
  func caught() async { await Fuzz.run(CaughtPipeline.self, rounds: Self.rounds) }
}

/// Stages, some of which fail for now, over 0, 1, 2 …, and readers of the lists between them.
///
/// Each failure says which attempt it was. So it can be told whether a reader heard of an attempt at the
/// position that it demanded; whether it heard of it once; and whether it came before somebody had been
/// told.
struct RetriedPipeline: FuzzCase {
  typealias List = LazyList<Int, any Error>

  /// A failed attempt.
  struct Told: Error, Hashable {
    let stage: Int
    let position: Int
    let attempt: Int
  }

  /// Stages that may fail. The first two have no list below them.
  enum Failing: CaseIterable {
    case state, sequence, map, mapAsync, compactMap, compactMapAsync, flatMap, flatMapAsync
    case concurrentMap, concurrentMapOfFour
  }

  /// Stages that do not, and pass on what does.
  enum Passing: CaseIterable {
    case map, mapAsync, filterAsync, flatMap, joined, prefetching, prefetchingThree, concurrentMap
    case mapFailure, throwingCancellation, onEachAsync, removeDuplicates, zipped, appended, deferred
    /// One failure, or two, are caught, and the list goes on where it has failed.
    case caught, caughtTwice

    /// Attempts are made that nobody waits for.
    var looksAhead: Bool {
      switch self {
      case .prefetching, .prefetchingThree, .concurrentMap: true
      default: false
      }
    }
  }

  enum Stage {
    case passing(Passing)
    /// How often each position fails, and how long the attempts take.
    case failing(Failing, failures: [Int])
  }

  enum Question: CaseIterable {
    case elements, iterator, array, count, heads, derived, search, fold
  }

  struct Reader {
    var question: Question
    /// The stage whose list is read.
    var stage: Int
    /// Turns that it waits between two questions.
    var pause: Int
    /// After how many turns it is cancelled.
    var leavesAfter: Int?
  }

  var length: Int
  var stages: [Stage]
  var readers: [Reader]
  /// How many read what a `catch` makes of the last stage.
  var catching: Int
  /// How long an attempt takes, in turns, by position.
  var pauses: [Int]
  var executor: Perturbation

  init(_ generator: inout SeededGenerator) { self.init(random: &generator) }

  init(
    random generator: inout SeededGenerator, stages: ClosedRange<Int> = 1...4,
    readers: ClosedRange<Int> = 1...5, catching: ClosedRange<Int> = 0...2, perturbs: Bool = true
  ) {
    let length = Int.random(in: 1...14, using: &generator)
    self.length = length
    let count = Int.random(in: stages, using: &generator)
    // One of the stages may fail, at least.
    let failing = Int.random(in: 0..<count, using: &generator)
    self.stages = (0..<count).map { number in
      guard number == failing || Int.random(in: 0...4, using: &generator) == 0 else {
        return .passing(Passing.allCases.randomElement(using: &generator)!)
      }
      let kinds = number == 0 ? Failing.allCases : Array(Failing.allCases.dropFirst(2))
      let rarity = Int.random(in: 1...4, using: &generator)
      return .failing(
        kinds.randomElement(using: &generator)!,
        failures: (0..<length).map { _ in
          Int.random(in: 0..<rarity, using: &generator) > 0
            ? 0 : Int.random(in: 1...2, using: &generator)
        })
    }
    self.readers = (0..<Int.random(in: readers, using: &generator)).map { _ in
      Reader(
        question: Question.allCases.randomElement(using: &generator)!,
        stage: Bool.random(using: &generator)
          ? count - 1 : Int.random(in: 0..<count, using: &generator),
        pause: Int.random(in: 0...3, using: &generator),
        leavesAfter: Int.random(in: 0...4, using: &generator) == 0
          ? Int.random(in: 0...20, using: &generator) : nil)
    }
    self.catching =
      Bool.random(using: &generator) ? 0 : Int.random(in: catching, using: &generator)
    pauses = (0..<length).map { _ in Int.random(in: 0...6, using: &generator) }
    executor = perturbs ? Perturbation(&generator) : .none
  }

  var description: String {
    let stages = stages.enumerated().map { number, stage in
      switch stage {
      case .passing(let kind): "\(number) \(kind)"
      case .failing(let kind, let failures): "\(number) \(kind) fails \(failures)"
      }
    }
    let readers = readers.map { reader in
      "\(reader.question) of \(reader.stage), pause \(reader.pause)"
        + (reader.leavesAfter.map { ", cancelled after \($0)" } ?? "")
    }
    return """
      \(length) elements, executor \(executor), \(catching) readers of the catch
        stages \(stages.joined(separator: "; "))
        readers \(readers.joined(separator: "; "))
        pauses \(pauses)
      """
  }

  var smaller: [Self] {
    var cases: [Self] = []
    func add(_ change: (inout Self) -> Void) {
      var smaller = self
      change(&smaller)
      cases.append(smaller)
    }
    if stages.count > 1 {
      add { $0.remove(stages.count - 1) }
      for stage in 1..<stages.count - 1 { add { $0.remove(stage) } }
    }
    for fewer in Set([length / 2, length - 1]).sorted() where fewer > 0 {
      add { $0.length = fewer }
    }
    for reader in readers.indices where readers.count + catching > 1 {
      add { $0.readers.remove(at: reader) }
    }
    if catching > 0 { add { $0.catching -= 1 } }
    if executor != .none { add { $0.executor = .none } }
    for (number, stage) in stages.enumerated() {
      guard case .failing(let kind, let failures) = stage else { continue }
      for position in 0..<length where failures[position] > 0 {
        var fewer = failures
        fewer[position] -= 1
        add { $0.stages[number] = .failing(kind, failures: fewer) }
      }
    }
    for reader in readers.indices where readers[reader].leavesAfter != nil {
      add { $0.readers[reader].leavesAfter = nil }
    }
    return cases
  }

  private mutating func remove(_ stage: Int) {
    stages.remove(at: stage)
    for reader in readers.indices where readers[reader].stage >= stage && stage > 0 {
      readers[reader].stage -= 1
    }
  }

  // MARK: Running

  func problems() async -> [String] {
    let run = Run(self)
    var lists: [List] = []
    for (number, stage) in stages.enumerated() {
      switch stage {
      case .passing(let kind):
        lists.append(
          kind.make(lists.last ?? List(0..<length)) { run.log.caught($0, below: number) })
      case .failing(let kind, _):
        lists.append(
          kind.make(lists.last, length) {
            try await run.attempt(number, $0)
          } plain: {
            try run.attemptNow(number, $0)
          })
      }
    }
    let made = lists
    let caught = made[made.count - 1].catch { failure in
      guard let told = failure as? Told else { return [-1] }
      run.log.caught(told, below: made.count)
      return [-1000 - told.position]
    }
    let executor = executor.make()
    await withTaskGroup { group in
      for reader in readers {
        group.addTask {
          let task = Task(executorPreference: executor) {
            await run.read(made[reader.stage], reader)
          }
          if let turns = reader.leavesAfter {
            for _ in 0..<turns { await Task.yield() }
            task.cancel()
          }
          await task.value
        }
      }
      for _ in 0..<catching {
        group.addTask {
          await Task(executorPreference: executor) { for await _ in caught {} }.value
        }
      }
    }
    let caughtAt = catching > 0 ? run.check(await caught.array()) : nil
    run.checkCalls(caughtAt: catching > 1 ? caughtAt : nil)
    run.log.checkCaught()
    return run.log.problems
  }
}

/// One stage that may fail, and one before it, and readers of elements.
struct ShortPipeline: FuzzCase {
  var pipeline: RetriedPipeline

  init(_ generator: inout SeededGenerator) {
    pipeline = RetriedPipeline(
      random: &generator, stages: 1...2, readers: 1...3, catching: 0...0, perturbs: false)
    for reader in pipeline.readers.indices { pipeline.readers[reader].leavesAfter = nil }
  }

  private init(_ pipeline: RetriedPipeline) { self.pipeline = pipeline }

  func problems() async -> [String] { await pipeline.problems() }
  var smaller: [ShortPipeline] { pipeline.smaller.map(ShortPipeline.init) }
  var description: String { pipeline.description }
}

/// A list with readers of its own, one stage over it, and readers of a `catch`.
struct CaughtPipeline: FuzzCase {
  var pipeline: RetriedPipeline

  init(_ generator: inout SeededGenerator) {
    pipeline = RetriedPipeline(
      random: &generator, stages: 2...3, readers: 1...3, catching: 1...2, perturbs: false)
    pipeline.catching = Int.random(in: 1...2, using: &generator)
    for reader in pipeline.readers.indices { pipeline.readers[reader].leavesAfter = nil }
  }

  private init(_ pipeline: RetriedPipeline) { self.pipeline = pipeline }

  func problems() async -> [String] { await pipeline.problems() }
  var smaller: [CaughtPipeline] { pipeline.smaller.map(CaughtPipeline.init) }
  var description: String { pipeline.description }
}

// MARK: Stages

extension RetriedPipeline.Failing {
  fileprivate typealias List = RetriedPipeline.List

  /// - Parameters:
  ///   - attempt: gives the element at a position, or fails.
  ///   - plain: the same for a plain step.
  fileprivate func make(
    _ list: List?, _ length: Int, _ attempt: @escaping @Sendable (Int) async throws -> Int,
    plain: @escaping @Sendable (Int) throws -> Int
  ) -> List {
    let below = list ?? List(0..<length)
    switch self {
    case .state:
      return List(state: 0, retryingFailures: true) { position async throws -> Int? in
        guard position < length else { return nil }
        let element = try await attempt(position)
        position += 1
        return element
      }
    case .sequence: return Steps(length, attempt).memoized(retryingFailures: true)
    case .map: return below.map(retryingFailures: true) { try plain($0) }
    case .mapAsync:
      return below.map(retryingFailures: true) { position async throws in
        try await attempt(position)
      }
    case .compactMapAsync:
      return below.map(retryingFailures: true) { position async throws -> Int? in
        try await attempt(position)
      }.compacted()
    case .compactMap:
      return below.map(retryingFailures: true) { Optional(try plain($0)) }.compacted()
    case .flatMap: return below.map(retryingFailures: true) { [try plain($0)] }.joined()
    case .flatMapAsync:
      return below.map(retryingFailures: true) { position async throws in
        List([try await attempt(position)])
      }.joined()
    case .concurrentMap, .concurrentMapOfFour:
      return below.concurrentMap(limit: self == .concurrentMap ? 2 : 4, retryingFailures: true) {
        position async throws in try await attempt(position)
      }
    }
  }

  /// Attempts are made that nobody waits for.
  fileprivate var looksAhead: Bool { self == .concurrentMap || self == .concurrentMapOfFour }
}

extension RetriedPipeline.Passing {
  /// - Parameter catches: is told of each failure that is caught.
  fileprivate func make(
    _ list: RetriedPipeline.List, catches: @escaping @Sendable (RetriedPipeline.Told) -> Void
  ) -> RetriedPipeline.List {
    /// The list from the failed element on.
    @Sendable func again(_ failure: any Error) -> RetriedPipeline.List {
      guard let told = failure as? RetriedPipeline.Told else { return .failing(failure) }
      catches(told)
      return list.dropFirst(told.position)
    }
    return switch self {
    case .map: list.map { $0 }
    case .mapAsync: list.mapAsync { $0 }
    case .filterAsync:
      list.filterAsync { _ in
        await Task.yield()
        return true
      }
    case .flatMap: list.flatMap { [$0] }
    case .joined: list.map { RetriedPipeline.List([$0]) }.joined()
    case .prefetching: list.prefetching(1)
    case .prefetchingThree: list.prefetching(3)
    case .concurrentMap:
      list.concurrentMap(limit: 3) { element in
        await Task.yield()
        return element
      }
    case .mapFailure: list.mapFailure { $0 }
    case .throwingCancellation: list.throwingCancellation
    case .onEachAsync: list.onEach { _ async in await Task.yield() }
    case .removeDuplicates: list.removeDuplicates()
    case .zipped: list.zip(LazyList(0...).setFailureType()).map { $0.0 }
    case .appended: list + []
    case .deferred: .deferred { list }
    case .caught: list.catch { again($0) }
    case .caughtTwice: list.catch { again($0).catch { again($0) } }
    }
  }
}

// MARK: The log of attempts and failures

extension RetriedPipeline {
  fileprivate final class Log: Sendable {
    private struct State: Sendable {
      var time = 0
      var calls: [[Int]]
      var failed: Set<Told> = []
      /// When the readers of a list first knew of an attempt.
      var known: [Int: [Told: Int]] = [:]
      /// The lowest stage that has caught a failure.
      var caught: [Told: Int] = [:]
      var problems: [String] = []
    }

    private let state: Locked<State>

    init(_ stages: Int, _ length: Int) {
      state = Locked(
        State(calls: Array(repeating: Array(repeating: 0, count: length), count: stages)))
    }

    var problems: [String] { state.withLock { $0.problems } }
    func problem(_ text: String) { state.withLock { $0.problems.append(text) } }
    var calls: [[Int]] { state.withLock { $0.calls } }

    func caught(_ told: Told, below stage: Int) {
      state.withLock { $0.caught[told] = min(stage, $0.caught[told] ?? stage) }
    }

    /// A failure that was caught is told to nobody above.
    func checkCaught() {
      state.withLock { state in
        for (key, known) in state.known {
          let stage = key < 0 ? -1 - key : key
          for told in known.keys where state.caught[told, default: .max] <= stage {
            state.problems.append("\(stage) was told \(told), which was caught below")
          }
        }
      }
    }

    /// Failed attempts that nobody has heard of.
    var untold: Set<Told> {
      state.withLock { state in
        state.known.values.reduce(state.failed.subtracting(state.caught.keys)) {
          $0.subtracting($1.keys)
        }
      }
    }

    func begins(_ stage: Int, _ position: Int) -> Int {
      state.withLock { state in
        state.calls[stage][position] += 1
        return state.calls[stage][position]
      }
    }

    func fails(_ told: Told) { state.withLock { _ = $0.failed.insert(told) } }

    func now() -> Int {
      state.withLock { state in
        state.time += 1
        return state.time
      }
    }

    /// A reader of a list was told. Returns whether others had been told before its demand.
    func tells(_ told: Told, of stage: Int, demandedAt start: Int) -> Bool {
      state.withLock { state in
        state.time += 1
        if let first = state.known[stage]?[told] { return first < start }
        state.known[stage, default: [:]][told] = state.time
        return false
      }
    }
  }

  fileprivate struct Run: Sendable {
    let pipeline: RetriedPipeline
    let log: Log

    init(_ pipeline: RetriedPipeline) {
      self.pipeline = pipeline
      log = Log(pipeline.stages.count, pipeline.length)
    }

    // MARK: Attempts

    func attempt(_ stage: Int, _ position: Int) async throws -> Int {
      let attempt = log.begins(stage, position)
      let pause = pipeline.pauses[position]
      if pause == 6 {
        await withUnsafeContinuation { continuation in
          DispatchQueue.global().async { continuation.resume() }
        }
      } else {
        for _ in 0..<pause { await Task.yield() }
      }
      return try end(stage, position, attempt)
    }

    func attemptNow(_ stage: Int, _ position: Int) throws -> Int {
      try end(stage, position, log.begins(stage, position))
    }

    private func end(_ stage: Int, _ position: Int, _ attempt: Int) throws -> Int {
      guard case .failing(_, let failures) = pipeline.stages[stage] else { return position }
      if attempt <= failures[position] {
        let told = Told(stage: stage, position: position, attempt: attempt)
        log.fails(told)
        throw told
      }
      if attempt > failures[position] + 1 {
        log.problem("stage \(stage) ran again at \(position), after it had succeeded")
      }
      return position
    }

    // MARK: Readers

    func read(_ list: List, _ reader: Reader) async {
      var ear = Ear(reader: reader, log: log)
      switch reader.question {
      case .elements:
        await each(&ear) { try await list.element(at: $0) }
      case .heads:
        await each(&ear) { try await list.dropFirst($0).head() }
      case .derived:
        let derived = list.mapFailure { $0 }
        ear.isDerived = true
        await each(&ear) { try await derived.element(at: $0) }
      case .iterator:
        var iterator = list.makeAsyncIterator()
        var position = 0
        while !Task.isCancelled {
          let start = log.now()
          do {
            guard let element = try await iterator.next(isolation: nil) else { break }
            if element != position { log.problem("\(element) at \(position)") }
            position += 1
          } catch { ear.hears(error, position, start) }
          await pause(reader)
        }
        if position < pipeline.length, !Task.isCancelled { log.problem("an iterator ended early") }
      case .search:
        await each(&ear) { position in try await list.first { $0 == position } }
      case .fold:
        while !Task.isCancelled {
          let start = log.now()
          var position = 0
          do {
            try await list.forEach { element in
              if element != position { log.problem("\(element) at \(position)") }
              position += 1
            }
            if position != pipeline.length { log.problem("a fold of \(position) elements") }
            break
          } catch { ear.hears(error, position, start) }
          await pause(reader)
        }
      case .array, .count:
        while !Task.isCancelled {
          let (start, known) = (log.now(), list.evaluatedCount)
          do {
            if reader.question == .count {
              let count = try await list.count()
              if count != pipeline.length { log.problem("a count of \(count)") }
            } else {
              let elements = try await list.array()
              if elements != Array(0..<pipeline.length) { log.problem("an array \(elements)") }
            }
            break
          } catch { ear.hears(error, nil, start, known: known) }
          await pause(reader)
        }
      }
    }

    private func each(_ ear: inout Ear, _ ask: (Int) async throws -> Int?) async {
      var position = 0
      while position < pipeline.length, !Task.isCancelled {
        let start = log.now()
        do {
          let element = try await ask(position)
          if element != position { log.problem("\(element ?? -1) at \(position)") }
          position += 1
        } catch { ear.hears(error, position, start) }
        await pause(ear.reader)
      }
    }

    private func pause(_ reader: Reader) async { for _ in 0..<reader.pause { await Task.yield() } }

    /// The failures that one reader has heard of.
    struct Ear {
      let reader: Reader
      let log: Log
      var heard: Set<Told> = []
      /// It reads a list of its own over the one that it shares.
      var isDerived = false

      init(reader: Reader, log: Log) {
        self.reader = reader
        self.log = log
      }

      /// - Parameters:
      ///   - position: that of the element that was demanded; `nil` for all.
      ///   - start: when it was.
      ///   - known: how many elements there were then.
      mutating func hears(_ error: any Error, _ position: Int?, _ start: Int, known: Int = 0) {
        guard let told = error as? Told else {
          if !(error is CancellationError && Task.isCancelled) { log.problem("\(error)") }
          return
        }
        let name = "\(reader.question) of \(reader.stage)"
        if told.stage > reader.stage { log.problem("\(name): a later stage's \(told)") }
        if let position, told.position != position {
          log.problem("\(name): demanded \(position), was told \(told)")
        }
        if told.position < known {
          log.problem("\(name): there were \(known), was told \(told)")
        }
        if !heard.insert(told).inserted { log.problem("\(name): was told twice, \(told)") }
        let stage = isDerived ? -1 - reader.stage : reader.stage
        if log.tells(told, of: stage, demandedAt: start), !isDerived {
          log.problem("\(name): came after others had been told, \(told)")
        }
      }
    }

    // MARK: Afterwards

    /// The elements of a `catch`. Returns the position whose failure it has caught.
    func check(_ elements: [Int]) -> Int? {
      var whole = elements
      var caughtAt: Int?
      if let last = elements.last, last < 0 {
        whole.removeLast()
        caughtAt = -1000 - last
        if -1000 - last != whole.count {
          log.problem("the failure of \(-1000 - last) was caught at \(whole.count)")
        }
      } else if elements.count != pipeline.length {
        log.problem("the catch ended after \(elements.count)")
      }
      if whole != Array(0..<whole.count) { log.problem("the catch has \(elements)") }
      return caughtAt
    }

    /// - Parameter caughtAt: where several readers of a `catch` have met its element. Who waits for
    ///   another attempt there gets that element, and is not told how the attempt ended.
    func checkCalls(caughtAt: Int?) {
      // Attempts that were made ahead, or for somebody who left, may be told to nobody.
      let isAhead = pipeline.stages.contains { stage in
        switch stage {
        case .passing(let kind): kind.looksAhead
        case .failing(let kind, _): kind.looksAhead
        }
      }
      let calls = log.calls
      if !isAhead, pipeline.readers.allSatisfy({ $0.leavesAfter == nil }) {
        // A later attempt that has brought the element is answer enough for those who waited.
        for told in log.untold
        where calls[told.stage][told.position] == told.attempt && told.position != caughtAt {
          log.problem("nobody was told \(told), and there was no other attempt")
        }
      }
      // A reader that has read to the end has had every step succeed.
      guard
        pipeline.readers.contains(where: {
          $0.leavesAfter == nil && $0.stage == pipeline.stages.count - 1
        })
      else { return }
      for (number, stage) in pipeline.stages.enumerated() {
        guard case .failing(_, let failures) = stage else { continue }
        for position in 0..<pipeline.length
        where log.calls[number][position] != failures[position] + 1 {
          log.problem("stage \(number) ran \(log.calls[number][position]) times at \(position)")
        }
      }
    }
  }
}
