/// One subscription, as a value: what came in and is still to be read, how it ends, who waits.
///
/// Every event is one mutating method that says what to do; nothing is done here. ``Inbox`` isolates
/// the value, asks, and acts when it has let go of its lock.
@usableFromInline
struct InboxState<Element: Sendable, Failure: Error, Reader: Sendable, Sender: Sendable>: Sendable {
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
    @usableFromInline var reader: Reader?
    @usableFromInline var senders: [Sender] = []
    var handlers: [@Sendable () -> Void] = []
    /// Only to be released.
    var unread: Buffer<Element>?
  }

  @usableFromInline typealias SendResult = Signal<Element, Failure>.SendResult

  @usableFromInline var life = Lifecycle<Element, Failure>()
  @usableFromInline var buffer: Buffer<Element>
  /// What ends the subscription when there is no room; `nil` where elements are dropped instead.
  @usableFromInline let overflow: Failure?
  /// The reader, if it waits because there is nothing to read.
  @usableFromInline var reader: Reader?
  /// Those who wait until there is room.
  @usableFromInline var senders = Registry<Sender>()

  @inlinable
  init(_ policy: Signal<Element, Failure>.BufferingPolicy) {
    buffer = Buffer(policy)
    overflow = policy.overflow
  }

  /// Somebody sends an element. Wakes the reader if it waits.
  @inlinable
  mutating func send(_ element: Element) -> (result: SendResult, reader: Reader?) {
    guard life.isOpen else { return (.terminated, nil) }
    if let reader = reader.take() {
      // It waits for this element, which needs no room, not even where nothing is kept.
      buffer.elements.append(element)
      return (.enqueued(remaining: buffer.remaining), reader)
    }
    switch buffer.append(element) {
    case .kept(let remaining): return (.enqueued(remaining: remaining), nil)
    case .dropped(let element):
      if let overflow { life.end(with: overflow) }
      return (.dropped(element), nil)
    }
  }

  /// Elements are missing that would have been sent now.
  mutating func lose(_ count: Int) {
    guard life.isOpen else { return }
    buffer.lose(count)
    if let overflow { life.end(with: overflow) }
  }

  /// Somebody sends the ending; the first one counts.
  mutating func end(with failure: Failure?) -> Aftermath {
    life.end(with: failure) ? settle() : Aftermath()
  }

  /// An element may have been one too many. If that was the end, everybody has to be told.
  mutating func settle() -> Aftermath {
    guard !life.isOpen else { return Aftermath() }
    return Aftermath(
      reader: reader.take(), senders: senders.removeAll(), handlers: life.takeHandlers())
  }

  /// Nobody will read any more.
  mutating func cancel() -> Aftermath {
    guard life.cancel() else { return Aftermath() }
    var aftermath = settle()
    aftermath.unread = buffer
    buffer = Buffer(newest: 0)
    return aftermath
  }

  /// The reader wants what is there, and has an empty batch for it. Also says how many elements have
  /// been dropped in front of that, and wakes a sender if there is room again.
  @inlinable
  mutating func take(
    into batch: inout [Element]
  ) -> (taken: Taken, dropped: Int, sender: Sender?) {
    if case .cancelled = life.phase { return (.cancelled, buffer.dropped, nil) }
    if let dropped = buffer.take(into: &batch) {
      return (.elements, dropped, buffer.hasMuchRoom ? nextSender() : nil)
    }
    switch life.phase {
    case .open: return (.nothing, buffer.dropped, nil)
    case .ended(let failure): return (.ended(failure), buffer.dropped, nil)
    case .cancelled: return (.cancelled, buffer.dropped, nil)
    }
  }

  /// The reader found nothing, and would sleep. False if there is something new to look at.
  @inlinable
  mutating func sleep(reader: Reader) -> (sleeps: Bool, sender: Sender?) {
    guard life.isOpen, buffer.count == 0 else { return (false, nil) }
    self.reader = reader
    // With capacity 0, a suspended reader is one free slot.
    return (true, nextSender())
  }

  /// A sender would sleep until there is room. Returns the number by which it leaves; `nil` if there is
  /// room, or if nobody is interested.
  @usableFromInline
  mutating func sleep(sender: Sender) -> Int? { isFull ? senders.add(sender) : nil }

  /// A sender does not wait any more. It may have been woken meanwhile.
  @usableFromInline
  mutating func leave(sender number: Int) -> Sender? { senders.remove(number) }

  /// What is sent now would find no room, and what is older would not make any.
  @inlinable
  var isFull: Bool {
    guard life.isOpen, !buffer.dropsOldest, reader == nil else { return false }
    return buffer.count >= buffer.limit
  }

  /// The sender that has waited longest, if there is room for it. It is to be woken, and when it goes on it
  /// wakes the next: so nobody is woken in vain, and nobody sleeps while there is room.
  @inlinable
  mutating func nextSender() -> Sender? {
    senders.isEmpty || isFull ? nil : senders.removeFirst()
  }
}
