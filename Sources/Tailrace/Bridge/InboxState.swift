/// One subscription, as a value: what came in and is still to be read, how it ends, who waits.
///
/// Every event is one mutating method that says what to do; nothing is done here. ``Inbox`` isolates
/// the value, asks, and acts when it has let go of its lock.
///
/// ```
///            end(with:)                     everything read
///   open ───────────────▶ ended(failure?) ─────────────────▶ its ending, again and again
///     └──── cancel() ──────────┴────────────▶ cancelled: nothing, again and again
/// ```
@usableFromInline
struct InboxState<Element: Sendable, Failure: Error, Sleeper: Sendable>: Sendable {
  @usableFromInline
  enum Phase: Sendable {
    case open
    /// Nothing more is accepted; what was accepted is still to be read.
    case ended(Failure?)
    case cancelled
  }

  @usableFromInline
  enum Taken: Sendable {
    case elements
    case nothing
    case ended(Failure?)
    case cancelled
  }

  /// What has to be done outside.
  @usableFromInline
  struct Aftermath: Sendable {
    @usableFromInline var sleepers: [Sleeper] = []
    var handlers: [Disposal.Handler] = []
    /// Only to be released.
    var unread: Backlog<Element>?
  }

  @usableFromInline typealias SendResult = Signal<Element, Failure>.SendResult

  @usableFromInline var phase = Phase.open
  @usableFromInline var backlog: Backlog<Element>
  /// Readers that wait, because there is nothing to read; the first is woken first. An iterator reads
  /// alone, the tasks that share a stream do not.
  @usableFromInline var readers: [Sleeper] = []
  /// A sender that waits until there is room.
  @usableFromInline var sender: Sleeper?
  @usableFromInline var disposal = Disposal.none

  @inlinable
  init(_ policy: SignalBufferingPolicy) { backlog = Backlog(policy) }

  /// Somebody sends an element. Wakes one of the readers that wait.
  @inlinable
  mutating func send(_ element: Element) -> (result: SendResult, reader: Sleeper?) {
    guard case .open = phase else { return (.terminated, nil) }
    if !readers.isEmpty {
      // Somebody waits for it: it needs no room, not even where nothing is kept.
      backlog.elements.append(element)
      return (.enqueued(remaining: backlog.remaining), readers.removeFirst())
    }
    switch backlog.append(element) {
    case .kept(let remaining): return (.enqueued(remaining: remaining), nil)
    case .dropped(let element): return (.dropped(element), nil)
    }
  }

  /// Somebody sends the ending; the first one counts.
  mutating func end(with failure: Failure?) -> Aftermath {
    guard case .open = phase else { return Aftermath() }
    phase = .ended(failure)
    return Aftermath(sleepers: wakeAll(), handlers: disposal.dispose())
  }

  /// Nobody will read any more.
  mutating func cancel() -> Aftermath {
    if case .cancelled = phase { return Aftermath() }
    phase = .cancelled
    let unread = backlog
    backlog = Backlog(unread.policy)
    return Aftermath(sleepers: wakeAll(), handlers: disposal.dispose(), unread: unread)
  }

  /// The reader wants what is there, and has an empty batch for it. Wakes the sender if there is
  /// room again.
  @inlinable
  mutating func take(into batch: inout [Element]) -> (taken: Taken, sender: Sleeper?) {
    if case .cancelled = phase { return (.cancelled, nil) }
    if backlog.take(into: &batch) { return (.elements, sender.take()) }
    switch phase {
    case .open: return (.nothing, nil)
    case .ended(let failure): return (.ended(failure), nil)
    case .cancelled: return (.cancelled, nil)
    }
  }

  /// A reader wants one element. Wakes the sender if there is room again.
  @inlinable
  mutating func takeOne() -> (taken: Taken, element: Element?, sender: Sleeper?) {
    var one: [Element] = []
    if let element = backlog.elements.popFirst() { return (.elements, element, sender.take()) }
    return (take(into: &one).taken, nil, nil)
  }

  /// A reader found nothing, and would sleep. False if there is something new to look at.
  @inlinable
  mutating func sleep(reader: Sleeper) -> (sleeps: Bool, sender: Sleeper?) {
    guard case .open = phase, backlog.count == 0 else { return (false, nil) }
    readers.append(reader)
    return (true, sender.take())
  }

  /// A sender would sleep until there is room. False if there is, or if nobody is interested.
  @inlinable
  mutating func sleep(sender: Sleeper) -> Bool {
    guard isFull else { return false }
    self.sender = sender
    return true
  }

  /// What is sent now would be dropped, by a policy that keeps the oldest.
  @inlinable
  var isFull: Bool {
    guard case .open = phase, case .bufferingOldest(let bound) = backlog.policy else {
      return false
    }
    return backlog.count >= bound && readers.isEmpty
  }

  /// Keeps a handler. False if the subscription is over: then the caller runs it, now.
  mutating func onCancel(_ handler: @escaping Disposal.Handler) -> Bool { disposal.add(handler) }

  var isOver: Bool { if case .open = phase { false } else { true } }

  private mutating func wakeAll() -> [Sleeper] {
    defer { readers = [] }
    return readers + (sender.take().map { [$0] } ?? [])
  }
}
