import TailraceLists
import TailraceSupport

/// One subscription as a value: its unread elements, its ending, and the waiting tasks.
///
/// Each event is one mutating method that returns what to do; nothing is done here. ``Inbox``
/// isolates the value, calls it, and acts after it has released its lock.
///
/// A reader whose task is cancelled leaves in two steps, because a cancellation handler runs inside
/// of `Task.cancel()`, under a lock of the runtime: there `leave(reader:)` only marks the
/// subscription and gives back that reader. Awake, it calls `cancel()`, which gives back the rest:
/// handlers, unread elements, and the other waiting tasks.
@usableFromInline
struct InboxState<Element: Sendable, Failure: Error, Reader: Sendable, Sender: Sendable>: Sendable {
  @usableFromInline
  enum Taken: Sendable {
    case elements
    case nothing
    case ended(Failure?)
    case cancelled
  }

  /// A reader that waits for an element.
  @usableFromInline
  struct Sleeper: Sendable {
    @usableFromInline let reader: Reader
    /// Differs from those of all other readers that sleep.
    let ticket: Int

    @usableFromInline
    init(_ reader: Reader, _ ticket: Int) { (self.reader, self.ticket) = (reader, ticket) }
  }

  /// The actions to take outside the lock.
  @usableFromInline
  struct Aftermath: Sendable {
    @usableFromInline var readers: [Reader] = []
    @usableFromInline var senders: [Sender] = []
    var handlers: [@Sendable () -> Void] = []
    /// To release.
    var unread: Buffer<Element>?
  }

  @usableFromInline typealias SendResult = Signal<Element, Failure>.SendResult

  @usableFromInline var life = Lifecycle<Element, Failure>()
  @usableFromInline var buffer: Buffer<Element>
  /// The failure that ends the subscription when there is no room; `nil` if elements are dropped
  /// instead.
  @usableFromInline let overflow: Failure?
  /// The reader that waits for an element, the longest-waiting one if there are several.
  @usableFromInline var sleeper: Sleeper?
  /// The readers that wait behind it, in order of arrival. Almost always empty: copies of an
  /// iterator can wait side by side.
  @usableFromInline var laterSleepers: [Sleeper] = []
  /// The senders that wait for room.
  @usableFromInline var senders = Registry<Sender>()
  /// How many senders have begun to wait and have not sent yet. One that comes now goes behind them.
  @usableFromInline var queued = 0

  @_alwaysEmitIntoClient
  init(_ policy: Signal<Element, Failure>.BufferingPolicy) {
    buffer = Buffer(policy)
    overflow = policy.overflow
  }

  /// Adds a sent element. Wakes a reader if one waits.
  ///
  /// Waking one is enough: if another reader takes the element first, the woken one finds nothing
  /// and sleeps again. While readers sleep, there are never more unread elements than readers that
  /// were woken and have not looked yet.
  @_alwaysEmitIntoClient
  mutating func send(_ element: Element) -> (result: SendResult, reader: Reader?) {
    guard life.isOpen else { return (.terminated, nil) }
    if let reader = nextReader() {
      // The reader waits for this element, which needs no room, even with limit 0.
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

  /// A sender that can wait sends if it need not: there is room, and nobody waits before it. `nil`: it
  /// is to wait for its turn, and tells `leaveLine()` when it has sent, or has given up.
  @_alwaysEmitIntoClient
  mutating func offer(_ element: Element) -> (result: SendResult, reader: Reader?)? {
    if queued == 0 || !life.isOpen, !isFull { return send(element) }
    queued += 1
    return nil
  }

  @_alwaysEmitIntoClient
  mutating func leaveLine() { queued -= 1 }

  /// Counts elements that would have been sent now as missing.
  mutating func lose(_ count: Int) {
    guard life.isOpen else { return }
    buffer.lose(count)
    if let overflow { life.end(with: overflow) }
  }

  /// Adds the ending; the first one counts.
  mutating func end(with failure: Failure?) -> Aftermath {
    life.end(with: failure) ? settle() : Aftermath()
  }

  /// After an overflow: if that ended the subscription, the waiting tasks must be told.
  mutating func settle() -> Aftermath {
    guard !life.isOpen else { return Aftermath() }
    var aftermath = Aftermath(senders: senders.removeAll(), handlers: life.takeHandlers())
    while let reader = nextReader() { aftermath.readers.append(reader) }
    return aftermath
  }

  /// The readers have left. Also after `leave(reader:)`; once more, it does nothing.
  mutating func cancel() -> Aftermath {
    life.cancel()
    var aftermath = settle()
    if buffer.count > 0 {
      aftermath.unread = buffer
      buffer = Buffer(newest: 0)
    }
    return aftermath
  }

  /// The task of a reader that sleeps, or is about to, was cancelled: the readers have left. Returns
  /// that reader if it sleeps. The reader then calls `cancel()`: until it does, handlers and
  /// unread elements stay here.
  mutating func leave(reader ticket: Int) -> Reader? {
    life.cancel()
    if sleeper?.ticket == ticket { return nextReader() }
    guard let index = laterSleepers.firstIndex(where: { $0.ticket == ticket }) else { return nil }
    return laterSleepers.remove(at: index).reader
  }

  /// Takes the available elements into the reader's empty batch. Returns how many were dropped
  /// before them, and the sender to wake if there is room again.
  @_alwaysEmitIntoClient
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

  /// A reader found nothing and is about to sleep. False if there is something new.
  @_alwaysEmitIntoClient
  mutating func sleep(reader: Reader, ticket: Int) -> (sleeps: Bool, sender: Sender?) {
    guard life.isOpen, buffer.count == 0 else { return (false, nil) }
    let newSleeper = Sleeper(reader, ticket)
    if sleeper == nil { sleeper = newSleeper } else { laterSleepers.append(newSleeper) }
    // With capacity 0, a suspended reader is one free slot.
    return (true, nextSender())
  }

  /// The longest-waiting reader. The one behind it takes its place.
  @_alwaysEmitIntoClient
  mutating func nextReader() -> Reader? {
    guard let first = sleeper.take() else { return nil }
    if !laterSleepers.isEmpty { sleeper = laterSleepers.removeFirst() }
    return first.reader
  }

  /// A sender is about to sleep until there is room. Returns its number; `nil` if there is room or
  /// the reader has left.
  @usableFromInline
  mutating func sleep(sender: Sender) -> Int? { isFull ? senders.add(sender) : nil }

  /// Removes a waiting sender, which may have been woken meanwhile.
  @usableFromInline
  mutating func leave(sender number: Int) -> Sender? { senders.remove(number) }

  /// Whether a sent element would find no room, with no older one making room.
  @_alwaysEmitIntoClient
  var isFull: Bool {
    guard life.isOpen, !buffer.dropsOldest, sleeper == nil else { return false }
    return buffer.count >= buffer.limit
  }

  /// The longest-waiting sender, if there is room for it. Once woken and running, it wakes the
  /// next one, as long as there is room.
  ///
  /// `take` asks for it only when there is much room (`Buffer.hasMuchRoom`): until then senders
  /// sleep although there is a little.
  @_alwaysEmitIntoClient
  mutating func nextSender() -> Sender? {
    senders.isEmpty || isFull ? nil : senders.removeFirst()
  }
}
