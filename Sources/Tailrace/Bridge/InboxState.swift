/// One subscription, as a value: what came in and is still to be read, how it ends, who waits.
///
/// Every event is one mutating method that says what to do; nothing is done here. ``Inbox`` isolates
/// the value, asks, and acts when it has let go of its lock.
///
/// ```
///            end(with:), or one too many    everything read
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
    var handlers: [@Sendable () -> Void] = []
    /// Only to be released.
    var unread: Buffer<Element>?
  }

  @usableFromInline typealias SendResult = Signal<Element, Failure>.SendResult
  @usableFromInline typealias Termination = Signal<Element, Failure>.Termination

  @usableFromInline var phase = Phase.open
  @usableFromInline var buffer: Buffer<Element>
  /// What ends the subscription when there is no room; `nil` where elements are dropped instead.
  @usableFromInline let overflow: Failure?
  /// The reader, if it waits because there is nothing to read.
  @usableFromInline var reader: Sleeper?
  /// Those who wait until there is room.
  @usableFromInline var senders: [Sleeper] = []
  @usableFromInline var disposal = Disposal<Termination>.none

  @inlinable
  init(_ policy: Signal<Element, Failure>.BufferingPolicy) {
    buffer = Buffer(policy)
    overflow = policy.overflow
  }

  /// Somebody sends an element. Wakes the reader if it waits.
  @inlinable
  mutating func send(_ element: Element) -> (result: SendResult, reader: Sleeper?) {
    guard case .open = phase else { return (.terminated, nil) }
    if let reader = reader.take() {
      // It waits for this element, which needs no room, not even where nothing is kept.
      buffer.elements.append(element)
      return (.enqueued(remaining: buffer.remaining), reader)
    }
    switch buffer.append(element) {
    case .kept(let remaining): return (.enqueued(remaining: remaining), nil)
    case .dropped(let element):
      if let overflow { phase = .ended(overflow) }
      return (.dropped(element), nil)
    }
  }

  /// Elements are missing that would have been sent now.
  mutating func lose(_ count: Int) {
    guard case .open = phase else { return }
    buffer.lose(count)
    if let overflow { phase = .ended(overflow) }
  }

  /// Somebody sends the ending; the first one counts.
  mutating func end(with failure: Failure?) -> Aftermath {
    guard case .open = phase else { return Aftermath() }
    phase = .ended(failure)
    return settle()
  }

  /// An element may have been one too many. If that was the end, everybody has to be told.
  mutating func settle() -> Aftermath {
    guard case .ended(let failure) = phase else { return Aftermath() }
    return Aftermath(
      sleepers: wakeAll(), handlers: disposal.dispose(Termination(failure)))
  }

  /// Nobody will read any more.
  mutating func cancel() -> Aftermath {
    if case .cancelled = phase { return Aftermath() }
    phase = .cancelled
    var unread = Buffer<Element>(newest: 0)
    swap(&unread, &buffer)
    return Aftermath(
      sleepers: wakeAll(), handlers: disposal.dispose(.cancelled), unread: unread)
  }

  /// The reader wants what is there, and has an empty batch for it. Also says how many elements have
  /// been dropped in front of that, and wakes the senders if there is room again.
  @inlinable
  mutating func take(
    into batch: inout [Element]
  ) -> (taken: Taken, dropped: Int, senders: [Sleeper]) {
    if case .cancelled = phase { return (.cancelled, buffer.dropped, []) }
    if let dropped = buffer.take(into: &batch) {
      return (.elements, dropped, buffer.hasMuchRoom ? wakeSenders() : [])
    }
    switch phase {
    case .open: return (.nothing, buffer.dropped, [])
    case .ended(let failure): return (.ended(failure), buffer.dropped, [])
    case .cancelled: return (.cancelled, buffer.dropped, [])
    }
  }

  /// The reader found nothing, and would sleep. False if there is something new to look at.
  @inlinable
  mutating func sleep(reader: Sleeper) -> (sleeps: Bool, senders: [Sleeper]) {
    guard case .open = phase, buffer.count == 0 else { return (false, []) }
    self.reader = reader
    // Where nothing is kept, a reader that waits is room.
    return (true, wakeSenders())
  }

  /// A sender would sleep until there is room. False if there is, or if nobody is interested.
  @inlinable
  mutating func sleep(sender: Sleeper) -> Bool {
    guard isFull else { return false }
    senders.append(sender)
    return true
  }

  /// What is sent now would find no room, and what is older would not make any.
  @inlinable
  var isFull: Bool {
    guard case .open = phase, !buffer.dropsOldest, reader == nil else { return false }
    return buffer.count >= buffer.limit
  }

  /// Those who wait until there is room look again.
  @inlinable
  mutating func wakeSenders() -> [Sleeper] {
    guard !senders.isEmpty else { return [] }
    defer { senders = [] }
    return senders
  }

  /// Keeps a handler. If the subscription is over, returns how it ended: then the caller runs it, now.
  mutating func onTermination(_ handler: @escaping Disposal<Termination>.Handler) -> Termination? {
    disposal.add(handler)
  }

  var isOver: Bool { if case .open = phase { false } else { true } }

  private mutating func wakeAll() -> [Sleeper] {
    (reader.take().map { [$0] } ?? []) + wakeSenders()
  }
}
