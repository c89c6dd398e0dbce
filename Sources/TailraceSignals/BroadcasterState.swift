import TailraceLists
import TailraceSchedulers

/// A hot signal as a value: its listeners, the replay for late listeners, and whether it is over.
///
/// It ends when told to. It is cancelled when it has no listeners and
/// - no new one can subscribe; or
/// - it runs a source whose keep-alive time, if any, is over.
@usableFromInline
struct BroadcasterState<Listener: AnyObject & Sendable, Element: Sendable, Failure: Error>: Sendable
{
  @usableFromInline typealias Source = @Sendable (Signal<Element, Failure>.Subscriber) -> Void

  /// Where the elements come from.
  enum Origin: Sendable {
    /// The holders of the subscriber send them.
    case sender
    /// A source sends them. The first listener that reads runs it.
    case source(Source)
    /// The source is running.
    case running
  }

  enum Joining: Sendable {
    /// Takes the pending inbox, which holds the elements sent before the first subscription.
    case pendingInbox(Listener, number: Int)
    /// Listens from now on, and leaves with this number.
    case listens(number: Int)
    /// Too late: only the past and the ending are left.
    case ended(Failure?)
    /// Too late: nothing is left. The next subscription needs another broadcaster.
    case cancelled
  }

  /// The action to take after a listener has left.
  enum Departure: Sendable {
    case nothing
    /// Start the keep-alive timer. The last listener's number identifies a stale timer.
    case keepAlive(since: Int)
    case end(Remains)
  }

  /// The actions to take when the signal is over.
  struct Remains: Sendable {
    var handlers: [@Sendable () -> Void] = []
    /// To cancel.
    var timer: ScheduledWork?
    /// To release.
    var garbage: (Origin, Buffer<Element>)?
  }

  @usableFromInline var life = Lifecycle<Element, Failure>()
  @usableFromInline var listeners = Registry<Listener>()
  /// How many senders have begun to wait and have not sent yet. One that comes now goes behind them.
  @usableFromInline var queued = 0
  /// The last elements: a late listener begins with them.
  @usableFromInline var past: Buffer<Element>
  /// Holds elements for the first subscription.
  var pendingInbox: (listener: Listener, number: Int)?
  var origin: Origin
  /// Whether a source is kept for some time without listeners.
  let isKept: Bool
  /// Runs while a source is kept without listeners.
  var timer: ScheduledWork?
  /// Whether new listeners can subscribe.
  var isReachable = true

  /// For senders. A pending inbox keeps the elements sent before the first subscription.
  init(pendingInbox: Listener?, replaying count: Int) {
    past = Buffer(newest: count)
    origin = .sender
    isKept = false
    if let pendingInbox { self.pendingInbox = (pendingInbox, listeners.add(pendingInbox)) }
  }

  /// For a source, which runs once for all listeners.
  init(source: @escaping Source, replaying count: Int, isKept: Bool) {
    past = Buffer(newest: count)
    origin = .source(source)
    self.isKept = isKept
  }

  /// Keeps an element for late listeners. Returns an element to release.
  @_alwaysEmitIntoClient
  mutating func remember(_ element: Element) -> Element? {
    guard past.limit > 0, case .dropped(let oldest) = past.append(element) else { return nil }
    return oldest
  }

  /// Adds a listener that already has the past. Also returns a timer to cancel.
  mutating func join(_ listener: Listener) -> (joining: Joining, timer: ScheduledWork?) {
    if let (pendingInbox, number) = pendingInbox.take() {
      return (.pendingInbox(pendingInbox, number: number), nil)
    }
    switch life.phase {
    case .open: return (.listens(number: listeners.add(listener)), timer.take())
    case .ended(let failure): return (.ended(failure), nil)
    case .cancelled: return (.cancelled, nil)
    }
  }

  /// A listener wants to read. Returns the source to the first one: the caller then runs it.
  ///
  /// A listener that has left meanwhile starts nothing: nothing would ever stop the source.
  mutating func start(for number: Int) -> Source? {
    guard life.isOpen, listeners.contains(number), case .source(let source) = origin else {
      return nil
    }
    origin = .running
    return source
  }

  /// Removes the listener with that number, if it is still there. The caller releases it.
  mutating func leave(_ number: Int) -> (former: Listener?, departure: Departure) {
    guard let former = listeners.remove(number) else { return (nil, .nothing) }
    return (former, departure())
  }

  /// No new subscription can be made; an untaken pending inbox is not needed any more.
  mutating func becomeUnreachable() -> (unused: Listener?, departure: Departure) {
    isReachable = false
    let unused = pendingInbox.take()
    if let unused { _ = listeners.remove(unused.number) }
    return (unused?.listener, departure())
  }

  /// Stores the keep-alive timer. Returns a timer to cancel.
  mutating func keep(_ timer: ScheduledWork, since number: Int) -> ScheduledWork? {
    guard isDeserted, listeners.lastNumber == number else { return timer }
    self.timer = timer
    return nil
  }

  /// The keep-alive time is over, unless a listener has come meanwhile.
  mutating func timeIsUp(since number: Int) -> Departure {
    isDeserted && listeners.lastNumber == number ? .end(cancel()) : .nothing
  }

  /// The first ending counts. Returns the listeners to tell.
  mutating func end(with failure: Failure?) -> (listeners: [Listener], remains: Remains) {
    guard life.end(with: failure) else { return ([], Remains()) }
    return (listeners.removeAll(), Remains(handlers: life.takeHandlers(), timer: timer.take()))
  }

  private var isDeserted: Bool { life.isOpen && listeners.isEmpty }

  private mutating func departure() -> Departure {
    guard isDeserted else { return .nothing }
    switch origin {
    case _ where !isReachable: return .end(cancel())
    case .running where isKept: return .keepAlive(since: listeners.lastNumber)
    case .running: return .end(cancel())
    case .sender, .source: return .nothing
    }
  }

  private mutating func cancel() -> Remains {
    _ = life.cancel()
    defer { (origin, past) = (.running, Buffer(newest: 0)) }
    return Remains(handlers: life.takeHandlers(), timer: timer.take(), garbage: (origin, past))
  }
}
