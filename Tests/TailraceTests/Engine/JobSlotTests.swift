import Tailrace
import Testing

@testable import TailraceLists

/// A list's task, the runners of its jobs, a child of its step, and a reader that waits to run the
/// task's job, as far as the slot knows them.
private struct TaskModel: Explorable, Hashable {
  enum Job: UInt, CaseIterable {
    case own = 16
    case child = 32
  }

  enum Place: Hashable {
    /// Parked or held in the slot.
    case slot
    /// Run by the runner that takes its jobs from the slot.
    case runner
    /// Suspended: other code brings it back.
    case away
    /// Waits for a thread where suspended steps go on.
    case dispatched
    /// Run by such a thread, which takes no other job. Only a child.
    case thread
    case over
  }

  enum Event: Hashable {
    case drive
    case suspends(Job)
    case parks
    case ends
    case childEnds
    case arrives(Job)
    case next
    case leaves
    case begins(Job)
    case awaits
    case isWokenForAnotherReason
    case stopsAwaiting
    case declines
    case goesOn
  }

  enum Reader: Hashable {
    case none
    case awaited
    /// Woken to run the job.
    case woken
    /// Woken for another reason, which the slot does not know yet.
    case late
  }

  var slot: JobSlot
  var own = Place.slot
  var child = Place.over
  /// Whether a runner is there, and the job that it runs.
  var runner: Job??
  var reader = Reader.none
  /// The job has been held for a reader that turned out to be late.
  var declines = false
  var isClaimFree = true
  var violation: String?
  // How often each event may still happen.
  var demands: Int
  var suspensions: Int
  var children: Int
  var waits: Int

  init(demands: Int, suspensions: Int, children: Int, waits: Int) {
    slot = JobSlot(.idle)
    slot.starts()
    _ = slot.arrived(Job.own.rawValue, isOwn: false)
    _ = slot.started()
    (self.demands, self.suspensions) = (demands, suspensions)
    (self.children, self.waits) = (children, waits)
  }

  private subscript(job: Job) -> Place {
    get { job == .own ? own : child }
    set { if job == .own { own = newValue } else { child = newValue } }
  }

  var events: [Event] {
    var events: [Event] = []
    if case .parked = slot.state, isClaimFree, demands > 0 { events.append(.drive) }
    if own == .runner {
      events += suspensions > 0 ? [.suspends(.own), .parks, .ends] : [.parks, .ends]
    }
    if child == .runner || child == .thread {
      events += suspensions > 0 ? [.suspends(.child), .childEnds] : [.childEnds]
    }
    for job in Job.allCases {
      if self[job] == .away { events.append(.arrives(job)) }
      if self[job] == .dispatched { events.append(.begins(job)) }
    }
    if runner == .some(nil) { events += [.next, .leaves] }
    if declines { events.append(.declines) }
    switch reader {
    case .none: if waits > 0, !isClaimFree { events.append(.awaits) }
    case .awaited: events.append(.isWokenForAnotherReason)
    case .woken: events.append(.goesOn)
    case .late: events.append(.stopsAwaiting)
    }
    return events
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .drive:
      isClaimFree = false
      demands -= 1
      attend(slot.drive())
    case .suspends(let job):
      suspensions -= 1
      if job == .own, children > 0, child == .over {
        children -= 1
        child = .away
      }
      stop(job, at: .away)
    case .parks:
      stop(.own, at: .slot)
      dispatch(slot.parks(Job.own.rawValue))
    case .ends:
      stop(.own, at: .over)
      dispatch(slot.ends())
    case .childEnds: stop(.child, at: .over)
    case .arrives(let job):
      self[job] = .slot
      switch slot.arrived(job.rawValue, isOwn: job == .own) {
      case .held: if runner == nil { violation = "the job \(job) is held, and no runner takes it" }
      case .dispatch(let job): dispatch(job)
      case .wakeReader: if reader == .awaited { reader = .woken } else { declines = true }
      }
    case .next, .leaves:
      switch slot.state {
      case .parked, .ended: (runner, isClaimFree) = (nil, true)
      case _ where event == .leaves:
        runner = nil
        dispatch(slot.runnerLeaves())
      default:
        guard let job = slot.next() else { return runner = nil }
        attend(job)
      }
    case .begins(.child): child = .thread
    case .begins(.own):
      if runner != nil { return violation = "two runners take jobs" }
      if slot.begin(), reader == .awaited { reader = .late }
      attend(Job.own.rawValue)
    case .awaits:
      waits -= 1
      if slot.readerComes() { reader = .awaited }
    case .isWokenForAnotherReason: reader = .late
    case .stopsAwaiting:
      _ = slot.readerLeaves()
      reader = .none
    case .declines:
      declines = false
      slot.readerDeclines()
      dispatch(Job.own.rawValue)
    case .goesOn:
      reader = .none
      attend(slot.readerRuns())
    }
  }

  /// A runner runs a job.
  private mutating func attend(_ bits: JobSlot.Job) {
    guard let job = Job(rawValue: bits) else { return violation = "an unknown job: \(bits)" }
    if case .some(.some) = runner { return violation = "two runners take jobs" }
    if self[job] != .slot, self[job] != .dispatched { violation = "the job \(job) runs twice" }
    self[job] = .runner
    runner = .some(job)
  }

  private mutating func stop(_ job: Job, at place: Place) {
    if self[job] == .runner { runner = .some(nil) }
    self[job] = place
  }

  private mutating func dispatch(_ bits: JobSlot.Job?) {
    guard let bits else { return }
    guard let job = Job(rawValue: bits), self[job] == .slot else {
      return violation = "the job \(bits) is dispatched, and is elsewhere"
    }
    self[job] = .dispatched
  }

  var violationAtRest: String? {
    if reader != .none { return "a reader waits for ever: \(reader)" }
    if child != .over { return "the child's job is lost: \(child) in \(slot.state)" }
    if case .parked = slot.state, own == .slot { return nil }
    return own == .over ? nil : "the task's job is lost: \(own) in \(slot.state)"
  }
}

@Suite("JobSlot: the jobs of a list's task", .inTurn)
struct JobSlotTests {
  @Test(
    "each state is one word",
    arguments: [.idle, .running, .awaited, .ended, .holding(16), .parked(16)] as [JobSlot.State])
  func encoded(_ state: JobSlot.State) {
    #expect(JobSlot(state).state == state)
    #expect(JobSlot(rawValue: JobSlot(state).rawValue).state == state)
  }

  @Test("the task's own job comes before a child's, which goes elsewhere")
  func ownFirst() {
    var slot = JobSlot(.running)
    #expect(slot.arrived(32, isOwn: false) == .held)
    #expect(slot.arrived(48, isOwn: false) == .dispatch(48))
    #expect(slot.arrived(16, isOwn: true) == .dispatch(32))
    #expect(slot.arrived(32, isOwn: false) == .dispatch(32))
    #expect(slot.next() == 16)
    #expect(slot.next() == nil)
    #expect(slot.state == .idle)
  }

  @Test("a reader that waits gets the task's own job, and no child's")
  func reader() {
    var slot = JobSlot(.idle)
    let isAwaited = slot.readerComes()
    #expect(isAwaited)
    let isAwaitedTwice = slot.readerComes()
    #expect(!isAwaitedTwice)
    #expect(slot.arrived(32, isOwn: false) == .dispatch(32))
    #expect(slot.arrived(16, isOwn: true) == .wakeReader)
    let isStopped = slot.readerLeaves()
    #expect(!isStopped)
    #expect(slot.readerRuns() == 16)
    #expect(slot.state == .running)
  }

  @Test("a task that parks or ends sends a late child's job elsewhere")
  func lateChild() {
    var slot = JobSlot(.holding(32))
    #expect(slot.parks(16) == 32)
    #expect(slot.state == .parked(16))
    #expect(slot.drive() == 16)
    #expect(slot.arrived(32, isOwn: false) == .held)
    #expect(slot.ends() == 32)
    #expect(slot.state == .ended)
  }

  @Test("a task that ends while it runs is over")
  func ended() {
    var slot = JobSlot(.running)
    #expect(slot.ends() == nil)
    #expect(slot.state == .ended)
  }

  @Test(
    "a task rests while it is parked, and when it is over",
    arguments: [
      (.idle, false), (.running, false), (.awaited, false), (.ended, true), (.holding(16), false),
      (.parked(16), true),
    ] as [(JobSlot.State, Bool)])
  func resting(_ state: JobSlot.State, _ rests: Bool) {
    #expect(JobSlot(state).isResting == rests)
  }

  @Test(
    "a job that runs elsewhere says whether a reader waited to run it", arguments: [true, false])
  func elsewhere(_ isAwaited: Bool) {
    var slot = JobSlot(isAwaited ? .awaited : .idle)
    let hasWaited = slot.begin()
    #expect(hasWaited == isAwaited)
    #expect(slot.state == .running)
  }

  @Test("a reader that leaves is not waited for any more")
  func readerGone() {
    var slot = JobSlot(.awaited)
    let isForgotten = slot.readerLeaves()
    #expect(isForgotten)
    #expect(slot.state == .idle)
    #expect(slot.arrived(16, isOwn: true) == .dispatch(16))
  }

  @Test("in no order of events a job is lost, or runs twice")
  func explored() async {
    await TaskModel(demands: 3, suspensions: 3, children: 1, waits: 2).expectSafe(limit: 3_000_000)
  }
}
