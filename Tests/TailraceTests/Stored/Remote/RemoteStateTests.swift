import Tailrace
import Testing

@testable import TailraceStored

/// A remote list, those that wait for it, and an endpoint of ours whose responses come, are cut and fail
/// in whatever order.
private struct RemoteModel: Explorable {
  enum Failure: Hashable, CaseIterable { case later, corrupt, unsupported, silent }

  enum Event: Hashable {
    /// The server's list grows, ends, or is begun anew; the server tells how far it goes.
    case append, end, anew, extent
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
    /// The number of the list, and how much of it was brought.
    case requests(
      RemoteLink.Mode, list: Int, from: Int, reach: RemoteContents<Int>.Reach, at: Duration)
  }

  /// A list of the server's: its elements are its number and their position.
  struct List: Hashable {
    var number: Int
    var count = 1
    var isEnded = false

    var identity: String { "list-\(number)" }
    func name(_ position: Int) -> ListOffset { ListOffset(identity, position) }
    var extent: ListExtent { ListExtent(identity: identity, count: count, isEnded: isEnded) }
  }

  static let most = 3
  var state: RemoteState<Int>
  var awaited = WhileAwaited<RemoteOutcome, Int>(lingers: true)
  /// The last one is the present one.
  var lists = [List(number: 0)]
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
    var lists: [List]
    var entered: Int
    var known: [Int]
    var server: RemoteContents<Int>.Server
    var isGone: Bool
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
      lists: lists, entered: entered,
      known: [
        contents.count, contents.tail.start, contents.tail.end, contents.page.start,
        contents.page.end, contents.isFresh ? 1 : 0,
      ], server: contents.server, isGone: contents.otherList != nil, isEnded: contents.isEnded,
      link: state.link, pace: state.pace, now: now, waiting: waiting,
      runs: runs, isRunning: awaited.isRunning, fruitless: fruitless)
  }

  var events: [Event] {
    let (count, isEnded) = (list.count, list.isEnded)
    var events: [Event] = [.idle, .extent] + (0...count).map { .read(from: $0) }
    if !isEnded, count < Self.most { events.append(.append) }
    if !isEnded { events.append(.end) }
    if lists.count < 2 { events.append(.anew) }
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

  private var list: List { lists[lists.count - 1] }

  /// What a list has from a position on.
  private func answer(
    _ list: List, from position: Int, isLive: Bool
  ) -> RemoteContents<Int>.Answer {
    let positions = position..<max(position, list.count)
    return RemoteContents.Answer(
      elements: positions.map { 100 * list.number + $0 }, sizes: positions.map { _ in 300 },
      next: list.name(positions.upperBound).name, isUpToDate: true, isClosed: list.isEnded,
      isOurs: true, isLive: isLive)
  }

  /// Whether the server knows an offset: no, if it is of a list that is gone.
  private func isKnown(_ offset: String) -> Bool {
    ListOffset(offset).map { $0.identity == list.identity } ?? true
  }

  mutating func apply(_ event: Event) {
    do throws(RemoteAnswerError) { try perform(event) } catch {
      // It is told to whoever has asked.
      if lists.count < 2 || !error.isOfAnotherList { violation = "\(event) throws \(error)" }
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
    case .append: lists[lists.count - 1].count += 1
    case .end: lists[lists.count - 1].isEnded = true
    case .anew: lists.append(List(number: lists.count))
    case .extent:
      try state.took(list.extent, asked: state.contents.reach, at: now, &awaited)
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
        guard let start = state.contents.liveStart() else {
          return violation = "no place to begin"
        }
        runs[run] = .requests(
          mode, list: list.number, from: start.position, reach: reach, at: now)
        guard isKnown(start.offset) else {
          let error = state.gone(list.name(0), from: start.position, at: now, &awaited)
          return finish(run, error)
        }
      }
    case .pauseOver(let run):
      if case .pauses(let time)? = runs[run] { now = max(now, time) }
      runs[run] = .decides
    case .open(let run): state.opened(run, awaited)
    case .bring(let run):
      guard case .requests(let mode, let number, let position, let reach, let time)? = runs[run]
      else { return }
      let answer = answer(lists[number], from: position, isLive: true)
      do throws(RemoteAnswerError) {
        try state.took(answer, from: position, run: run, at: now, &awaited)
      } catch {
        // What is known by now may be of the list that was begun anew meanwhile.
        guard lists.count > 1 else { throw error }
        return finish(run, error)
      }
      if state.contents.isFull, awaited.count == 0, awaited.isRunning {
        violation = "more comes than anybody reads"
      }
      runs[run] = .requests(
        mode, list: number, from: position + answer.elements.count, reach: reach, at: time)
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
    guard case .requests(_, _, _, let reach, let time)? = runs[run] else { return }
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
    guard let start = state.contents.start(for: position) else {
      return violation = "no place to begin"
    }
    guard isKnown(start.offset) else {
      throw state.gone(list.name(0), from: start.position, at: now, &awaited)
    }
    try state.took(
      answer(list, from: start.position, isLive: false), from: start.position, at: now, &awaited)
    guard let page = try state.look(from: position, upTo: 9, awaited) else {
      return violation = "an answer from \(start.position) on is not seen from \(position) on"
    }
    check(page, from: position)
    if page.elements.isEmpty, position < list.count { violation = "an element is not read" }
  }

  /// Elements are of one list, which is the one that is known.
  private mutating func check(_ page: ListPage<Int>, from position: Int) {
    guard case .ours(let identity) = state.contents.server,
      let list = lists.first(where: { $0.identity == identity })
    else { return violation = "elements of no list" }
    let end = position + page.elements.count
    let expected = (position..<min(list.count, end)).map { 100 * list.number + $0 }
    if page.elements != expected { violation = "from \(position) on: \(page.elements)" }
    if page.isEnd, !list.isEnded || end < list.count { violation = "an end at \(end)" }
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

extension RemoteAnswerError {
  fileprivate var isOfAnotherList: Bool {
    if case .final(.remote(.otherList)) = self { true } else { false }
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
    "every order of answers, failures and readers: no element is wrong or of another list, nobody waits for what is here, no request without a pause",
    arguments: [nil, Duration.seconds(1)])
  func orders(_ patience: Duration?) async {
    await RemoteModel(patience: patience)
      .expectSafe(depth: 9, limit: 60_000, isComplete: false)
  }
}
