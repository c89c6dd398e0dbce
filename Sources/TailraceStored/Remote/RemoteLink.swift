/// Decides how the live connection of a remote list is made: a value with one method for each event.
///
/// ``WhileAwaited`` decides when there is one, and ``RequestPace`` when it asks.
///
/// | event | what follows |
/// |---|---|
/// | events are refused, or do not come through three times in a row | long polls |
/// | long polls were made for a while | events once more; if they fail again, long polls for longer |
struct RemoteLink: Hashable, Sendable {
  enum Mode: Hashable, Sendable {
    case events
    case longPoll
  }

  private static let limit = 3
  static let shortestFall = Duration.seconds(300)
  static let longestFall = Duration.seconds(3600)

  private(set) var mode = Mode.events
  /// What the server has comes without being asked for, so nothing more is there than what has come.
  private(set) var isReading = false
  /// The response to a request for events has begun.
  private var isOpen = false
  /// The responses of events in a row that have brought none.
  private var fruitless = 0
  /// How often events were given up since some came.
  private var falls = 0
  /// When events are tried again.
  private var eventsAgain = Duration.zero

  /// A connection begins, or is over.
  mutating func reset() { (isReading, isOpen) = (false, false) }

  /// A request is made.
  mutating func request(at now: Duration) -> Mode {
    if mode == .longPoll, now >= eventsAgain {
      mode = .events
      // One response in vain is enough.
      fruitless = Self.limit - 1
    }
    isOpen = false
    if mode == .events { isReading = false }
    return mode
  }

  /// The response to a request for events is one.
  mutating func opened() { isOpen = true }

  /// An event has come, or the answer to a long poll.
  mutating func brought() {
    isReading = true
    if mode == .events { (fruitless, falls) = (0, 0) }
  }

  /// A response has ended as it should.
  mutating func ended(at now: Duration) {
    guard mode == .events else { return }
    let isFruitless = !isReading
    reset()
    if isFruitless { isInVain(at: now) }
  }

  /// There was no response, or it was cut off, or nothing was heard for too long.
  ///
  /// - Parameter isStrange: nothing was heard, as of a proxy that collects a whole response, or the
  ///   response was of somebody else on the way.
  mutating func failed(isStrange: Bool = false, at now: Duration) {
    let isFruitless = mode == .events && !isReading && (isOpen || isStrange)
    reset()
    if isFruitless { isInVain(at: now) }
  }

  /// The server has no events. False if it has no long polls either.
  mutating func unsupported(at now: Duration) -> Bool {
    reset()
    guard mode == .events else { return false }
    fall(at: now)
    return true
  }

  private mutating func isInVain(at now: Duration) {
    fruitless += 1
    if fruitless >= Self.limit { fall(at: now) }
  }

  private mutating func fall(at now: Duration) {
    mode = .longPoll
    eventsAgain = now + min(Self.shortestFall * (1 << falls), Self.longestFall)
    falls = min(falls + 1, 4)
  }
}
