import TailraceLists
import TailraceSupport

/// The shell of a remote list: it sends requests, and tells ``RemoteState`` what came of them.
final class RemoteCore<Element: Sendable>: Sendable {
  typealias State = RemoteState<Element>
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
      State(contents, patience: patience), lingers: true, clock: server.clock, now: server.now,
      timedOut: .ready, cancelled: .cancelled)
  }

  /// Changes the state. Elements that are not kept any more are released outside of the lock.
  private func update<Value: Sendable, Failure: Error>(
    _ change: (inout State, inout Connection.Awaited) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    var discarded: [[Element]] = []
    defer { withExtendedLifetime(discarded) {} }
    return try connection.update {
      (state: inout State, awaited: inout Connection.Awaited) throws(Failure) -> Value in
      defer { discarded = state.contents.takeDiscarded() }
      return try change(&state, &awaited)
    }
  }

  // MARK: Readers

  nonisolated(nonsending) func read(
    from position: Int, upTo count: Int
  ) async throws -> ListPage<Element> {
    do throws(RemoteAnswerError) {
      if let page = try look(from: position, upTo: count) { return page }
    } catch {
      throw error.told(server.path)
    }
    return try await answer { [self] timer in try await fetch(from: position, upTo: count, timer) }
  }

  /// Asks the server until there is an answer, or patience is over.
  private nonisolated(nonsending) func answer<Answer: Sendable>(
    _ ask: @escaping @Sendable (ActivityTimer) async throws -> Answer
  ) async throws -> Answer {
    var budget = FailureBudget(patience)
    while true {
      // Requests of others may have failed meanwhile.
      let (begun, earliest) = (server.now(), update { state, _ in state.pace.earliest(.page) })
      switch budget.turn(earliest, at: begun) {
      case .pause(let time):
        try await server.clock.sleep(for: time - begun)
        continue
      case .over(let final): throw final.error(server.path)
      case .request: break
      }
      do {
        let answer = try await server.listening(ask)
        update { state, _ in state.pace.brought(.page) }
        return answer
      } catch {
        try Task.checkCancellation()
        let error = RemoteAnswerError(error)
        let (now, chance) = (server.now(), server.chance())
        let final = update { state, _ -> RemoteAnswerError.Final? in
          state.pace.take(error, .page, begun: begun, at: now, chance: chance)
          return budget.take(error, at: now)
        }
        if let final { throw final.error(server.path) }
      }
    }
  }

  private func look(
    from position: Int, upTo count: Int
  ) throws(RemoteAnswerError) -> ListPage<Element>? {
    try update { (state, awaited) throws(RemoteAnswerError) in
      try state.look(from: position, upTo: count, awaited)
    }
  }

  private func fetch(
    from position: Int, upTo count: Int, _ timer: ActivityTimer
  ) async throws -> ListPage<Element> {
    var start = try await start(timer) { contents in contents.start(for: position) }
    while true {
      let answer = try await orGone(from: start.position) {
        try await server.page(
          from: start.offset, limit: max(count, 128), cursor: nil, isLive: false, timer)
      }
      try take(answer, from: start.position)
      if let page = try look(from: position, upTo: count) { return page }
      // Another server's nearest offset may be pages before.
      guard !answer.elements.isEmpty else { throw RemoteAnswerError.lacking(from: position) }
      start = (answer.next, start.position + answer.elements.count)
    }
  }

  nonisolated(nonsending) func waitForMore(than position: Int) async throws {
    let outcome = await connection.wait { state, awaited in
      state.enter(waitingFor: position, &awaited).map { .waits(number: $0) } ?? .over(.ready)
    } work: { [self] run in
      await connect(run)
    }
    switch outcome {
    case .ready: return
    case .failed(let final): throw final.error(server.path)
    case .cancelled:
      let now = server.now()
      update { state, awaited in state.left(at: now, awaited) }
      throw CancellationError()
    }
  }

  /// The server's identity, first element, count and end; `nil` if it does not tell all of them.
  nonisolated(nonsending) func extent() async throws -> ListExtent? {
    try await answer { [self] timer -> ListExtent? in try await discover(timer) }
  }

  /// How many elements there are at least.
  var count: Int { update { state, _ in state.contents.count } }

  /// How many readers wait for more than there is.
  var waitingCount: Int { update { _, awaited in awaited.count } }

  func place(at position: Int) -> RemotePlace {
    update { state, _ in state.contents.place(at: position) }
  }

  /// Elements are read on from a place that was kept.
  func resume(at place: RemotePlace) throws {
    do throws(RemoteAnswerError) {
      try update { (state, _) throws(RemoteAnswerError) in try state.contents.resume(at: place) }
    } catch {
      throw error.told(server.path)
    }
  }

  // MARK: Requests

  /// Where a request begins. If that is not known, the list is asked for its identity first.
  private func start(
    _ timer: ActivityTimer,
    _ find: (inout RemoteContents<Element>) -> (offset: String, position: Int)?
  ) async throws -> (offset: String, position: Int) {
    if let start = update({ state, _ in find(&state.contents) }) { return start }
    try await discover(timer)
    if let start = update({ state, _ in find(&state.contents) }) { return start }
    throw RemoteAnswerError.corrupt("the server does not name where its list is")
  }

  @discardableResult
  private func discover(_ timer: ActivityTimer) async throws -> ListExtent? {
    let reach = update { state, _ in state.contents.reach }
    let extent = try await server.extent(timer)
    let now = server.now()
    try update { (state, awaited) throws(RemoteAnswerError) in
      try state.took(extent, asked: reach, at: now, &awaited)
    }
    return extent
  }

  /// Makes a request that begins at a position. If the server says that nothing is there, the error is where
  /// the list is now.
  private nonisolated(nonsending) func orGone<Value>(
    from position: Int, _ request: () async throws -> Value
  ) async throws -> Value {
    do { return try await request() } catch let gone as RemoteGone {
      let now = server.now()
      throw update { state, awaited in
        state.gone(gone.first, from: position, at: now, &awaited)
      }
    }
  }

  private func take(
    _ answer: RemoteContents<Element>.Answer, from position: Int, run: Int? = nil
  ) throws(RemoteAnswerError) {
    let now = server.now()
    try update { (state, awaited) throws(RemoteAnswerError) in
      try state.took(answer, from: position, run: run, at: now, &awaited)
    }
  }

  // MARK: The live connection

  private func connect(_ run: Int) async {
    while true {
      let now = server.now()
      switch update({ state, awaited in state.step(run, at: now, &awaited) }) {
      case nil: return
      case .pause(let time)?: try? await server.clock.sleep(for: time - now)
      case .request(let mode)?:
        let failure: RemoteAnswerError?
        do {
          try await server.listening(whileIdle: endIfIdle) { [self] timer in
            try await converse(mode, run, timer)
          }
          failure = nil
        } catch {
          failure = RemoteAnswerError(error)
        }
        let (now, chance) = (server.now(), server.chance())
        update { state, awaited in
          if let failure {
            state.failed(failure, run, at: now, chance: chance, &awaited)
          } else {
            state.ended(run, at: now, chance: chance, awaited)
          }
        }
      }
    }
  }

  /// Reads one response.
  private func converse(_ mode: RemoteLink.Mode, _ run: Int, _ timer: ActivityTimer) async throws {
    let start = try await start(timer) { contents in contents.liveStart() }
    let cursor = update { state, _ in state.cursor }
    try await orGone(from: start.position) {
      switch mode {
      case .longPoll:
        let answer = try await server.page(
          from: start.offset, limit: nil, cursor: cursor, isLive: true, timer)
        try take(answer, from: start.position, run: run)
      case .events:
        var position = start.position
        try await server.events(from: start.offset, cursor: cursor, timer) {
          update { state, awaited in state.opened(run, awaited) }
        } take: { answer in
          try take(answer, from: position, run: run)
          position += answer.elements.count
          return update { state, _ in !state.contents.isEnded }
        }
      }
    }
  }

  /// Ends the connection if nobody has waited for a while.
  ///
  /// - Returns: after which time it is to be called again.
  private func endIfIdle() -> Duration {
    let now = server.now()
    update { state, awaited in state.endIfIdle(for: lingering, at: now, &awaited) }
    // Not at once, if nothing lingers.
    return max(lingering, .milliseconds(100))
  }
}
