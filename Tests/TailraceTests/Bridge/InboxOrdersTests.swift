import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals

/// An inbox, its readers, senders that wait for room, and others that do not.
private struct InboxModel: Explorable {
  typealias State = InboxState<Int, Mishap, Int, Int>
  typealias Policy = Signal<Int, Mishap>.BufferingPolicy

  enum Event: Hashable {
    /// Somebody sends without waiting.
    case send
    /// A reader takes; it found nothing, and sleeps.
    case take(Int), sleep(Int)
    /// A sender sends if there is room; it found none, and sleeps; it was woken, and wakes the next one.
    case offer(Int), lieDown(Int), passOn(Int)
    /// The task of a sender that sleeps is cancelled; it leaves.
    case cancelSender(Int), leave(Int)
    /// The task of a reader that looks for elements, or waits for them, is cancelled; awake, the
    /// reader leaves for all.
    case cancelReader(Int), depart(Int)
    case end, cancel
  }

  enum Reader: Hashable { case awake, empty, asleep, woken, gone }

  enum Sender: Hashable {
    case idle, full, woken
    case asleep(Int)
    case leaving(Int)
  }

  enum Life: Hashable { case open, ended, cancelled }

  /// How many elements are sent, and how often a sender lies down.
  static let length = Size.usual(2, full: 3)
  static let naps = length

  let limit: Int
  let dropsOldest: Bool
  /// Whether an element that finds no room ends the subscription.
  let overflows: Bool
  var state: State
  var readers: [Reader]
  /// The readers that sleep, the first to do so first.
  var sleepers: [Int] = []
  var senders: [Sender]
  var life = Life.open
  var kept: [Int] = []
  /// The readers whose tasks were cancelled.
  var cancelled: Set<Int> = []
  /// How many unread elements nobody can read any more, until they are released.
  var unread = 0
  /// How many handlers have run. There is one.
  var told = 0
  var sent = 0
  var lain = 0
  var violation: String?

  init(
    _ policy: Policy, limit: Int = .max, dropsOldest: Bool = false, overflows: Bool = false,
    readers: Int = 1, senders: Int = 2
  ) {
    state = State(policy)
    _ = state.life.onTermination { _ in }
    (self.limit, self.dropsOldest, self.overflows) = (limit, dropsOldest, overflows)
    self.readers = Array(repeating: .awake, count: readers)
    self.senders = Array(repeating: .idle, count: senders)
  }

  /// All that differs. A description of the state, by reflection, takes most of the time of the whole test.
  struct Key: Hashable {
    var phase: String
    var elements: [[Int]]
    var counts: [Int]
    var members: [Int?]
    var readers: [Reader]
    var sleepers: [Int]
    var senders: [Sender]
    var life: Life
    var kept: [Int]
    var cancelled: Set<Int>
  }

  var key: Key {
    let buffer = state.buffer
    let asleep = [state.sleeper].compactMap { $0 } + state.laterSleepers
    return Key(
      phase: state.life.isOpen ? "" : "\(state.life.phase)",
      elements: [
        buffer.elements.arrived, buffer.elements.leaving, asleep.map(\.reader),
        asleep.map(\.ticket),
        (buffer.gaps.leaving.reversed() + buffer.gaps.arrived).flatMap { [$0.position, $0.count] },
      ],
      counts: [
        buffer.dropped, buffer.passed, state.senders.lastNumber, state.queued, sent, lain, unread,
        told,
      ],
      members: state.senders.members, readers: readers, sleepers: sleepers, senders: senders,
      life: life, kept: kept, cancelled: cancelled)
  }

  var isFull: Bool {
    life == .open && !dropsOldest && sleepers.isEmpty && kept.count >= limit
  }

  var events: [Event] {
    var events: [Event] = []
    if sent < Self.length { events.append(.send) }
    for (number, reader) in readers.enumerated() {
      switch reader {
      case .awake, .woken:
        events.append(cancelled.contains(number) ? .depart(number) : .take(number))
      case .empty: events.append(.sleep(number))
      case .asleep, .gone: break
      }
      if reader != .gone, !cancelled.contains(number) { events.append(.cancelReader(number)) }
    }
    for (number, sender) in senders.enumerated() {
      switch sender {
      case .idle: if sent < Self.length, lain < Self.naps { events.append(.offer(number)) }
      case .full: events.append(.lieDown(number))
      case .asleep: events.append(.cancelSender(number))
      case .leaving: events.append(.leave(number))
      case .woken: events.append(.passOn(number))
      }
    }
    if life == .open { events.append(.end) }
    if life != .cancelled { events.append(.cancel) }
    return events
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .send: send()
    case .take(let number): take(number)
    case .sleep(let number):
      let (sleeps, sender) = state.sleep(reader: number, ticket: number)
      if sleeps != (life == .open && kept.isEmpty) { violation = "sleep(reader:) gives \(sleeps)" }
      readers[number] = sleeps ? .asleep : .awake
      if sleeps { sleepers.append(number) }
      wake(sender)
    case .offer(let number):
      if state.isFull != isFull { violation = "isFull is \(state.isFull)" }
      if state.isFull { senders[number] = .full } else { send() }
    case .lieDown(let number):
      let place = state.sleep(sender: number)
      if (place != nil) != isFull { violation = "a sender lies down: \(place != nil)" }
      if place != nil { lain += 1 }
      senders[number] = place.map { .asleep($0) } ?? .idle
    case .passOn(let number):
      senders[number] = .idle
      wakeNext()
    case .cancelSender(let number):
      if case .asleep(let place) = senders[number] { senders[number] = .leaving(place) }
    case .leave(let number):
      if case .leaving(let place) = senders[number] { _ = state.leave(sender: place) }
      senders[number] = .idle
    case .end:
      life = .ended
      act(on: state.end(with: nil))
    case .cancel: cancel()
    case .cancelReader(let number):
      cancelled.insert(number)
      // Awake, it finds out by itself.
      if readers[number] == .awake { break }
      let woken = state.leave(reader: number)
      if woken != (readers[number] == .asleep ? number : nil) {
        violation = "leave(reader:) wakes \(woken ?? -1)"
      }
      leave()
      if woken != nil {
        sleepers.removeAll { $0 == number }
        readers[number] = .woken
      }
    case .depart(let number):
      readers[number] = .gone
      cancel()
    }
    check()
  }

  /// Nobody can read any more.
  private mutating func leave() {
    life = .cancelled
    unread += kept.count
    kept = []
  }

  private mutating func cancel() {
    leave()
    let aftermath = state.cancel()
    let released = aftermath.unread?.count ?? 0
    if released != unread { violation = "\(released) unread elements and not \(unread)" }
    unread = 0
    act(on: aftermath)
    if told != 1 { violation = "the handler has run \(told) times" }
  }

  private mutating func send() {
    let element = sent
    sent += 1
    let (result, woken) = state.send(element)
    var expected = State.SendResult.terminated
    if woken != (life == .open ? sleepers.first : nil) { violation = "send wakes \(woken ?? -1)" }
    if life == .open {
      if !sleepers.isEmpty || kept.count < limit {
        kept.append(element)
        expected = .enqueued(remaining: limit == .max ? .max : max(0, limit - kept.count))
      } else if dropsOldest, limit > 0 {
        expected = .dropped(kept.removeFirst())
        kept.append(element)
      } else {
        expected = .dropped(element)
        if overflows { life = .ended }
      }
    }
    if result != expected { violation = "send(\(element)) gives \(result) and not \(expected)" }
    if let woken { wake(reader: woken) }
    if overflows, life == .ended { act(on: state.settle()) }
  }

  private mutating func take(_ number: Int) {
    readers[number] = .awake
    var batch: [Int] = []
    let (taken, _, sender) = state.take(into: &batch)
    let expected = limit == .max ? kept : Array(kept.prefix(1))
    if batch != expected { violation = "took \(batch) and not \(expected)" }
    switch taken {
    case .elements: if expected.isEmpty { violation = "took elements, and there are none" }
    case .nothing:
      if life != .open || !kept.isEmpty { violation = "took nothing" }
      readers[number] = .empty
    case .ended: if life != .ended || !kept.isEmpty { violation = "took the ending" }
    case .cancelled: if life != .cancelled { violation = "took the cancellation" }
    }
    kept.removeFirst(batch.count)
    wake(sender)
  }

  private mutating func act(on aftermath: State.Aftermath) {
    told += aftermath.handlers.count
    for reader in aftermath.readers { wake(reader: reader) }
    for number in aftermath.senders {
      if case .asleep = senders[number] { senders[number] = .woken }
    }
  }

  /// Wakes a reader: of several, the first to sleep is the first to be woken.
  private mutating func wake(reader number: Int) {
    if sleepers.first != number { violation = "reader \(number) is woken, and not \(sleepers)" }
    sleepers.removeAll { $0 == number }
    readers[number] = .woken
  }

  /// Wakes a sender; if it was cancelled, the next one.
  private mutating func wake(_ number: Int?) {
    guard let number else { return }
    if case .asleep = senders[number] { return senders[number] = .woken }
    wakeNext()
  }

  private mutating func wakeNext() {
    while let number = state.nextSender() {
      if case .asleep = senders[number] { return senders[number] = .woken }
    }
  }

  private mutating func check() {
    if violation != nil { return }
    if told > 1 { violation = "the handler has run \(told) times" }
    if life == .ended, told != 1 { violation = "the handler has not been told of the ending" }
    if life == .cancelled, told != 1 || unread > 0 || !sleepers.isEmpty {
      // A reader that is awake, or goes to sleep in vain, comes back and leaves for all.
      let comesBack = cancelled.contains { readers[$0] != .gone && readers[$0] != .asleep }
      if !comesBack { violation = "nobody is left to tell the source" }
      return
    }
    // A reader that was woken looks for one element at least.
    if !sleepers.isEmpty, kept.count > readers.count(where: { $0 == .woken }) || life != .open {
      violation = "a reader sleeps, and there is something for it"
    }
    let sleeps = senders.contains { if case .asleep = $0 { true } else { false } }
    if sleeps, !isFull, !senders.contains(.woken) {
      violation = "a sender sleeps, and there is room"
    }
  }
}

@Suite("An inbox: every order of events", .inTurn)
struct InboxOrdersTests {
  @Test("elements come in order, and nobody sleeps while there is something, or room, for it")
  func orders() async {
    await InboxModel(.unbounded).expectSafe()
    await InboxModel(.bufferingNewest(1), limit: 1, dropsOldest: true).expectSafe()
    await InboxModel(.failing(beyond: 1, with: Mishap(position: 0)), limit: 1, overflows: true)
      .expectSafe()
  }

  @Test("several readers: an element wakes one that sleeps, an ending all")
  func readers() async {
    await InboxModel(.unbounded, readers: 2, senders: 0).expectSafe()
    await InboxModel(.unbounded, readers: 3, senders: 0).expectSafe()
    await InboxModel(.bufferingNewest(1), limit: 1, dropsOldest: true, readers: 2, senders: 0)
      .expectSafe()
    await InboxModel(
      .failing(beyond: 1, with: Mishap(position: 0)), limit: 1, overflows: true, readers: 2,
      senders: 1
    ).expectSafe()
  }

  @Test("several readers, where senders wait for room", arguments: Size.usual(1, full: 0)...1)
  func readersAndSenders(_ limit: Int) async {
    await InboxModel(.bufferingOldest(limit), limit: limit, readers: 2, senders: 1).expectSafe()
  }

  @Test("where senders wait for room", arguments: 0...1)
  func room(_ limit: Int) async {
    await InboxModel(.bufferingOldest(limit), limit: limit).expectSafe()
  }
}
