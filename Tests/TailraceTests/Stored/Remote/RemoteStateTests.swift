import Tailrace
import Testing

@testable import TailraceStored

/// A remote list, those that wait for it, and an endpoint of ours whose responses come, are cut and fail
/// in whatever order.
private struct RemoteModel: Explorable {
  enum Failure: Hashable, CaseIterable { case later, corrupt, unsupported, silent }

  enum Event: Hashable {
    /// The server's list grows, or ends.
    case append, end
    /// A task waits for more than so many elements; is cancelled; reads from a position on.
    case wait(for: Int), cancel(Int), read(from: Int)
    /// A run asks what it does next; its pause is over.
    case step(Int), pauseOver(Int)
    /// The response to a run's request begins, brings what there is, ends at once or after a minute, fails.
    case open(Int), bring(Int), finish(Int, isHeld: Bool), fail(Int, Failure)
    /// Nobody has waited for long.
    case idle
  }

  /// What a run does.
  enum Phase: Hashable {
    case decides
    case pauses(until: Duration)
    case requests(RemoteLink.Mode, from: Int, reach: RemoteContents<Int>.Reach, at: Duration)
  }

  static let most = 3
  var state: RemoteState<Int>
  var awaited = WhileAwaited<RemoteOutcome, Int>(lingers: true)
  var count = 1
  var isEnded = false
  var now = Duration.zero
  var waiting: [Int: Int] = [:]
  var entered = 0
  var runs: [Int: Phase] = [:]
  /// When the last live response ended that was not held, and has brought nothing new.
  var fruitless: Duration?
  var violation: String?

  init(patience: Duration?) {
    // Two elements are more than nobody may have read.
    state = RemoteState(RemoteContents(.beginning, byteCapacity: 500), patience: patience)
  }

  struct Key: Hashable {
    var server: [Int]
    var known: [Int]
    var isEnded: Bool
    var link: RemoteLink
    var pace: RequestPace
    var now: Duration
    var waiting: [Int: Int]
    var runs: [Int: Phase]
    var isRunning: Bool
    var fruitless: Duration?
  }

  var key: Key {
    let contents = state.contents
    return Key(
      server: [count, isEnded ? 1 : 0, entered],
      known: [
        contents.count, contents.tail.start, contents.tail.end, contents.page.start,
        contents.page.end, contents.believers, contents.server == .unknown ? 0 : 1,
      ], isEnded: contents.isEnded, link: state.link, pace: state.pace, now: now, waiting: waiting,
      runs: runs, isRunning: awaited.isRunning, fruitless: fruitless)
  }

  var events: [Event] {
    var events: [Event] = [.idle] + (0...count).map { .read(from: $0) }
    if !isEnded, count < Self.most { events.append(.append) }
    if !isEnded { events.append(.end) }
    if entered < 3 { events += (0...count).map { .wait(for: $0) } }
    events += waiting.keys.sorted().map { .cancel($0) }
    for (run, phase) in runs.sorted(by: { $0.key < $1.key }) {
      switch phase {
      case .decides: events.append(.step(run))
      case .pauses: events.append(.pauseOver(run))
      case .requests:
        events += [
          .open(run), .bring(run), .finish(run, isHeld: false), .finish(run, isHeld: true),
        ]
        events += Failure.allCases.map { .fail(run, $0) }
      }
    }
    return events
  }

  private func answer(_ positions: Range<Int>, isLive: Bool) -> RemoteContents<Int>.Answer {
    let isAll = positions.upperBound == count
    return RemoteContents.Answer(
      elements: Array(positions), sizes: positions.map { _ in 300 },
      next: ListOffset("a", positions.upperBound).name, isUpToDate: isAll,
      isClosed: isEnded && isAll, isOurs: true, isLive: isLive)
  }

  mutating func apply(_ event: Event) {
    do throws(RemoteAnswerError) { try perform(event) } catch {
      violation = "\(event) throws \(error)"
    }
    for action in awaited.takeEffects().apply({ waiting[$0] = nil }) {
      switch action {
      case .start(let run): runs[run] = .decides
      // It may still be on its way to learn it, and brings what it has.
      case .cancel, .setAlarm: break
      }
    }
    check()
  }

  private mutating func perform(_ event: Event) throws(RemoteAnswerError) {
    switch event {
    case .append: count += 1
    case .end: isEnded = true
    case .wait(let position):
      entered += 1
      guard let number = state.enter(waitingFor: position, &awaited) else { return }
      waiting[number] = position
      if awaited.wait(number, number) != nil { violation = "told before it waits" }
    case .cancel(let number):
      awaited.cancel(number, .cancelled)
      awaited.left()
      state.left(at: now, awaited)
    case .read(let position): try read(position)
    case .step(let run):
      switch state.step(run, at: now, &awaited) {
      case nil: runs[run] = nil
      case .pause(let time):
        runs[run] = .pauses(until: time)
        if time <= now { violation = "a pause of nothing" }
      case .request(let mode):
        if let fruitless, now < fruitless + RequestPace.shortest / 2 {
          violation = "a request without a pause"
        }
        let reach = state.contents.reach
        if state.contents.liveStart() == nil {
          try state.took(
            ListExtent(identity: "a", count: count, isEnded: isEnded), asked: reach, at: now,
            &awaited)
        }
        guard let start = state.contents.liveStart() else { return violation = "no place to begin" }
        runs[run] = .requests(mode, from: start.position, reach: reach, at: now)
      }
    case .pauseOver(let run):
      if case .pauses(let time)? = runs[run] { now = max(now, time) }
      runs[run] = .decides
    case .open(let run): state.opened(run, awaited)
    case .bring(let run):
      guard case .requests(let mode, let position, let reach, let time)? = runs[run] else { return }
      try state.took(
        answer(position..<count, isLive: true), from: position, run: run, at: now, &awaited)
      if state.contents.isFull, awaited.count == 0, awaited.isRunning {
        violation = "more comes than anybody reads"
      }
      runs[run] = .requests(mode, from: count, reach: reach, at: time)
      if mode == .longPoll { finish(run, nil) }
    case .finish(let run, let isHeld):
      if isHeld { now += .seconds(60) }
      finish(run, nil)
    case .fail(let run, let failure):
      let error: RemoteAnswerError =
        switch failure {
        case .later: .later("away")
        case .corrupt: .corrupt("damaged")
        case .unsupported: .unsupported(status: 501, body: "")
        case .silent: .silent(.seconds(45))
        }
      finish(run, error)
    case .idle: state.endIfIdle(for: .zero, at: now, &awaited)
    }
  }

  private mutating func finish(_ run: Int, _ error: RemoteAnswerError?) {
    guard case .requests(_, _, let reach, let time)? = runs[run] else { return }
    // Of a run that is not the present one, nothing is counted.
    if awaited.isPresent(run), error != nil || state.contents.reach == reach,
      now - time < .seconds(1)
    {
      fruitless = now
    }
    if let error {
      state.failed(error, run, at: now, chance: 0, &awaited)
    } else {
      state.ended(run, at: now, chance: 0, awaited)
    }
    runs[run] = .decides
  }

  /// Reads as a reader does: what is here, or else a page of the server's.
  private mutating func read(_ position: Int) throws(RemoteAnswerError) {
    if let page = try state.look(from: position, upTo: 9, awaited) {
      return check(page, from: position)
    }
    if state.contents.start(for: position) == nil {
      try state.took(
        ListExtent(identity: "a", count: count, isEnded: isEnded), asked: state.contents.reach,
        at: now, &awaited)
    }
    guard let start = state.contents.start(for: position) else {
      return violation = "no place to begin"
    }
    try state.took(
      answer(start.position..<count, isLive: false), from: start.position, at: now, &awaited)
    guard let page = try state.look(from: position, upTo: 9, awaited) else {
      return violation = "an answer from \(start.position) on is not seen from \(position) on"
    }
    check(page, from: position)
    if page.elements.isEmpty, position < count { violation = "an element is not read" }
  }

  private mutating func check(_ page: ListPage<Int>, from position: Int) {
    let expected = Array(position..<min(count, position + page.elements.count))
    if page.elements != expected { violation = "from \(position) on: \(page.elements)" }
    if page.isEnd, !isEnded || position + page.elements.count < count {
      violation = "an end at \(position + page.elements.count)"
    }
  }

  private mutating func check() {
    if waiting.values.contains(where: { state.contents.mayHaveMore(than: $0) }) {
      violation = "somebody waits for what is here"
    }
    if !waiting.isEmpty, !runs.keys.contains(where: { awaited.isPresent($0) }) {
      violation = "nobody works for those that wait"
    }
    if awaited.count != waiting.count { violation = "counts \(awaited.count) of \(waiting.count)" }
    if state.contents.tail.bytes > 1000 {
      violation = "\(state.contents.tail.bytes) bytes are kept"
    }
  }
}

extension WhileAwaited.Effects where Continuation == Int {
  fileprivate func apply(_ told: (Int) -> Void) -> [WhileAwaited.Action] {
    for woken in woken { told(woken.continuation) }
    return actions
  }
}

@Suite("A remote list as a value", .inTurn)
struct RemoteStateTests {
  @Test(
    "every order of answers, failures and readers: no element is wrong, nobody waits for what is here, no request without a pause",
    arguments: [nil, Duration.seconds(1)])
  func orders(_ patience: Duration?) async {
    await RemoteModel(patience: patience)
      .expectSafe(depth: 9, limit: Size.usual(20_000, full: 60_000), isComplete: false)
  }

  @Test(
    "whoever was told by a long poll knows that no more is there, though the connection is over")
  func believers() throws {
    var state = RemoteState(RemoteContents<Int>(.beginning), patience: nil)
    var awaited = WhileAwaited<RemoteOutcome, Int>(lingers: true)
    let numbers = [0, 0].map { state.enter(waitingFor: $0, &awaited) }
    #expect(numbers == [1, 2])
    for number in 1...2 { #expect(awaited.wait(number, number) == nil) }
    #expect(state.step(1, at: .zero, &awaited) == .request(.events))
    state.failed(.unsupported(status: 501, body: ""), 1, at: .zero, chance: 0, &awaited)
    #expect(state.step(1, at: .seconds(1), &awaited) == .request(.longPoll))
    let answer = RemoteContents.Answer(
      elements: [7], sizes: [1], next: ListOffset("a", 1).name, isUpToDate: true, isClosed: false,
      isOurs: true, isLive: true)
    try state.took(answer, from: 0, run: 1, at: .seconds(2), &awaited)
    state.ended(1, at: .seconds(2), chance: 0, awaited)
    // Nobody waits at this moment.
    #expect(state.step(1, at: .seconds(2), &awaited) == nil)
    for _ in 0..<2 {
      #expect(try state.look(from: 1, upTo: 1, awaited) == ListPage([]))
    }
    #expect(try state.look(from: 1, upTo: 1, awaited) == nil)
  }
}
