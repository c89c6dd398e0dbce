import Foundation

/// Decides when a list's next request may be sent: the one place that decides pauses, for all readers and
/// for the live connection. A value with one method for each event.
///
/// | event | what follows |
/// |---|---|
/// | a request has brought what was asked for | the next one of its kind may follow at once |
/// | a request fails | a pause, longer after each failure, and never the same for all clients |
/// | a live response ends, and has brought nothing new | the same, counted from when it began |
/// | the server says when to come again (`Retry-After`) | no request of whatever kind before |
/// | the server says how soon to connect again (`retry:`) | no live request sooner after one that has ended |
struct RequestPace: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case page
    case live
  }

  static let shortest = Duration.milliseconds(250)
  static let longest = Duration.seconds(15)
  /// What a server may ask for: a client that waits longer looks like one that has stopped.
  static let longestNamed = Duration.seconds(300)

  /// Requests of one kind in a row that brought nothing.
  private struct Streak: Hashable {
    var count = 0
    var next = Duration.zero
    /// When the last one ended that was counted.
    var counted: Duration?

    mutating func add(begun: Duration, at now: Duration) {
      // Of requests that were under way together one counts. One that was held for long begins a new row.
      if let counted, begun < counted { return }
      counted = now
      count = now - begun >= max(growing, .seconds(1)) ? 1 : min(count + 1, 8)
    }

    var growing: Duration {
      count > 0 ? min(shortest * (1 << (count - 1)), longest) : .zero
    }
  }

  private var pages = Streak()
  private var live = Streak()
  private var closedUntil = Duration.zero
  private var reconnection = Duration.zero

  /// When the next request may be sent.
  func earliest(_ kind: Kind) -> Duration {
    max(closedUntil, kind == .page ? pages.next : live.next)
  }

  /// A request has brought what was asked for, or a live one something new.
  mutating func brought(_ kind: Kind) { change(kind) { $0 = Streak() } }

  /// A request has failed.
  ///
  /// - Parameters:
  ///   - retryAfter: what the server asks for.
  ///   - chance: 0 to 1.
  mutating func failed(
    _ kind: Kind, begun: Duration, at now: Duration, retryAfter: Duration? = nil, chance: Double
  ) {
    let least = kind == .live ? reconnection : .zero
    change(kind) { streak in
      streak.add(begun: begun, at: now)
      let pause = max(streak.growing * (0.5 + chance / 2), least)
      streak.next = max(streak.next, now + pause)
    }
    guard let retryAfter, retryAfter > .zero else { return }
    let named = min(retryAfter, Self.longestNamed)
    closedUntil = max(closedUntil, now + named * (1 + chance / 4))
  }

  /// A request has brought an error.
  mutating func take(
    _ error: RemoteAnswerError, _ kind: Kind, begun: Duration, at now: Duration, chance: Double
  ) {
    // It tells where the list is.
    if error.isAnswer { return brought(kind) }
    var named: Duration?
    if case .later(_, let retryAfter) = error { named = retryAfter }
    failed(kind, begun: begun, at: now, retryAfter: named, chance: chance)
  }

  /// A live response has ended as it should, and has brought nothing new.
  ///
  /// - Parameter isEvents: a connection has ended. A long poll has its answer.
  mutating func ended(begun: Duration, at now: Duration, isEvents: Bool, chance: Double) {
    live.add(begun: begun, at: now)
    live.next = max(live.next, begun + live.growing * (0.5 + chance / 2))
    if isEvents { live.next = max(live.next, now + reconnection) }
  }

  /// The server says how soon a client that has lost its connection may connect again.
  mutating func named(reconnection: Duration) {
    self.reconnection = min(max(reconnection, .zero), Self.longestNamed)
  }

  private mutating func change(_ kind: Kind, _ body: (inout Streak) -> Void) {
    switch kind {
    case .page: body(&pages)
    case .live: body(&live)
    }
  }
}

/// The header field `Retry-After`.
enum RetryAfter {
  /// For how long the server asks not to be asked; `nil` if the field is neither a number of seconds nor a
  /// date.
  ///
  /// - Parameter now: the date of the response, by the server's clock if it told that.
  static func pause(_ field: String, at now: Date) -> Duration? {
    let field = field.trimmingCharacters(in: .whitespaces)
    if !field.isEmpty, field.utf8.allSatisfy(ListOffset.isDigit) {
      return .seconds(min(Int(field) ?? .max, 1_000_000))
    }
    guard let date = date(field) else { return nil }
    return .seconds(min(max(0, date.timeIntervalSince(now)), 1_000_000))
  }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// Reads a date of HTTP, in each of its three forms.
  ///
  /// All of them name the day before the year: `Sun, 06 Nov 1994 08:49:37 GMT`,
  /// `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
  static func date(_ text: String) -> Date? {
    let words = text.lowercased().split { " ,-".contains($0) }
    let times = words.filter { $0.contains(":") }
    let numbers = words.compactMap { Int($0) }
    guard times.count == 1, numbers.count == 2,
      let month = words.lazy.compactMap({ months.firstIndex(of: String($0)) }).first
    else { return nil }
    let clock = times[0].split(separator: ":").compactMap { Int($0) }
    var year = numbers[1]
    if year < 100 { year += year < 70 ? 2000 : 1900 }
    guard clock.count == 3, (1970...9999).contains(year) else { return nil }
    let date = DateComponents(
      calendar: Calendar(identifier: .gregorian), timeZone: .gmt, year: year, month: month + 1,
      day: numbers[0], hour: clock[0], minute: clock[1],
      // A second may be one that was put in.
      second: clock[2] == 60 ? 59 : clock[2])
    return date.isValidDate ? date.date : nil
  }
}
