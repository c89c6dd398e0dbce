import Foundation
import TailraceLists
import TailraceSupport

/// The shell of a remote list: it sends requests, and tells the values that decide what came of them.
final class RemoteCore<Element: Sendable>: Sendable {
  typealias Waiters = PositionWaiters<RemoteOutcome>

  struct State: Sendable {
    var contents: RemoteContents<Element>
    var link = RemoteLink()
    var waiters = Waiters()
    var driver: (number: Int, task: Task<Void, Never>)?
    /// What the server wants to hear with the next live request.
    var cursor: String?
    /// How long it wants a client to pause that has lost its connection.
    var pause = Duration.zero
    /// Since when nobody waits.
    var idleSince = Duration.zero
    var trouble = RemoteTrouble()
  }

  let server: RemoteServer<Element>
  /// How long the server may fail.
  let patience: Duration?
  /// How long the connection stays when nobody waits.
  let lingering: Duration
  let state: Locked<State>

  init(
    _ server: RemoteServer<Element>, from place: RemotePlace, patience: Duration?,
    lingering: Duration
  ) {
    self.server = server
    self.patience = patience
    self.lingering = lingering
    state = Locked(State(contents: RemoteContents(place)))
  }

  // MARK: Readers

  nonisolated(nonsending) func read(
    from position: Int, upTo count: Int
  ) async throws -> ListPage<Element> {
    if case .page(let page) = try look(from: position, upTo: count) { return page }
    return try await answer { [self] ear in
      guard case .page(let page) = try await fetch(from: position, upTo: count, ear) else {
        return nil
      }
      return page
    }
  }

  /// Asks the server until there is an answer, or patience is over.
  ///
  /// - Parameter ask: returns `nil` if the server is to be asked again, at once.
  private nonisolated(nonsending) func answer<Answer: Sendable>(
    _ ask: @escaping @Sendable (RemoteEar) async throws -> Answer?
  ) async throws -> Answer {
    var backoff = RemoteBackoff()
    var trouble = RemoteTrouble()
    while true {
      do {
        if let answer = try await server.listening(ask) { return answer }
      } catch {
        try Task.checkCancellation()
        let error = RemoteAnswerError(error)
        if let final = trouble.take(error, at: server.now(), patience) { throw final }
        backoff.failed(pause: trouble.pause)
        try await server.clock.sleep(for: backoff.pause(server.chance()))
      }
    }
  }

  func look(from position: Int, upTo count: Int) throws -> RemoteContents<Element>.Look {
    try state.withLock { state in
      let isReading = state.link.isReading
      return Result { try state.contents.look(from: position, upTo: count, isReading: isReading) }
    }.get()
  }

  private func fetch(
    from position: Int, upTo count: Int, _ ear: RemoteEar
  ) async throws -> RemoteContents<Element>.Look {
    guard let start = state.withLock({ $0.contents.start(for: position) }) else {
      try await discover(ear)
      return try look(from: position, upTo: count)
    }
    do {
      let reply = try await server.page(
        from: start.offset, limit: max(count, 128), cursor: nil, isLive: false, ear)
      try take(reply, from: start.position)
    } catch let gone as RemoteGone {
      try take(gone, from: start.position)
    }
    return try look(from: position, upTo: count)
  }

  nonisolated(nonsending) func waitForMore(than position: Int) async throws {
    let (number, action): (Int?, RemoteLink.Action) = state.withLock { state in
      if state.contents.mayHaveMore(than: position) { return (nil, .none) }
      let number = state.waiters.enter(position)
      return (number, state.link.waits())
    }
    guard let number else { return }
    perform(action)
    let result = await Waiters.outcome { continuation in
      state.withLock { $0.waiters.wait(number, continuation) }
    } onCancel: {
      // The clock is not asked here: it would run under the lock of the task.
      state.withLock { $0.waiters.tell(number, .cancelled) }
    }
    switch result {
    case .ready: return
    case .failed(let error): throw error
    case .cancelled:
      let now = server.now()
      state.withLock { $0.didLeave(at: now) }
      throw CancellationError()
    }
  }

  /// The server's identity, first element, count and end; `nil` if it does not tell all of them.
  nonisolated(nonsending) func extent() async throws -> ListExtent? {
    try await answer { [self] ear in .some(try await discover(ear)) }
  }

  @discardableResult
  private func discover(_ ear: RemoteEar) async throws -> ListExtent? {
    let asked = state.withLock { $0.contents.reach }
    let extent = try await server.extent(ear)
    try update { (contents) throws(RemoteAnswerError) in
      if let extent { try contents.take(extent, asked: asked) } else { contents.isOther() }
    }
    return extent
  }

  // MARK: The live connection

  private func perform(_ action: RemoteLink.Action) {
    switch action {
    case .none: break
    case .cancel(let driver):
      let task = state.withLock { state in
        state.driver?.number == driver ? state.driver.take()?.task : nil
      }
      task?.cancel()
    case .start(let driver):
      let task = Task { await drive(driver) }
      let isOver = state.withLock { state in
        let isOver = !state.link.isDriving(driver)
        if !isOver { state.driver = (driver, task) }
        return isOver
      }
      // It was told to stop before it could be cancelled.
      if isOver { task.cancel() }
    }
  }

  private func drive(_ driver: Int) async {
    while true {
      switch state.withLock({ $0.link.next(driver) }) {
      case .stop: return
      case .pause(let backoff):
        try? await server.clock.sleep(for: backoff.pause(server.chance()))
        state.withLock { $0.link.paused(driver) }
      case .request(let mode):
        let begin = server.now()
        do {
          let hasBrought = try await server.listening(whileIdle: hangUpIfIdle) { [self] ear in
            try await converse(mode, driver, ear)
          }
          // A server that answers at once with nothing is not asked again at once.
          let isHasty = !hasBrought && server.now() - begin < .seconds(1)
          state.withLock { state in
            if isHasty { state.link.failed(driver) } else { state.link.ended(driver) }
          }
        } catch {
          didFail(RemoteAnswerError(error), driver)
        }
      }
    }
  }

  /// Reads one response. Returns whether it has brought elements.
  private func converse(
    _ mode: RemoteLink.Mode, _ driver: Int, _ ear: RemoteEar
  ) async throws -> Bool {
    var start = liveStart()
    if start == nil {
      try await discover(ear)
      start = liveStart()
    }
    guard let start else { return false }
    do {
      return try await converse(mode, driver, start, ear)
    } catch let gone as RemoteGone {
      try take(gone, from: start.position)
      return false
    }
  }

  private func converse(
    _ mode: RemoteLink.Mode, _ driver: Int, _ start: (offset: String, position: Int),
    _ ear: RemoteEar
  ) async throws -> Bool {
    let cursor = state.withLock { $0.cursor }
    switch mode {
    case .longPoll:
      let reply = try await server.page(
        from: start.offset, limit: nil, cursor: cursor, isLive: true, ear)
      state.withLock { $0.link.brought(driver) }
      try take(reply, from: start.position)
      return !reply.answer.elements.isEmpty
    case .events:
      var position = start.position
      try await server.events(from: start.offset, cursor: cursor, ear) { [self] in
        state.withLock { $0.link.opened(driver) }
      } reply: { [self] reply in
        try take(reply, from: position)
        position += reply.answer.elements.count
        return state.withLock { state in
          state.link.brought(driver)
          return !state.contents.isEnded
        }
      }
      return position > start.position
    }
  }

  private func liveStart() -> (offset: String, position: Int)? {
    let (start, discarded) = state.withLock { state in
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
    let action: RemoteLink.Action = state.withLock { state in
      guard state.link.waiters == 0, now - state.idleSince >= lingering else { return .none }
      return state.link.hangUp()
    }
    perform(action)
    // Not at once, if nothing lingers.
    return max(lingering, .milliseconds(100))
  }

  private func take(_ reply: RemoteReply<Element>, from position: Int) throws {
    let full: RemoteLink.Action = try update { (contents) throws(RemoteAnswerError) in
      try contents.take(reply.answer, from: position)
    } then: { state in
      state.trouble = RemoteTrouble()
      state.cursor = reply.cursor ?? state.cursor
      state.pause = reply.pause ?? state.pause
      return state.contents.isFull ? state.link.hangUp() : .none
    }
    perform(full)
  }

  private func take(_ gone: RemoteGone, from position: Int) throws {
    try update { (contents) throws(RemoteAnswerError) in
      throw contents.gone(gone.first, from: position)
    }
  }

  /// Changes what is known, and wakes those that have waited for it.
  private func update(
    _ change: (inout RemoteContents<Element>) throws(RemoteAnswerError) -> Void
  ) throws {
    _ = try update(change) { _ in RemoteLink.Action.none }
  }

  private func update(
    _ change: (inout RemoteContents<Element>) throws(RemoteAnswerError) -> Void,
    then: (inout State) -> RemoteLink.Action
  ) throws -> RemoteLink.Action {
    let now = server.now()
    let (result, woken, discarded) = state.withLock { state in
      let result = Result { () throws(RemoteAnswerError) in
        try change(&state.contents)
      }
      let contents = state.contents
      let woken = state.waiters.wake(.ready) { position, _ in
        contents.mayHaveMore(than: position)
      }
      state.didLeave(at: now)
      return (result.map { then(&state) }, woken, state.contents.takeDiscarded())
    }
    withExtendedLifetime(discarded) {}
    Waiters.tell(woken)
    return try result.get()
  }

  private func didFail(_ error: RemoteAnswerError, _ driver: Int) {
    let now = server.now()
    let woken: Waiters.Woken = state.withLock { state in
      // Of a connection that nobody wants any more.
      guard state.link.isDriving(driver) else { return [] }
      if case .unsupported = error, state.link.unsupported(driver) {
        return []
      }
      let final = state.trouble.take(error, at: now, patience)
      var isSilent = false
      if case .silent = error { isSilent = true }
      state.link.failed(
        driver, pause: max(state.pause, state.trouble.pause ?? .zero), isSilent: isSilent)
      guard let final else { return [] }
      state.trouble = RemoteTrouble()
      let woken = state.waiters.wake(.failed(final)) { _, _ in true }
      state.didLeave(at: now)
      return woken
    }
    Waiters.tell(woken)
  }
}

/// Why a task does not wait any more for elements of a remote list.
enum RemoteOutcome: Sendable {
  case ready
  case failed(any Error)
  case cancelled
}

extension RemoteCore.State {
  /// Some may not wait any more.
  mutating func didLeave(at now: Duration) {
    guard link.waiters > 0, waiters.count < link.waiters else { return }
    link.leave(link.waiters - waiters.count)
    if link.waiters == 0 { idleSince = now }
  }
}
