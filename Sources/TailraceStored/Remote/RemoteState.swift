import TailraceLists
import TailraceSupport

/// What a remote list knows, and what it does next: a value with one method for each event.
/// ``RemoteCore`` sends the requests.
///
/// | event | what follows |
/// |---|---|
/// | the live connection may go on | a request, a pause before it, or nothing, if nobody waits |
/// | an answer comes | those that have waited for it are told |
/// | more is here than anybody has read | the connection ends, unless somebody waits |
/// | a live response ends, or fails | the next request follows after a pause, if it has brought nothing new |
/// | patience is over, or an error is final | all that wait are told; the next one that waits asks again |
/// | nobody has waited for a while | the connection ends |
///
/// ``RemoteContents`` is what is known, ``RequestPace`` decides when a request may be sent, ``RemoteLink`` how
/// the live connection is made, and ``FailureBudget`` which failures are told.
struct RemoteState<Element: Sendable>: Sendable {
  typealias Awaited<Continuation: Sendable> = WhileAwaited<RemoteOutcome, Continuation>

  var contents: RemoteContents<Element>
  private(set) var link = RemoteLink()
  var pace = RequestPace()
  /// Of the live connection; each reader of a page has its own.
  private var budget: FailureBudget
  /// What the server wants to hear with the next live request.
  private(set) var cursor: String?
  /// Since when nobody waits.
  private var idleSince = Duration.zero
  /// When the last live request was made, and what was known then.
  private var asked: (at: Duration, reach: RemoteContents<Element>.Reach)

  init(_ contents: RemoteContents<Element>, patience: Duration?) {
    self.contents = contents
    budget = FailureBudget(patience)
    asked = (.zero, contents.reach)
  }

  // MARK: Readers

  /// The elements from a position on that are here.
  mutating func look(
    from position: Int, upTo count: Int, _ awaited: Awaited<some Sendable>
  ) throws(RemoteAnswerError) -> ListPage<Element>? {
    try contents.look(
      from: position, upTo: count, isReading: awaited.isRunning && link.isReading)
  }

  /// A task wants more than `position` elements. Returns its number; `nil` if there may be more already.
  mutating func enter(
    waitingFor position: Int, _ awaited: inout Awaited<some Sendable>
  ) -> Int? {
    if contents.mayHaveMore(than: position) { return nil }
    if !awaited.isRunning { link.reset() }
    return awaited.enter(position)
  }

  /// A task that has waited is cancelled.
  mutating func left(at now: Duration, _ awaited: Awaited<some Sendable>) {
    if awaited.count == 0 { idleSince = now }
  }

  // MARK: The live connection

  enum Step: Hashable, Sendable {
    case pause(until: Duration)
    case request(RemoteLink.Mode)
  }

  /// What the connection does next; `nil` if it is over.
  mutating func step(
    _ run: Int, at now: Duration, _ awaited: inout Awaited<some Sendable>
  ) -> Step? {
    guard awaited.isPresent(run) else { return nil }
    guard awaited.count > 0 else {
      awaited.isOver(run)
      return nil
    }
    switch budget.turn(pace.earliest(.live), at: now) {
    case .pause(let time): return .pause(until: time)
    case .request:
      asked = (now, contents.reach)
      return .request(link.request(at: now))
    case .over(let final):
      awaited.isOver(run)
      tell(final, at: now, &awaited)
      return nil
    }
  }

  /// The response to a request for events is one.
  mutating func opened(_ run: Int, _ awaited: Awaited<some Sendable>) {
    if awaited.isPresent(run) { link.opened() }
  }

  /// A live response has ended as it should.
  mutating func ended(
    _ run: Int, at now: Duration, chance: Double, _ awaited: Awaited<some Sendable>
  ) {
    guard awaited.isPresent(run) else { return }
    let isEvents = link.mode == .events
    link.ended(at: now)
    if contents.reach == asked.reach {
      pace.ended(begun: asked.at, at: now, isEvents: isEvents, chance: chance)
    } else {
      pace.brought(.live)
    }
  }

  /// A live request has failed.
  mutating func failed(
    _ error: RemoteAnswerError, _ run: Int, at now: Duration, chance: Double,
    _ awaited: inout Awaited<some Sendable>
  ) {
    // Of a connection that nobody wants any more.
    guard awaited.isPresent(run) else { return }
    pace.take(error, .live, begun: asked.at, at: now, chance: chance)
    switch error {
    case .unsupported where link.unsupported(at: now): return
    case .silent, .corrupt: link.failed(isStrange: true, at: now)
    default: link.failed(at: now)
    }
    if let final = budget.take(error, at: now) { tell(final, at: now, &awaited) }
  }

  /// Ends the connection if nobody has waited for a while.
  func endIfIdle(
    for lingering: Duration, at now: Duration, _ awaited: inout Awaited<some Sendable>
  ) {
    if awaited.count == 0, now - idleSince >= lingering { awaited.end() }
  }

  // MARK: Answers

  /// Elements have come, to a request that began at a position.
  ///
  /// - Parameter run: of the live connection, if it is that one's.
  mutating func took(
    _ answer: RemoteContents<Element>.Answer, from position: Int, run: Int? = nil, at now: Duration,
    _ awaited: inout Awaited<some Sendable>
  ) throws(RemoteAnswerError) {
    defer { wake(at: now, &awaited) }
    try contents.take(answer, from: position)
    if let run, awaited.isPresent(run) { link.brought() }
    budget = FailureBudget(budget.patience)
    cursor = answer.cursor ?? cursor
    if let pause = answer.pause { pace.named(reconnection: pause) }
  }

  /// The server has said where its list begins and ends; `nil` if it is none of ours.
  ///
  /// - Parameter reach: what was known when it was asked.
  mutating func took(
    _ extent: ListExtent?, asked reach: RemoteContents<Element>.Reach, at now: Duration,
    _ awaited: inout Awaited<some Sendable>
  ) throws(RemoteAnswerError) {
    defer { wake(at: now, &awaited) }
    if let extent { try contents.take(extent, asked: reach) } else { contents.isOther() }
  }

  /// An endpoint of ours says that an offset is of no element. Returns where the list is now.
  mutating func gone(
    _ first: ListOffset, from position: Int, at now: Duration,
    _ awaited: inout Awaited<some Sendable>
  ) -> RemoteAnswerError {
    defer { wake(at: now, &awaited) }
    return contents.gone(first, from: position)
  }

  /// Tells those that have waited for what is known now.
  private mutating func wake(
    at now: Duration, _ awaited: inout Awaited<some Sendable>
  ) {
    let told = awaited.wake(.ready) { [contents] in contents.mayHaveMore(than: $0) }
    contents.told(told)
    if told > 0, awaited.count == 0 { idleSince = now }
    if contents.isFull { awaited.end() }
  }

  /// Tells an error to all that wait.
  private mutating func tell(
    _ final: RemoteAnswerError.Final, at now: Duration, _ awaited: inout Awaited<some Sendable>
  ) {
    budget = FailureBudget(budget.patience)
    idleSince = now
    awaited.wake(.failed(final)) { _ in true }
  }
}

/// Why a task does not wait any more for elements of a remote list.
enum RemoteOutcome: Sendable {
  case ready
  case failed(RemoteAnswerError.Final)
  case cancelled
}
