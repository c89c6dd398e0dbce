/// Decides what the live connection of a remote list does: a value with one method for each event.
///
/// One task at a time, the *driver*, asks `next` for its step, takes it, and tells what came of it. There
/// is a driver exactly while somebody waits for elements, or has until a moment ago.
///
/// | event | what follows |
/// |---|---|
/// | somebody waits | a driver, if there is none |
/// | nobody waits any more | the connection stays for a moment; then it is ended |
/// | a response ends that has brought something | the next request, if somebody waits |
/// | a request fails, or nothing is heard | a pause, then the next request, if somebody waits |
/// | events are refused, or never come through | long polls from then on |
/// | the list is over, or cannot be read | no driver; those that wait are told |
struct RemoteLink: Hashable, Sendable {
  enum Mode: Hashable, Sendable {
    case events
    case longPoll
  }

  enum Step: Hashable, Sendable {
    case request(Mode)
    case pause(RemoteBackoff)
    /// The driver is over.
    case stop
  }

  enum Action: Hashable, Sendable {
    case none
    case start(driver: Int)
    /// This one, and no other that was started meanwhile.
    case cancel(driver: Int)
  }

  private enum Phase: Hashable {
    case idle
    case requesting
    /// Events are coming. `brought` if one has come.
    case reading(brought: Bool)
    case pausing
  }

  private var phase = Phase.idle
  private(set) var mode = Mode.events
  private(set) var waiters = 0
  private var backoff = RemoteBackoff()
  /// The responses of events in a row that have brought none.
  private var fruitless = 0
  /// Drivers before this one are over, whatever they still say.
  private var driver = 0

  /// Whether events are coming, so that what the server has is known without asking.
  var isReading: Bool { phase == .reading(brought: true) }

  func isDriving(_ driver: Int) -> Bool { driver == self.driver && phase != .idle }

  /// Somebody waits.
  mutating func waits() -> Action {
    waiters += 1
    guard phase == .idle else { return .none }
    driver += 1
    phase = .requesting
    return .start(driver: driver)
  }

  /// So many do not wait any more. The connection stays: they may soon wait again.
  mutating func leave(_ count: Int = 1) { waiters -= count }

  /// Nobody has waited for a moment, or what has come is enough for now.
  mutating func hangUp() -> Action {
    guard waiters == 0, phase != .idle else { return .none }
    phase = .idle
    defer { driver += 1 }
    return .cancel(driver: driver)
  }

  // MARK: Asked and told by the driver

  mutating func next(_ driver: Int) -> Step {
    guard driver == self.driver, phase != .idle else { return .stop }
    guard waiters > 0 else {
      phase = .idle
      return .stop
    }
    if phase == .pausing { return .pause(backoff) }
    phase = .requesting
    return .request(mode)
  }

  mutating func paused(_ driver: Int) {
    guard driver == self.driver, phase == .pausing else { return }
    phase = .requesting
  }

  /// The response to a request for events is one.
  mutating func opened(_ driver: Int) {
    guard driver == self.driver, phase == .requesting else { return }
    phase = .reading(brought: false)
  }

  /// An event has come, or the answer to a long poll.
  mutating func brought(_ driver: Int) {
    guard driver == self.driver else { return }
    backoff.succeeded()
    fruitless = 0
    if case .reading = phase { phase = .reading(brought: true) }
  }

  /// A response has ended.
  mutating func ended(_ driver: Int) {
    guard driver == self.driver, phase != .idle else { return }
    if case .reading(brought: false) = phase { return failed(driver) }
    phase = .requesting
  }

  /// There was no response, or it was cut off, or nothing was heard for too long.
  ///
  /// - Parameter isSilent: a proxy that collects a whole response looks like that, too.
  mutating func failed(_ driver: Int, pause: Duration? = nil, isSilent: Bool = false) {
    guard driver == self.driver, phase != .idle else { return }
    if phase == .reading(brought: false) || isSilent && phase == .requesting {
      fruitless += 1
      if fruitless >= 3 { mode = .longPoll }
    }
    backoff.failed(pause: pause)
    phase = .pausing
  }

  /// The server has no events. False if it has no long polls either.
  mutating func unsupported(_ driver: Int) -> Bool {
    guard driver == self.driver, phase != .idle else { return true }
    guard mode == .events else { return false }
    mode = .longPoll
    phase = .requesting
    return true
  }
}
