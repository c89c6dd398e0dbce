import Foundation
import TailraceLists
import TailraceSupport

/// The shell of an endpoint's shared tail: lets responses wait, and reads for them.
final class TailReader<Source: ListSource>: Sendable {
  enum Outcome: Sendable {
    case more
    /// This list is gone.
    case changed
    case timedOut
    case failed(any Error)
    case cancelled
  }

  private struct State: Sendable {
    var tail: SharedTail
    var waiters = PositionWaiters<Outcome>()
    var reader: (number: Int, task: Task<Void, Never>)?
    /// The alarm's number, and when it goes off.
    var alarm: (number: Int, time: Duration)?
    var alarms = 0
    /// The last page that was made for a response that had waited.
    var lastPage: EncodedPage?
    var lastEvents: (cursor: String, bytes: Data)?
  }

  private typealias Waiters = PositionWaiters<Outcome>
  private typealias Woken = Waiters.Woken

  let source: Source
  let clock: any Clock<Duration>
  let now: @Sendable () -> Duration
  let encode: @Sendable (Source.Element) throws -> Data
  private let pageLimit: Int
  private let pageBytes: Int
  private let state: Locked<State>

  init(
    _ source: Source, pageLimit: Int, pageBytes: Int, clock: any Clock<Duration>,
    encode: @escaping @Sendable (Source.Element) throws -> Data
  ) {
    self.source = source
    self.clock = clock
    self.encode = encode
    self.pageLimit = pageLimit
    self.pageBytes = pageBytes
    now = timeFromNow(on: clock)
    state = Locked(
      State(tail: SharedTail(limit: min(pageLimit, 1024), byteLimit: max(pageBytes, 1 << 20))))
  }

  // MARK: Responses

  /// The elements from a position on, up to another one, if all that fit in a page are here.
  func page(
    _ identity: String?, from position: Int, upTo end: Int, _ limit: Int
  ) -> EncodedPage? {
    guard position < end else { return nil }
    let page = state.withLock {
      $0.tail.page(identity, from: position, upTo: end, limit, pageBytes)
    }
    guard let page else { return nil }
    let isFull = page.next == end || page.count == limit || page.json.count > pageBytes
    return isFull ? page : nil
  }

  /// The elements behind a position at which a response has waited, if they are here.
  func page(_ identity: String?, from position: Int, _ limit: Int) -> EncodedPage? {
    state.withLock { state in
      // All that have waited want the same.
      if let last = state.lastPage, last.start == position, last.identity == identity,
        last.count <= limit, last.next == state.tail.end, last.isEnd == state.tail.isEnded
      {
        return last
      }
      let page = state.tail.page(identity, from: position, limit, pageBytes)
      if let page { (state.lastPage, state.lastEvents) = (page, nil) }
      return page
    }
  }

  /// A page as events.
  func events(_ page: EncodedPage, cursor: String) -> Data {
    func isLast(_ state: State) -> Bool {
      guard let last = state.lastPage else { return false }
      return last.identity == page.identity && last.start == page.start && last.next == page.next
        && last.isEnd == page.isEnd && last.isUpToDate == page.isUpToDate
    }
    let known = state.withLock { state in
      isLast(state) && state.lastEvents?.cursor == cursor ? state.lastEvents?.bytes : nil
    }
    if let known { return known }
    let bytes = page.events(cursor: cursor)
    state.withLock { state in if isLast(state) { state.lastEvents = (cursor, bytes) } }
    return bytes
  }

  /// Keeps elements that were read for one response.
  func offer(_ elements: [Data], isEnd: Bool, _ identity: String?, at position: Int) {
    tell { $0.tail.offer(elements, isEnd: isEnd, identity, at: position) }
  }

  /// Waits until there are more than `position` elements, the list has ended, or it is gone.
  nonisolated(nonsending) func wait(
    _ identity: String?, than position: Int, until deadline: Duration
  ) async -> Outcome {
    let (number, woken, action, alarm) = state.withLock {
      state -> (Int?, Woken, SharedTail.Action, (number: Int, time: Duration)?) in
      let (wait, wakesOthers, action) = state.tail.wait(identity, than: position)
      guard wait == .waits else { return (nil, [], .none, nil) }
      let woken = wakesOthers ? state.waiters.wake(.more) { _, _ in true } : []
      let number = state.waiters.enter(position, deadline: deadline)
      return (number, woken, action, Self.setAlarm(deadline, &state))
    }
    Waiters.tell(woken)
    guard let number else { return .more }
    perform(action)
    if let alarm { ring(alarm) }
    let outcome = await Waiters.outcome { continuation in
      state.withLock { $0.waiters.wait(number, continuation) }
    } onCancel: {
      state.withLock { $0.waiters.tell(number, .cancelled) }
    }
    // The others have been told together with this one.
    perform(state.withLock { $0.tail.left($0.waiters.count) })
    return outcome
  }

  /// Tells those that have waited for some news. If nobody waits any more, the reader stops at once: it
  /// must not begin to wait for what nobody demands.
  private func tell(_ change: (inout State) -> SharedTail.News) {
    let (woken, action) = state.withLock { state -> (Woken, SharedTail.Action) in
      let woken: Woken
      switch change(&state) {
      case .none: return ([], .none)
      case .more:
        let (end, isEnded) = (state.tail.end, state.tail.isEnded)
        woken = state.waiters.wake(.more) { position, _ in position < end || isEnded }
      case .changed: woken = state.waiters.wake(.changed) { _, _ in true }
      }
      return (woken, state.tail.left(state.waiters.count))
    }
    perform(action)
    Waiters.tell(woken)
  }

  // MARK: The reader

  private func perform(_ action: SharedTail.Action) {
    switch action {
    case .none: break
    case .cancel(let reader):
      let task = state.withLock { state in
        state.reader?.number == reader ? state.reader.take()?.task : nil
      }
      task?.cancel()
    case .start(let reader):
      let task = Task { await read(reader) }
      let surplus = state.withLock { state in
        // It was told to stop before it could be cancelled.
        guard state.tail.isReading(reader) else { return task as Task<Void, Never>? }
        defer { state.reader = (reader, task) }
        return state.reader?.task
      }
      surplus?.cancel()
    }
  }

  private func read(_ reader: Int) async {
    while true {
      do {
        switch state.withLock({ $0.tail.next(reader) }) {
        case .stop: return
        case .wait(let position):
          try await source.waitForMore(than: position)
          state.withLock { $0.tail.didWait(reader) }
        case .read(let position):
          let page = try await source.read(from: position, upTo: min(pageLimit, 1024))
          let elements = try page.elements.map(encode)
          // After the read: an identity never comes back.
          let identity = try await source.extent().identity
          tell {
            $0.tail.didRead(elements, isEnd: page.isEnd, identity, at: position, reader)
          }
        }
      } catch {
        Waiters.tell(
          state.withLock { state in
            guard state.tail.failed(reader) else { return [] }
            return state.waiters.wake(.failed(error)) { _, _ in true }
          })
        return
      }
    }
  }

  // MARK: Deadlines

  /// One alarm for all: it goes off at the first deadline.
  private static func setAlarm(
    _ deadline: Duration, _ state: inout State
  ) -> (number: Int, time: Duration)? {
    if let alarm = state.alarm, alarm.time <= deadline { return nil }
    state.alarms += 1
    state.alarm = (state.alarms, deadline)
    return state.alarm
  }

  private func ring(_ alarm: (number: Int, time: Duration)) {
    Task { [weak self, clock, now] in
      try? await clock.sleep(for: alarm.time - now())
      self?.rang(alarm.number)
    }
  }

  private func rang(_ number: Int) {
    let now = now()
    let (woken, alarm) = state.withLock { state -> (Woken, (number: Int, time: Duration)?) in
      guard state.alarm?.number == number else { return ([], nil) }
      state.alarm = nil
      let woken = state.waiters.wake(.timedOut) { _, deadline in deadline.map { $0 <= now } ?? false
      }
      return (woken, state.waiters.nextDeadline.flatMap { Self.setAlarm($0, &state) })
    }
    Waiters.tell(woken)
    if let alarm { ring(alarm) }
  }
}
