import Testing

@testable import TailraceLists

/// A list's task, two readers that demand from it, each on a thread of its own, and what brings a suspended step
/// back: a pool on a thread of its own, or an executor that runs its jobs in place, above the very frame from
/// which the step has suspended.
private struct FrameModel: Explorable, Hashable {
  enum Rule: Hashable {
    /// The task uses what lies in the driver's frame if its own thread has noted itself there.
    case ownThread
    /// The task uses it if any thread has.
    case anyThread
    /// A driver whose job has returned looks at the slot, and not at what its own thread wrote.
    case looksAtSlot
  }

  /// Where the task's code is.
  enum Place: Hashable {
    case parked
    case suspended
    case above(reader: Int)
    case pool
    case ended
  }

  enum Reader: Hashable {
    /// It demands, or looks again.
    case asks
    /// It holds the claim, and the task's job runs, or has suspended, above its frame.
    case drives
    /// A step of that attempt is missing, and it is about to wait.
    case misses(attempt: Int)
    case waits(attempt: Int)
    case gone
  }

  enum Outcome: Hashable { case element, skip }

  /// What the end of a step without a driver has still to do.
  enum Rest: Hashable { case looksWhetherOver, wakes }

  enum Event: Hashable {
    case asks(Int)
    case suspends
    case comesBack(Place)
    case passesOn
    case ends(Outcome)
    case returns(Int)
    case enters(Int)
    case goesOn(Int)
    case isOver
    case finishes
  }

  let rule: Rule
  var slot = JobSlot(.parked(16))
  var task = Place.parked
  var readers = [Reader.asks, .asks]
  /// What the thread of a reader has seen parking above its frame.
  var hasParked = [false, false]
  /// The reader that has noted its thread.
  var driver: Int?
  var kept: Outcome?
  var attempt = 0
  var rests: [Rest] = []
  var isOver = false
  var isFinishing = false
  var violation: String?
  // How often each may still happen.
  var wanted: [Int]
  var suspensions: Int
  var skips: Int

  init(_ rule: Rule = .ownThread, wanted: [Int], suspensions: Int, skips: Int) {
    self.rule = rule
    (self.wanted, self.suspensions, self.skips) = (wanted, suspensions, skips)
  }

  private var isClaimed: Bool { readers.contains(.drives) }

  private var isRunning: Bool {
    switch task {
    case .above, .pool: true
    case .parked, .suspended, .ended: false
    }
  }

  private var isDriven: Bool {
    if rule == .anyThread { return driver != nil }
    return if case .above(let reader) = task { driver == reader } else { false }
  }

  var events: [Event] {
    var events: [Event] = []
    for (reader, state) in readers.enumerated() {
      switch state {
      case .asks: if !isClaimed || wanted[reader] == 0 { events.append(.asks(reader)) }
      case .drives: if task != .above(reader: reader) { events.append(.returns(reader)) }
      case .misses: events.append(.enters(reader))
      case .waits, .gone: break
      }
    }
    if isRunning {
      if suspensions > 0 { events.append(.suspends) }
      if skips > 0 { events.append(.ends(.skip)) }
      events += [.ends(.element), .passesOn]
    }
    if task == .suspended {
      events.append(.comesBack(.pool))
      for (reader, state) in readers.enumerated() where state == .drives {
        events.append(.comesBack(.above(reader: reader)))
      }
    }
    for number in rests.indices { events.append(.goesOn(number)) }
    if readers == [.gone, .gone], !isOver { events.append(.isOver) }
    if isFinishing { events.append(.finishes) }
    return events
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .asks(let reader): asks(reader)
    case .suspends:
      suspensions -= 1
      task = .suspended
    case .comesBack(let place): task = place
    case .passesOn:
      // The sink of a driver that takes several elements lies in its frame.
      guard isDriven else { return }
      if case .above(let reader) = task, readers[reader] == .drives { return }
      violation = "a sink is called, and its frame may be gone"
    case .ends(let outcome): ends(outcome)
    case .returns(let reader):
      let hasParked = rule == .looksAtSlot ? slot.isResting : hasParked[reader]
      if driver != reader { violation = "another driver is there" }
      driver = nil
      if hasParked { take(reader) } else { readers[reader] = .misses(attempt: attempt) }
    case .enters(let reader):
      guard case .misses(let attempt) = readers[reader] else { return }
      // Under the lock of the waiters.
      let isMissing = !slot.isResting && attempt == self.attempt && !isOver
      readers[reader] = isMissing ? .waits(attempt: attempt) : .asks
    case .goesOn(let number):
      switch rests[number] {
      case .looksWhetherOver:
        rests[number] = .wakes
        if isOver { finish() }
      case .wakes:
        rests.remove(at: number)
        for (reader, state) in readers.enumerated() {
          if case .waits = state { readers[reader] = .asks }
        }
      }
    case .isOver: (isOver, isFinishing) = (true, true)
    case .finishes:
      isFinishing = false
      finish()
    }
  }

  private mutating func asks(_ reader: Int) {
    guard wanted[reader] > 0 else { return readers[reader] = .gone }
    guard slot.isResting else { return readers[reader] = .misses(attempt: attempt) }
    if kept != nil { return take(reader) }
    guard slot.drive() != nil, task == .parked else { return violation = "a job runs twice" }
    attempt += 1
    (hasParked[reader], driver) = (false, reader)
    (task, readers[reader]) = (.above(reader: reader), .drives)
  }

  private mutating func ends(_ outcome: Outcome) {
    if outcome == .skip { skips -= 1 }
    if isOver {
      slot.ends()
      return task = .ended
    }
    if kept != nil { return violation = "an outcome is lost under the next one" }
    kept = outcome
    let isDriven = isDriven
    if isDriven {
      guard case .above(let reader) = task else { return violation = "the task parks in no frame" }
      hasParked[reader] = true
    } else {
      if outcome == .skip { kept = nil }
      rests.append(.looksWhetherOver)
    }
    slot.parks(16)
    task = .parked
  }

  /// A reader takes the outcome that is kept.
  private mutating func take(_ reader: Int) {
    guard let kept else { return violation = "there is no outcome to take" }
    if kept == .element { wanted[reader] -= 1 }
    self.kept = nil
    readers[reader] = .asks
  }

  /// The producer is released.
  private mutating func finish() {
    guard slot.drive() != nil else { return }
    if task != .parked { return violation = "a task is ended where it runs" }
    slot.ends()
    task = .ended
  }

  var violationAtRest: String? {
    if readers != [.gone, .gone] { return "a reader waits for ever: \(readers)" }
    if task != .ended { return "the task is not ended: \(task)" }
    return slot.state == .ended ? nil : "the task is ended, and the slot is \(slot.state)"
  }
}

@Suite("The driver's frame: used only while it is there", .inTurn)
struct DriverFrameTests {
  @Test("in no order of events a job runs twice, an outcome is lost, or a frame is used late")
  func explored() async {
    await FrameModel(wanted: [2, 2], suspensions: 3, skips: 2).expectSafe(limit: 3_000_000)
  }

  @Test("it is with a rule that looks at another thread, or at the slot", arguments: [true, false])
  func mutant(_ isOfThread: Bool) async {
    let rule = isOfThread ? FrameModel.Rule.anyThread : .looksAtSlot
    let found = await FrameModel(rule, wanted: [1, 1], suspensions: 1, skips: 1).explored()
    #expect(found.violation != nil)
  }

  @Test(
    "each state of the slot is one word",
    arguments: [.running, .ended, .parked(16)] as [JobSlot.State])
  func encoded(_ state: JobSlot.State) {
    #expect(JobSlot(state).state == state)
    #expect(JobSlot(rawValue: JobSlot(state).rawValue).state == state)
  }
}
