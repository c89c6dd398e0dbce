import NIOCore
import Synchronization

/// Waits for news of one list, for all tasks of a store, with one blocked `XREAD` at a time.
///
/// The command ends without news after `heartbeat`: the tasks then read the list again, and so
/// learn of a list that was deleted. Until then it costs nothing that they wait.
final class Watch: Sendable {
  private let connection: Connection
  private let stream: ByteBuffer
  private let freed: ByteBuffer
  private let state: Mutex<WatchState>

  init(_ server: ValkeyServer, stream: ByteBuffer, freed: ByteBuffer, heartbeat: Duration) {
    connection = Connection(server)
    self.stream = stream
    self.freed = freed
    state = Mutex(WatchState(heartbeat: heartbeat))
  }

  /// The number of the last entry that was announced since the list was read.
  var announced: Int { state.withLock(\.announced) }

  /// The list was read: the number of its last entry, and whether it has ended.
  func listWasRead(last: Int, isEnded: Bool) {
    state.withLock { $0.listWasRead(last: last, isEnded: isEnded) }
  }

  /// A lease was refused because of another one, with this number, that lasts so long.
  func leaseWasRefused(by number: Int, for duration: Duration) {
    state.withLock { $0.leaseWasRefused(by: number, until: .now + duration) }
  }

  func close() { connection.close() }

  /// Waits for more than so many elements, the end, or a lease that may succeed.
  nonisolated(nonsending) func waitForMore(than position: Int) async throws {
    let ticket = state.withLock { $0.ticket() }
    defer { state.withLock { $0.forget(ticket) } }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let step = state.withLock { $0.enter(ticket, position, continuation, now: .now) }
        switch step {
        case .leave: continuation.resume()
        case .wait: break
        case .watch: Task { await self.watch() }
        }
      }
    } onCancel: {
      state.withLock { $0.cancel(ticket) }?.resume()
    }
  }

  private func watch() async {
    while let round = state.withLock({ $0.nextRound(now: .now) }) {
      let outcome: WatchState.Outcome
      do {
        outcome = try Self.outcome(
          try await connection.call([command(round)], patience: round.limit)[0], stream)
      } catch {
        outcome = .failed(error)
      }
      let (woken, error) = state.withLock { $0.roundEnded(outcome) }
      for waiter in woken {
        if let error { waiter.resume(throwing: error) } else { waiter.resume() }
      }
    }
  }

  private func command(_ round: WatchState.Round) -> [ByteBuffer] {
    // At least one: zero is forever.
    let limit = max(1, round.limit / .milliseconds(1))
    let words = ["XREAD", "COUNT", "1", "BLOCK", "\(Int(limit.rounded(.up)))", "STREAMS"]
    return words.map { ByteBuffer(string: $0) } + [
      stream, freed, ByteBuffer(string: "0-\(round.last)"),
      ByteBuffer(string: round.freed.map { "0-\($0)" } ?? "$"),
    ]
  }

  /// A reply is `[[key, [[id, [field, value, ...]], ...]], ...]`, or null after the limit.
  private static func outcome(_ reply: RESP, _ stream: ByteBuffer) throws -> WatchState.Outcome {
    if case .error(let message) = reply { throw ValkeyError(reply: message) }
    if reply == .null { return .quiet }
    // News of nothing would be waited for again at once, without end.
    guard let parts = reply.asArray, !parts.isEmpty else {
      throw ValkeyError.unexpectedReply("to XREAD: \(reply)")
    }
    var news = WatchState.News()
    for part in parts {
      guard let pair = part.asArray, pair.count == 2,
        let entry = pair[1].asArray?.last?.asArray, entry.count == 2,
        let id = entry[0].asText, id.hasPrefix("0-"), let number = Int(id.dropFirst(2))
      else { throw ValkeyError.unexpectedReply("entries of XREAD: \(part)") }
      if pair[0] == .bytes(stream) {
        news.last = number
        let end = RESP.bytes(ByteBuffer(string: "z"))
        let fields = entry[1].asArray ?? []
        news.isEnded = stride(from: 0, to: fields.count, by: 2).contains { fields[$0] == end }
      } else {
        news.freed = number
      }
    }
    return .news(news)
  }
}

/// The tasks that wait for news of a list: a value with one method for each event.
struct WatchState {
  typealias Waiter = CheckedContinuation<Void, any Error>

  enum Step { case leave, wait, watch }

  /// The events to wait for: an entry after `last`; a lease freed after `freed`, or from now on.
  struct Round: Equatable {
    let last: Int
    let freed: Int?
    let limit: Duration
  }

  struct News: Equatable {
    var last: Int?
    var isEnded = false
    var freed: Int?
  }

  enum Outcome {
    case news(News)
    case quiet
    case failed(any Error)
  }

  /// The lease because of which another one was refused, and the end of its lease.
  private struct Refusal {
    let number: Int
    let until: ContinuousClock.Instant
  }

  let heartbeat: Duration
  private var waiters: [Int: (position: Int, waiter: Waiter)] = [:]
  private var nextTicket = 0
  private var cancelled: Set<Int> = []
  /// The number of the list's last entry, as of the last reply; `nil` before the first.
  private var last: Int?
  private(set) var announced = 0
  private var isEnded = false
  private var refusal: Refusal?
  /// The number of the last lease that was freed, if that was seen.
  private var freed = 0
  /// The events that are being waited for; `nil` if none are.
  private var round: Round?

  init(heartbeat: Duration) { self.heartbeat = heartbeat }

  mutating func listWasRead(last: Int, isEnded: Bool) {
    (self.last, self.isEnded) = (last, isEnded)
    announced = 0
  }

  mutating func leaseWasRefused(by number: Int, until: ContinuousClock.Instant) {
    // The reply may be older than the news that the lease was freed.
    refusal = Refusal(number: number, until: number <= freed ? .now : until)
  }

  mutating func ticket() -> Int {
    nextTicket += 1
    return nextTicket
  }

  mutating func enter(
    _ ticket: Int, _ position: Int, _ waiter: Waiter, now: ContinuousClock.Instant
  ) -> Step {
    if cancelled.remove(ticket) != nil { return .leave }
    if let last, position < last || isEnded { return .leave }
    if let refusal, refusal.until <= now {
      self.refusal = nil
      return .leave
    }
    // More was known when the round began: a read before was overtaken by the news.
    if let round, position < round.last { return .leave }
    waiters[ticket] = (position, waiter)
    if round != nil { return .wait }
    // Taken before the task begins, so that nobody starts another.
    round = makeRound(now: now)
    return .watch
  }

  mutating func cancel(_ ticket: Int) -> Waiter? {
    if let entry = waiters.removeValue(forKey: ticket) { return entry.waiter }
    cancelled.insert(ticket)
    return nil
  }

  /// The task has returned.
  mutating func forget(_ ticket: Int) { cancelled.remove(ticket) }

  /// The events to wait for next; `nil` if nobody waits.
  mutating func nextRound(now: ContinuousClock.Instant) -> Round? {
    round = waiters.isEmpty ? nil : makeRound(now: now)
    return round
  }

  private func makeRound(now: ContinuousClock.Instant) -> Round {
    let nearest = waiters.values.map(\.position).min() ?? 0
    let limit = refusal.map { min(heartbeat, now.duration(to: $0.until)) } ?? heartbeat
    return Round(
      last: min(nearest, last ?? nearest), freed: refusal.map { $0.number - 1 },
      limit: max(limit, .milliseconds(1)))
  }

  /// Returns the tasks that wait no longer, and their error.
  mutating func roundEnded(_ outcome: Outcome) -> ([Waiter], (any Error)?) {
    switch outcome {
    case .quiet:
      refusal = nil
      return (takeWaiters { _ in true }, nil)
    case .failed(let error):
      return (takeWaiters { _ in true }, error)
    case .news(let news):
      if let number = news.last { (last, isEnded, announced) = (number, news.isEnded, number) }
      if let number = news.freed { freed = number }
      let isFree = refusal.map { $0.number <= freed } ?? false
      if isFree { refusal = nil }
      let (last, isEnded) = (last ?? 0, isEnded)
      return (takeWaiters { isFree || isEnded || $0 < last }, nil)
    }
  }

  private mutating func takeWaiters(_ isOver: (Int) -> Bool) -> [Waiter] {
    let over = waiters.filter { isOver($0.value.position) }
    for ticket in over.keys { waiters[ticket] = nil }
    return over.values.map(\.waiter)
  }
}
