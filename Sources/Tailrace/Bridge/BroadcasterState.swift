/// A hot signal, as a value: who listens, what late listeners are given, and whether it is over.
///
/// It ends as it is told to, and is cancelled when nobody listens and
/// - nobody can subscribe any more; or
/// - it runs a source that is not kept without listeners, or has been kept for long enough.
@usableFromInline
struct BroadcasterState<Listener: AnyObject & Sendable, Element: Sendable, Failure: Error>: Sendable
{
  @usableFromInline typealias Source = @Sendable (Signal<Element, Failure>.Subscriber) -> Void

  /// Where the elements come from.
  enum Origin: Sendable {
    /// Whoever has the subscriber sends them.
    case sender
    /// A source sends them. The first listener that reads runs it.
    case source(Source)
    /// The source runs.
    case running
  }

  enum Joining: Sendable {
    /// Takes the pending inbox, which has kept what was sent before the first subscription.
    case pendingInbox(Listener, number: Int)
    /// Listens from now on, and leaves by that number.
    case listens(number: Int)
    /// Too late: all that is left is the past and the ending.
    case ended(Failure?)
    /// Too late: nothing is left, and the next subscription needs another broadcaster.
    case cancelled
  }

  /// What has to be done when somebody has left.
  enum Departure: Sendable {
    case nothing
    /// Start the keep-alive timer. The number of the last listener tells a timer that is stale.
    case keepAlive(since: Int)
    case end(Remains)
  }

  /// What has to be done when it is over.
  struct Remains: Sendable {
    var handlers: [@Sendable () -> Void] = []
    /// To be cancelled.
    var timer: ScheduledWork?
    /// Only to be released.
    var garbage: (Origin, Buffer<Element>)?
  }

  @usableFromInline var life = Lifecycle<Element, Failure>()
  @usableFromInline var listeners = Registry<Listener>()
  /// The last elements: what a late listener begins with.
  @usableFromInline var past: Buffer<Element>
  /// Kept for the first subscription.
  var pendingInbox: (listener: Listener, number: Int)?
  var origin: Origin
  /// A source is kept for some time without listeners.
  let isKept: Bool
  /// Runs while a source is kept.
  var timer: ScheduledWork?
  /// Somebody can still subscribe.
  var isReachable = true

  /// A broadcaster that somebody sends into. A pending inbox keeps what comes before the first subscription.
  init(pendingInbox: Listener?, replaying count: Int) {
    past = Buffer(newest: count)
    origin = .sender
    isKept = false
    if let pendingInbox { self.pendingInbox = (pendingInbox, listeners.add(pendingInbox)) }
  }

  /// A broadcaster of what a source sends, which runs once for all listeners.
  init(source: @escaping Source, replaying count: Int, isKept: Bool) {
    past = Buffer(newest: count)
    origin = .source(source)
    self.isKept = isKept
  }

  /// Keeps an element for late listeners. Returns one that is to be released.
  @inlinable
  mutating func remember(_ element: Element) -> Element? {
    guard past.limit > 0, case .dropped(let oldest) = past.append(element) else { return nil }
    return oldest
  }

  /// Somebody subscribes, and offers a listener that knows the past. Also returns a timer that is to
  /// be cancelled.
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

  /// A listener wants to read. Returns the source if it is the first one: then the caller runs it.
  ///
  /// A listener that has left in the meantime starts nothing: nobody would ever stop that.
  mutating func start(for number: Int) -> Source? {
    guard life.isOpen, listeners.contains(number), case .source(let source) = origin else {
      return nil
    }
    origin = .running
    return source
  }

  /// The listener with that number leaves, if it has not left before. It is to be released.
  mutating func leave(_ number: Int) -> (former: Listener?, departure: Departure) {
    guard let former = listeners.remove(number) else { return (nil, .nothing) }
    return (former, departure())
  }

  /// Nobody can subscribe any more; a pendingInbox that was not taken never will be.
  mutating func becomeUnreachable() -> (unused: Listener?, departure: Departure) {
    isReachable = false
    let unused = pendingInbox.take()
    if let unused { _ = listeners.remove(unused.number) }
    return (unused?.listener, departure())
  }

  /// There is a keep-alive timer now. Returns one that is to be cancelled.
  mutating func keep(_ timer: ScheduledWork, since number: Int) -> ScheduledWork? {
    guard isDeserted, listeners.lastNumber == number else { return timer }
    self.timer = timer
    return nil
  }

  /// The keep-alive time is over, unless somebody has come meanwhile.
  mutating func timeIsUp(since number: Int) -> Departure {
    isDeserted && listeners.lastNumber == number ? .end(cancel()) : .nothing
  }

  /// The first ending counts. Returns who is to be told.
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
