import Foundation
import TailraceLists
import TailraceSupport

/// The shell of a remote list: it sends requests, and tells the values that decide what came of them.
final class RemoteCore<Element: Sendable>: Sendable {
  struct State: Sendable {
    var contents: RemoteContents<Element>
    var link = RemoteLink()
    var pace = RequestPace()
    var budget: FailureBudget
    /// What the server wants to hear with the next live request.
    var cursor: String?
    /// Since when nobody waits.
    var idleSince = Duration.zero
  }

  private typealias Connection = AwaitedTask<State, RemoteOutcome>

  let server: RemoteServer<Element>
  /// How long the server may fail.
  private let patience: Duration?
  /// How long the connection stays when nobody waits.
  private let lingering: Duration
  private let connection: Connection

  init(
    _ server: RemoteServer<Element>, from place: RemotePlace, patience: Duration?,
    lingering: Duration
  ) {
    self.server = server
    self.patience = patience
    self.lingering = lingering
    let contents = RemoteContents<Element>(place, byteCapacity: server.byteLimit)
    connection = Connection(
      State(contents: contents, budget: FailureBudget(patience)), lingers: true,
      clock: server.clock, now: server.now, timedOut: .ready, cancelled: .cancelled)
  }

  // MARK: Readers

  nonisolated(nonsending) func read(
    from position: Int, upTo count: Int
  ) async throws -> ListPage<Element> {
    if case .page(let page) = try look(from: position, upTo: count) { return page }
    return try await answer { [self] timer in try await fetch(from: position, upTo: count, timer) }
  }

  /// Asks the server until there is an answer, or patience is over.
  private nonisolated(nonsending) func answer<Answer: Sendable>(
    _ ask: @escaping @Sendable (ActivityTimer) async throws -> Answer
  ) async throws -> Answer {
    var budget = FailureBudget(patience)
    while true {
      try await pause(&budget)
      let begun = server.now()
      do {
        let answer = try await server.listening(ask)
        connection.update { state, _ in state.pace.brought(.page) }
        return answer
      } catch {
        try Task.checkCancellation()
        let error = RemoteAnswerError(error)
        let (now, chance) = (server.now(), server.chance())
        connection.update { state, _ in
          state.pace.take(error, .page, begun: begun, at: now, chance: chance)
        }
        if let final = budget.take(error, at: now) { throw final.error(server.path) }
      }
    }
  }

  /// Waits until a request for a page may be sent. Requests of others may have failed meanwhile.
  private nonisolated(nonsending) func pause(_ budget: inout FailureBudget) async throws {
    var waited = Duration.zero
    while true {
      let now = server.now()
      let earliest = connection.update { state, _ in state.pace.earliest(.page) }
      if earliest <= now || earliest == waited { return }
      budget.begin(at: now)
      if let final = budget.isOver(at: now) { throw final.error(server.path) }
      try await server.clock.sleep(for: min(earliest, budget.end ?? earliest) - now)
      if let end = budget.end, end < earliest, let final = budget.isOver(at: end) {
        throw final.error(server.path)
      }
      waited = earliest
    }
  }

  private func look(
    from position: Int, upTo count: Int
  ) throws -> RemoteContents<Element>.Look {
    try told(
      connection.update { state, awaited in
        let isReading = awaited.isRunning && state.link.isReading
        return Result { () throws(RemoteAnswerError) in
          try state.contents.look(from: position, upTo: count, isReading: isReading)
        }
      })
  }

  /// A value, or the error that a reader gets without a request.
  private func told<Value>(_ result: Result<Value, RemoteAnswerError>) throws -> Value {
    do { return try result.get() } catch {
      guard case .final(let final) = error else { throw error }
      throw final.error(server.path)
    }
  }

  private func fetch(
    from position: Int, upTo count: Int, _ timer: ActivityTimer
  ) async throws -> ListPage<Element> {
    if start(for: position) == nil { try await discover(timer) }
    guard var start = start(for: position) else {
      throw RemoteAnswerError.corrupt("the server does not name where its list begins")
    }
    while true {
      let reply: RemoteReply<Element>
      do {
        reply = try await server.page(
          from: start.offset, limit: max(count, 128), cursor: nil, isLive: false, timer)
        try take(reply, from: start.position)
      } catch let gone as RemoteGone {
        throw try take(gone, from: start.position)
      }
      if case .page(let page) = try look(from: position, upTo: count) { return page }
      // Another server's nearest offset may be pages before.
      guard !reply.answer.elements.isEmpty else { throw RemoteAnswerError.lacking(from: position) }
      start = (reply.answer.next, start.position + reply.answer.elements.count)
    }
  }

  private func start(for position: Int) -> (offset: String, position: Int)? {
    connection.update { state, _ in state.contents.start(for: position) }
  }

  nonisolated(nonsending) func waitForMore(than position: Int) async throws {
    let outcome = await connection.wait { state, awaited in
      if state.contents.mayHaveMore(than: position) { return .over(.ready) }
      if !awaited.isRunning { state.link.reset() }
      return .waits(number: awaited.enter(position))
    } work: { [self] run in
      await connect(run)
    }
    switch outcome {
    case .ready: return
    case .failed(let error): throw error
    case .cancelled:
      let now = server.now()
      connection.update { state, awaited in if awaited.count == 0 { state.idleSince = now } }
      throw CancellationError()
    }
  }

  /// The server's identity, first element, count and end; `nil` if it does not tell all of them.
  nonisolated(nonsending) func extent() async throws -> ListExtent? {
    try await answer { [self] timer -> ListExtent? in try await discover(timer) }
  }

  /// How many elements there are at least.
  var count: Int { connection.update { state, _ in state.contents.count } }

  func place(at position: Int) -> RemotePlace {
    connection.update { state, _ in state.contents.place(at: position) }
  }

  /// Elements are read on from a place that was kept.
  func resume(at place: RemotePlace) throws {
    try told(
      connection.update { state, _ in
        Result { () throws(RemoteAnswerError) in try state.contents.resume(at: place) }
      })
  }

  @discardableResult
  private func discover(_ timer: ActivityTimer) async throws -> ListExtent? {
    let asked = connection.update { state, _ in state.contents.reach }
    let extent = try await server.extent(timer)
    try update { (contents) throws(RemoteAnswerError) in
      if let extent { try contents.take(extent, asked: asked) } else { contents.isOther() }
    }
    return extent
  }

  // MARK: The live connection

  private enum Step: Sendable {
    case pause(until: Duration)
    case request(RemoteLink.Mode, RemoteContents<Element>.Reach)
  }

  private func connect(_ run: Int) async {
    var waited = Duration.zero
    while true {
      let now = server.now()
      let step = connection.update { state, awaited -> Step? in
        guard awaited.isPresent(run) else { return nil }
        guard awaited.count > 0 else {
          awaited.isOver(run)
          return nil
        }
        let earliest = state.pace.earliest(.live)
        if earliest > now, earliest != waited {
          state.budget.begin(at: now)
          guard let final = state.budget.isOver(at: now) else {
            return .pause(until: min(earliest, state.budget.end ?? earliest))
          }
          awaited.isOver(run)
          tell(final, &state, &awaited, at: now)
          return nil
        }
        return .request(state.link.request(at: now), state.contents.reach)
      }
      switch step {
      case nil: return
      case .pause(let time)?:
        try? await server.clock.sleep(for: time - now)
        waited = time
      case .request(let mode, let reach)?:
        do {
          try await server.listening(whileIdle: hangUpIfIdle) { [self] timer in
            try await converse(mode, run, timer)
          }
          didEnd(run, mode, since: reach, begun: now)
        } catch {
          didFail(RemoteAnswerError(error), run, begun: now)
        }
      }
    }
  }

  /// Reads one response.
  private func converse(_ mode: RemoteLink.Mode, _ run: Int, _ timer: ActivityTimer) async throws {
    if liveStart() == nil { try await discover(timer) }
    guard let start = liveStart() else {
      throw RemoteAnswerError.corrupt("the server does not name where its list ends")
    }
    let cursor = connection.update { state, _ in state.cursor }
    do {
      switch mode {
      case .longPoll:
        let reply = try await server.page(
          from: start.offset, limit: nil, cursor: cursor, isLive: true, timer)
        ifPresent(run) { $0.link.brought() }
        try take(reply, from: start.position)
      case .events:
        var position = start.position
        try await server.events(from: start.offset, cursor: cursor, timer) { [self] in
          ifPresent(run) { $0.link.opened() }
        } reply: { [self] reply in
          try take(reply, from: position)
          position += reply.answer.elements.count
          ifPresent(run) { $0.link.brought() }
          return connection.update { state, _ in !state.contents.isEnded }
        }
      }
    } catch let gone as RemoteGone {
      throw try take(gone, from: start.position)
    }
  }

  private func ifPresent(_ run: Int, _ change: (inout State) -> Void) {
    connection.update { state, awaited in if awaited.isPresent(run) { change(&state) } }
  }

  private func liveStart() -> (offset: String, position: Int)? {
    let (start, discarded) = connection.update { state, _ in
      (state.contents.liveStart(), state.contents.takeDiscarded())
    }
    withExtendedLifetime(discarded) {}
    return start
  }

  /// Ends the connection if nobody has waited for a moment.
  ///
  /// - Returns: after which time it is to be called again.
  private func hangUpIfIdle() -> Duration {
    let now = server.now()
    connection.update { state, awaited in
      if awaited.count == 0, now - state.idleSince >= lingering { awaited.end() }
    }
    // Not at once, if nothing lingers.
    return max(lingering, .milliseconds(100))
  }

  // MARK: What came of a request

  private func take(_ reply: RemoteReply<Element>, from position: Int) throws {
    try update { (contents) throws(RemoteAnswerError) in
      try contents.take(reply.answer, from: position)
    } then: { state, awaited in
      state.budget = FailureBudget(patience)
      state.cursor = reply.cursor ?? state.cursor
      if let pause = reply.pause { state.pace.named(reconnection: pause) }
      if state.contents.isFull { awaited.end() }
    }
  }

  /// The error that says where the list is now.
  private func take(_ gone: RemoteGone, from position: Int) throws -> RemoteAnswerError {
    try update { (contents) throws(RemoteAnswerError) in
      throw contents.gone(gone.first, from: position)
    }
    return .corrupt("the server refuses its own offset")
  }

  /// Changes what is known, and wakes those that have waited for it.
  private func update(
    _ change: (inout RemoteContents<Element>) throws(RemoteAnswerError) -> Void,
    then: (inout State, inout Connection.Awaited) -> Void = { _, _ in }
  ) throws {
    let now = server.now()
    let (result, discarded) = connection.update { state, awaited in
      let result = Result { () throws(RemoteAnswerError) in try change(&state.contents) }
      let contents = state.contents
      let told = awaited.wake(.ready) { position in contents.mayHaveMore(than: position) }
      state.contents.told(told)
      if told > 0, awaited.count == 0 { state.idleSince = now }
      if case .success = result { then(&state, &awaited) }
      return (result, state.contents.takeDiscarded())
    }
    withExtendedLifetime(discarded) {}
    try result.get()
  }

  /// A live response has ended as it should.
  private func didEnd(
    _ run: Int, _ mode: RemoteLink.Mode, since reach: RemoteContents<Element>.Reach,
    begun: Duration
  ) {
    let (now, chance) = (server.now(), server.chance())
    ifPresent(run) { state in
      state.link.ended(at: now)
      if state.contents.reach != reach {
        state.pace.brought(.live)
      } else {
        state.pace.ended(begun: begun, at: now, isEvents: mode == .events, chance: chance)
      }
    }
  }

  private func didFail(_ error: RemoteAnswerError, _ run: Int, begun: Duration) {
    let (now, chance) = (server.now(), server.chance())
    connection.update { state, awaited in
      // Of a connection that nobody wants any more.
      guard awaited.isPresent(run) else { return }
      state.pace.take(error, .live, begun: begun, at: now, chance: chance)
      switch error {
      case .unsupported where state.link.unsupported(at: now): return
      case .silent, .corrupt: state.link.failed(isStrange: true, at: now)
      default: state.link.failed(at: now)
      }
      guard let final = state.budget.take(error, at: now) else { return }
      tell(final, &state, &awaited, at: now)
    }
  }

  /// Tells an error to all that wait.
  private func tell(
    _ final: RemoteAnswerError.Final, _ state: inout State, _ awaited: inout Connection.Awaited,
    at now: Duration
  ) {
    state.budget = FailureBudget(patience)
    state.idleSince = now
    awaited.wake(.failed(final.error(server.path))) { _ in true }
  }
}

/// Why a task does not wait any more for elements of a remote list.
enum RemoteOutcome: Sendable {
  case ready
  case failed(any Error)
  case cancelled
}
