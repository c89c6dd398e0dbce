import Tailrace

/// One run of an exploration, as a value: what is ready to run, who sleeps, and what has happened.
///
/// Jobs become ready in the order in which they arrive. `next` takes one of them, as the chooser says;
/// when none is ready, the time goes on to that of the next sleeper.
struct RunState: Sendable {
  /// Where a job runs.
  enum Place: Sendable {
    /// On the executor of the run, which its task prefers.
    case executor
    /// On the default executor of the process.
    case global
    /// On the main actor.
    case main
  }

  enum Piece: Sendable {
    case job(UnownedJob, on: Place)
    case work(ScheduledWork)
  }

  private struct Ready: Sendable {
    let piece: Piece
    /// The task, as the runtime numbers them; 0 for work and for jobs of actors.
    let task: UInt64
  }

  enum Sleeping: Sendable {
    /// Continues with whether it has slept to the end.
    case task(UnsafeContinuation<Bool, Never>)
    case work(ScheduledWork)
    /// The job that ends a sleep of the standard library.
    case job(UnownedJob)
  }

  private struct Sleeper: Ordered, Sendable {
    let date: VirtualScheduler.Instant
    let number: Int

    func comes(before other: Sleeper) -> Bool { (date, number) < (other.date, other.number) }
  }

  enum Next: Sendable {
    /// A step to run.
    case run(Piece)
    /// A task that has slept goes on.
    case wake(UnsafeContinuation<Bool, Never>)
    /// Something has changed: ask again.
    case again
    /// Nothing can run, and the body has not ended.
    case idle
    case over
    case tooLong
  }

  private let timeIsFree: Bool
  private var stepsLeft: Int
  private var ready: [Ready] = []
  /// Jobs that only put another job in line: those of yields.
  private var bare: [Piece] = []
  private var sleepers = Heap<Sleeper>()
  private var sleeping: [Int: Sleeping] = [:]
  private var sleepCount = 0
  /// Sleeps that were cancelled before they began.
  private var cancelled: Set<Int> = []
  private var idler: (number: Int, UnsafeContinuation<Bool, Never>)?
  private var idles = 0

  private(set) var now = VirtualScheduler.Instant.start
  private(set) var steps = 0
  private(set) var fromOutside = 0
  /// The body and all tasks that it has spawned have ended, or it has failed.
  private(set) var isOver = false
  /// The run is over, and all its tasks have been asked to end: no more choices.
  private(set) var isClosing = false
  private(set) var isClosed = false
  /// How many jobs may still come when the run is closed.
  private var lateJobsLeft = 1_000
  private(set) var problem: ExplorationFailure.Reason?
  var chooser: Chooser
  var story: Story?

  init(_ chooser: Chooser, timeIsFree: Bool, stepLimit: Int, story: Story?) {
    (self.chooser, self.timeIsFree, self.story) = (chooser, timeIsFree, story)
    stepsLeft = stepLimit
  }

  // MARK: Arrivals

  /// A job has become ready. Returns who waits for that.
  mutating func arrives(
    _ piece: Piece, task: UInt64, isBare: Bool, isOutside: Bool
  ) -> UnsafeContinuation<Bool, Never>? {
    if isOutside {
      comesFromOutside(task)
    } else if task != 0 {
      story?.arrives(task)
    }
    if isBare { bare.append(piece) } else { ready.append(Ready(piece: piece, task: task)) }
    return wakesIdler()
  }

  private mutating func comesFromOutside(_ task: UInt64) {
    fromOutside += 1
    story?.arrivesFromOutside(task)
  }

  private mutating func wakesIdler() -> UnsafeContinuation<Bool, Never>? {
    defer { idler = nil }
    return idler?.1
  }

  /// A job comes when the run is closed: it runs elsewhere, so that its task can end. False if there were
  /// too many: their tasks do not end.
  mutating func arrivesLate() -> Bool {
    lateJobsLeft -= 1
    return lateJobsLeft >= 0
  }

  // MARK: Time

  /// A task is about to sleep. Returns the number of its sleep.
  mutating func beginsSleep() -> Int {
    sleepCount += 1
    return sleepCount
  }

  enum Bedtime: Sendable {
    /// It sleeps. The driver may wait for that.
    case sleeps(waking: UnsafeContinuation<Bool, Never>?)
    /// Its sleep has been cancelled, or the run is over.
    case isOver
  }

  /// A task sleeps, or work or a job waits for its date.
  mutating func sleeps(
    _ sleeping: Sleeping, _ number: Int, until date: VirtualScheduler.Instant, isOutside: Bool
  ) -> Bedtime {
    if isOutside, !isClosing { comesFromOutside(0) }
    if cancelled.remove(number) != nil || isClosing { return .isOver }
    self.sleeping[number] = sleeping
    if !isOutside { story?.sleeps(number) }
    sleepers.insert(Sleeper(date: max(date, now), number: number))
    return .sleeps(waking: wakesIdler())
  }

  /// A job waits for its date. When the run is over, it is ready at once.
  mutating func sleeps(
    _ job: UnownedJob, for delay: Duration, isOutside: Bool
  ) -> UnsafeContinuation<Bool, Never>? {
    let date = now.advanced(by: max(delay, .zero))
    switch sleeps(.job(job), beginsSleep(), until: date, isOutside: isOutside) {
    case .sleeps(let idler): return idler
    case .isOver:
      now = date
      ready.append(Ready(piece: .job(job, on: .global), task: 0))
      return nil
    }
  }

  mutating func cancelsSleep(_ number: Int) -> Sleeping? {
    if let sleeping = sleeping.removeValue(forKey: number) { return sleeping }
    cancelled.insert(number)
    return nil
  }

  mutating func endsSleep(_ number: Int) { cancelled.remove(number) }

  private mutating func dropCancelledSleepers() {
    while let first = sleepers.first {
      if case .work(let work)? = sleeping[first.number], work.isOver {
        sleeping[first.number] = nil
      }
      if sleeping[first.number] != nil { return }
      _ = sleepers.removeFirst()
    }
  }

  /// Time goes on to the date of a sleeper, which becomes ready.
  private mutating func wake(_ sleeper: Sleeper) -> Next {
    now = max(now, sleeper.date)
    switch sleeping.removeValue(forKey: sleeper.number) {
    case .task(let continuation)?: return .wake(continuation)
    case .work(let work)?: ready.append(Ready(piece: .work(work), task: 0))
    case .job(let job)?: return .run(.job(job, on: .global))
    case nil: break
    }
    return .again
  }

  // MARK: Steps

  /// What happens next. For the driver.
  mutating func next() -> Next {
    if !bare.isEmpty { return .run(bare.removeFirst()) }
    dropCancelledSleepers()
    if isOver, !isClosing { return .over }
    // All that are due at one time are ready at once.
    if let due = sleepers.first, due.date <= now, !isClosing { return wake(due) }
    var others: [Sleeper] = []
    if timeIsFree, !isClosing {
      others = sleepers.elements.filter { sleeping[$0.number] != nil }
        .sorted { $0.comes(before: $1) }
    }
    let width = ready.count + others.count
    guard width > 0 else {
      guard let first = sleepers.first, !isClosing else { return isOver ? .over : .idle }
      return wake(first)
    }
    guard stepsLeft > 0 else { return .tooLong }
    stepsLeft -= 1
    let isChoice = width > 1 && !isClosing
    let choice = isChoice ? chooser.choose(among: width) : 0
    guard choice < ready.count else {
      let sleeper = others[choice - ready.count]
      story?.wakes(sleeper.number, sleeper.date, choice: choice, of: width)
      return wake(sleeper)
    }
    let taken = ready.remove(at: choice)
    steps += 1
    var task: UInt64? = taken.task
    if case .work = taken.piece { task = nil }
    story?.takes(task, at: now, choice: choice, of: width)
    return .run(taken.piece)
  }

  // MARK: The end

  mutating func fails(_ problem: ExplorationFailure.Reason) {
    if self.problem == nil, !isClosing { self.problem = problem }
    isOver = true
  }

  mutating func ends() { isOver = true }

  /// How many tasks are known that have not ended, at least.
  var tasksLeft: Int {
    let sleepers = sleeping.values.count { if case .task = $0 { true } else { false } }
    return Set(ready.map(\.task)).subtracting([0]).count + sleepers
  }

  /// The run is over: no step is a choice any more. Returns what sleeps.
  mutating func close(steps: Int) -> [Sleeping] {
    isOver = true
    isClosing = true
    stepsLeft = steps
    defer { sleeping = [:] }
    return sleeping.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Nobody runs anything any more: jobs that are left belong to tasks that do not end although they are
  /// cancelled. Returns the work that is left.
  mutating func closed() -> [ScheduledWork] {
    isClosed = true
    defer { (bare, ready) = ([], []) }
    return ready.compactMap { if case .work(let work) = $0.piece { work } else { nil } }
  }

  // MARK: Waiting for the outside

  /// The driver has nothing to run. `nil` if that has changed.
  mutating func idles(_ continuation: UnsafeContinuation<Bool, Never>) -> Int? {
    dropCancelledSleepers()
    guard ready.isEmpty, bare.isEmpty, sleepers.first == nil else { return nil }
    idles += 1
    idler = (idles, continuation)
    return idles
  }

  mutating func stopsIdling(_ number: Int) -> UnsafeContinuation<Bool, Never>? {
    guard idler?.number == number else { return nil }
    defer { idler = nil }
    return idler?.1
  }
}
