/// A hot signal, as a value: who listens, what late listeners are given, and whether it is over.
///
/// ```
///   open ── end(with:) ──▶ ended(failure?)
///     │                                        nobody listens, and:
///     ├── the sender's: nobody can come ─────────────────────────────────▶ abandoned
///     └── a source's: nobody can come, or the source is not to be kept, or the time is up
/// ```
@usableFromInline
struct BroadcasterState<Listener: AnyObject & Sendable, Element: Sendable, Failure: Error>: Sendable
{
  @usableFromInline typealias Termination = Signal<Element, Failure>.Termination
  @usableFromInline typealias Source = @Sendable (Signal<Element, Failure>.Subscriber) -> Void

  @usableFromInline
  enum Phase: Sendable {
    case open
    case ended(Failure?)
    case abandoned
  }

  /// What is sent comes from …
  enum Origin: Sendable {
    /// whoever has the subscriber.
    case sender
    /// a source that the first reader is to run.
    case source(Source)
    /// a source that runs, for as long as somebody listens and some time after that.
    case running
  }

  enum Joining: Sendable {
    /// Take the pendingInbox: what was sent before the first subscription waits there.
    case pendingInbox(Listener, number: Int)
    /// Listen from now on, and leave by that number.
    case listens(number: Int)
    /// Too late: all that is left is the past and the ending.
    case ended(Failure?)
    case abandoned
  }

  /// What has to be done when somebody has left.
  enum Departure: Sendable {
    case nothing
    /// Wait, then say which departure it was that has been waited for.
    case wait(departure: Int)
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

  @usableFromInline var phase = Phase.open
  @usableFromInline var listeners = Registry<Listener>()
  /// What was sent last: all that a late listener gets of what was sent before it came.
  @usableFromInline var past: Buffer<Element>
  /// Kept for the first subscription.
  var pendingInbox: (listener: Listener, number: Int)?
  var origin: Origin
  /// A source is kept for some time without listeners.
  let isKept: Bool
  /// Runs while a source is kept.
  var timer: ScheduledWork?
  /// How many listeners have come.
  var arrivals = 0
  /// Somebody can still subscribe.
  var isReachable = true
  var disposal = Disposal<Termination>.none

  /// What somebody sends, to whom it likes. If there is a pendingInbox, it waits there for the first one.
  init(pendingInbox: Listener?, replaying count: Int) {
    past = Buffer(newest: count)
    origin = .sender
    isKept = false
    if let pendingInbox { self.pendingInbox = (pendingInbox, listeners.add(pendingInbox)) }
  }

  /// What a source sends, once for all.
  init(source: @escaping Source, replaying count: Int, isKept: Bool) {
    past = Buffer(newest: count)
    origin = .source(source)
    self.isKept = isKept
  }

  /// Keeps an element for those who come late. Returns one that is to be released.
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
    switch phase {
    case .open:
      arrivals += 1
      return (.listens(number: listeners.add(listener)), timer.take())
    case .ended(let failure): return (.ended(failure), nil)
    case .abandoned: return (.abandoned, nil)
    }
  }

  /// A listener wants to read. Returns the source if it is the first one: then the caller runs it.
  ///
  /// A listener that has left in the meantime starts nothing: nobody would ever stop that.
  mutating func start(for number: Int) -> Source? {
    guard case .open = phase, listeners.contains(number), case .source(let source) = origin else {
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

  /// There is a timer now that waits on behalf of a departure. Returns one that is to be cancelled.
  mutating func keep(_ timer: ScheduledWork, for departure: Int) -> ScheduledWork? {
    guard isDeserted, arrivals == departure else { return timer }
    self.timer = timer
    return nil
  }

  /// Nobody has come for long enough, unless somebody has.
  mutating func timeIsUp(for departure: Int) -> Departure {
    guard isDeserted, arrivals == departure else { return .nothing }
    return .end(abandon())
  }

  /// The first ending counts. Returns who is to be told.
  mutating func end(with failure: Failure?) -> (listeners: [Listener], remains: Remains) {
    guard case .open = phase else { return ([], Remains()) }
    phase = .ended(failure)
    return (
      listeners.removeAll(),
      Remains(handlers: disposal.dispose(Termination(failure)), timer: timer.take())
    )
  }

  /// Keeps a handler. If it is too late, returns how it ended: then the caller runs the handler, now.
  mutating func onTermination(_ handler: @escaping Disposal<Termination>.Handler) -> Termination? {
    disposal.add(handler)
  }

  var isOver: Bool { if case .open = phase { false } else { true } }

  private var isDeserted: Bool { !isOver && listeners.isEmpty }

  private mutating func departure() -> Departure {
    guard isDeserted else { return .nothing }
    switch origin {
    case _ where !isReachable: return .end(abandon())
    case .running where isKept: return .wait(departure: arrivals)
    case .running: return .end(abandon())
    case .sender, .source: return .nothing
    }
  }

  private mutating func abandon() -> Remains {
    defer {
      phase = .abandoned
      origin = .running
      past = Buffer(newest: 0)
    }
    return Remains(
      handlers: disposal.dispose(.cancelled), timer: timer.take(), garbage: (origin, past))
  }
}
