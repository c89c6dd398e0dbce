import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals

@Suite("An inbox, as a value", .inTurn)
struct InboxStateTests {
  typealias State = InboxState<Int, Mishap, String, String>
  typealias Policy = Signal<Int, Mishap>.BufferingPolicy

  static func taken(_ state: inout State) -> [Int] {
    var all: [Int] = []
    while true {
      var batch: [Int] = []
      guard case .elements = state.take(into: &batch).taken else { return all }
      all += batch
    }
  }

  @Test(
    "a policy keeps its elements, and the sender is told which ones are dropped",
    arguments: [
      (Policy.unbounded, [1, 2, 3, 4], [Int]()),
      (.bufferingOldest(2), [1, 2], [3, 4]),
      (.bufferingNewest(2), [3, 4], [1, 2]),
      (.bufferingOldest(0), [], [1, 2, 3, 4]),
      (.bufferingNewest(0), [], [1, 2, 3, 4]),
      (.bufferingNewest(9), [1, 2, 3, 4], []),
    ])
  func policies(_ policy: Policy, _ kept: [Int], _ dropped: [Int]) {
    var state = State(policy)
    var told: [Int] = []
    for number in 1...4 {
      if case .dropped(let element) = state.send(number).result { told.append(element) }
    }
    #expect(told == dropped)
    #expect(Self.taken(&state) == kept)
  }

  @Test("the room that is left is told")
  func remaining() {
    var state = State(.bufferingOldest(2))
    #expect(state.send(1).result == .enqueued(remaining: 1))
    #expect(state.send(2).result == .enqueued(remaining: 0))
    #expect(state.send(3).result == .dropped(3))
    var batch: [Int] = []
    _ = state.take(into: &batch)
    #expect(batch == [1], "a bounded inbox gives one at a time")
    #expect(state.send(4).result == .enqueued(remaining: 0))
    #expect(Self.taken(&state) == [2, 4])
  }

  @Test("a sender that can wait goes behind those that wait; when all has ended nobody waits")
  func offers() {
    var state = State(.bufferingOldest(1))
    #expect(state.offer(1)?.result == .enqueued(remaining: 0))
    #expect(state.offer(2)?.result == nil, "there is no room")
    #expect(Self.taken(&state) == [1])
    #expect(state.offer(3)?.result == nil, "2 waits before it")
    state.leaveLine()
    #expect(state.offer(4)?.result == nil, "3 waits before it")
    state.leaveLine()
    state.leaveLine()
    #expect(state.offer(5)?.result == .enqueued(remaining: 0))
    #expect(state.offer(6)?.result == nil)
    _ = state.end(with: nil)
    #expect(Self.taken(&state) == [5])
    #expect(state.offer(7)?.result == .terminated)
  }

  @Test("what was lost before it came counts as missing, until the ending")
  func losses() {
    var state = State(.unbounded)
    state.lose(2)
    _ = state.send(1)
    var batch: [Int] = []
    #expect(state.take(into: &batch).dropped == 2)
    #expect(batch == [1])
    state.lose(3)
    batch = []
    #expect(state.take(into: &batch).dropped == 5, "from the beginning on")
    var ended = State(.unbounded)
    _ = ended.end(with: nil)
    ended.lose(3)
    #expect(ended.take(into: &batch).dropped == 0)
  }

  @Test("a sleeping reader is woken once")
  func wake() {
    var state = State(.unbounded)
    #expect(state.sleep(reader: "reader", ticket: 1).sleeps)
    #expect(state.send(1).reader == "reader")
    #expect(state.send(2).reader == nil)
    #expect(!state.sleep(reader: "reader", ticket: 1).sleeps, "there is something to read")
    #expect(Self.taken(&state) == [1, 2])
    #expect(state.sleep(reader: "reader", ticket: 1).sleeps)
    #expect(state.end(with: nil).readers == ["reader"])
    #expect(!state.sleep(reader: "reader", ticket: 1).sleeps, "there is an ending to read")
  }

  @Test(
    "of several readers that sleep, an element wakes the first one, and an ending wakes all",
    arguments: [false, true])
  func sleepers(_ isCancelled: Bool) {
    var state = State(.bufferingOldest(1))
    for (ticket, reader) in ["a", "b", "c", "d"].enumerated() {
      #expect(state.sleep(reader: reader, ticket: ticket).sleeps)
    }
    #expect(state.send(1) == (.enqueued(remaining: 0), "a"))
    #expect(state.send(2) == (.enqueued(remaining: 0), "b"), "a reader waits for it")
    #expect(Self.taken(&state) == [1, 2])
    let aftermath = isCancelled ? state.cancel() : state.end(with: nil)
    #expect(aftermath.readers == ["c", "d"])
    #expect(!state.sleep(reader: "a", ticket: 1).sleeps)
  }

  @Test("a reader that waits for an element gets it, also where nothing is kept")
  func handover() {
    for policy in [Policy.bufferingOldest(0), .bufferingNewest(0)] {
      var state = State(policy)
      _ = state.sleep(reader: "reader", ticket: 1)
      #expect(state.send(1) == (.enqueued(remaining: 0), "reader"))
      #expect(state.send(2) == (.dropped(2), nil))
      #expect(Self.taken(&state) == [1])
    }
  }

  @Test("a sender sleeps while there is no room, and only where it is to wait for room")
  func room() {
    var state = State(.bufferingOldest(1))
    #expect(state.sleep(sender: "sender") == nil)
    _ = state.send(1)
    #expect(state.sleep(sender: "sender") != nil)
    var batch: [Int] = []
    #expect(state.take(into: &batch).sender == "sender")
    _ = state.send(2)
    #expect(state.sleep(sender: "sender") != nil)
    #expect(state.cancel().senders == ["sender"])
    #expect(state.sleep(sender: "sender") == nil, "nobody is interested")
    var newest = State(.bufferingNewest(1))
    _ = newest.send(1)
    #expect(newest.sleep(sender: "sender") == nil)
  }

  @Test("senders are woken one by one, in their order, while there is room; one that leaves is not")
  func senders() {
    var state = State(.bufferingOldest(1))
    _ = state.send(0)
    let numbers = ["a", "b", "c", "d"].map { state.sleep(sender: $0) ?? 0 }
    #expect(state.leave(sender: numbers[1]) == "b")
    #expect(state.leave(sender: numbers[1]) == nil, "it has left")
    #expect(state.nextSender() == nil, "there is no room")
    var batch: [Int] = []
    #expect(state.take(into: &batch).sender == "a")
    #expect(state.leave(sender: numbers[0]) == nil, "it was woken")
    #expect(state.nextSender() == "c", "there is room, and the one that was woken wakes the next")
    _ = state.send(1)
    #expect(state.nextSender() == nil)
    #expect(state.end(with: nil).senders == ["d"])
  }

  @Test("where nothing is kept, a sender waits for a reader that waits")
  func rendezvous() {
    var state = State(.bufferingOldest(0))
    #expect(state.sleep(sender: "sender") != nil)
    #expect(state.sleep(reader: "reader", ticket: 1) == (true, "sender"))
    #expect(state.sleep(sender: "sender") == nil)
    #expect(state.send(1).reader == "reader")
    #expect(Self.taken(&state) == [1])
    #expect(state.sleep(sender: "sender") != nil)
  }

  @Test(
    "sent elements are read before the ending, which stays", arguments: [nil, Mishap(position: 2)])
  func ending(_ failure: Mishap?) {
    var state = State(.unbounded)
    _ = state.send(1)
    _ = state.end(with: failure)
    #expect(state.send(2).result == .terminated)
    _ = state.end(with: Mishap(position: 9))
    #expect(Self.taken(&state) == [1])
    for _ in 1...2 {
      var batch: [Int] = []
      guard case .ended(let ending) = state.take(into: &batch).taken else {
        Issue.record("no ending")
        return
      }
      #expect(ending == failure)
    }
  }

  @Test("cancelled: nothing is accepted, nothing is read, unread elements are given back")
  func cancel() {
    var state = State(.unbounded)
    _ = state.send(1)
    #expect(state.cancel().unread?.elements.arrived == [1])
    #expect(state.cancel().unread == nil)
    #expect(state.send(2).result == .terminated)
    var batch: [Int] = []
    guard case .cancelled = state.take(into: &batch).taken else {
      Issue.record("not cancelled")
      return
    }
    #expect(batch.isEmpty)
  }

  @Test(
    "a cancellation handler gets its own reader to wake, and all the rest stays for that reader",
    arguments: ["a", "b", "c"])
  func leaving(_ leaver: String) {
    let tickets = ["a": 1, "b": 2, "c": 3]
    let ran = Counter()
    var state = State(.bufferingOldest(1))
    _ = state.life.onTermination { _ in ran.increment() }
    for (reader, ticket) in tickets.sorted(by: { $0.key < $1.key }) {
      #expect(state.sleep(reader: reader, ticket: ticket).sleeps)
    }
    #expect(state.leave(reader: tickets[leaver] ?? 0) == leaver)
    #expect(state.leave(reader: tickets[leaver] ?? 0) == nil, "it is awake")
    #expect(state.send(1) == (.terminated, nil))
    #expect(state.end(with: nil).handlers.isEmpty, "too late")
    let aftermath = state.cancel()
    #expect(aftermath.readers == ["a", "b", "c"].filter { $0 != leaver })
    for handler in aftermath.handlers { handler() }
    #expect(ran.value == 1)
    #expect(state.cancel().handlers.isEmpty)
  }

  @Test("a reader that is cancelled as it goes to sleep does not; unread elements stay for it")
  func leavingAwake() {
    var state = State(.unbounded)
    _ = state.send(1)
    #expect(state.leave(reader: 1) == nil)
    #expect(!state.sleep(reader: "reader", ticket: 1).sleeps)
    #expect(state.cancel().unread?.elements.arrived == [1])
  }

  @Test("handlers: once, the latest first, at once when it is late", arguments: [true, false])
  func handlers(_ endsByItself: Bool) {
    let ran = Probe<Int>()
    let how: Signal<Int, Mishap>.Termination = endsByItself ? .completed : .cancelled
    var state = State(.unbounded)
    for number in 1...3 {
      let isLate = state.life.onTermination {
        #expect($0 == how)
        ran.record(number)
      }
      #expect(isLate == nil)
    }
    let first = endsByItself ? state.end(with: nil) : state.cancel()
    for handler in first.handlers { handler() }
    #expect(ran.values == [3, 2, 1])
    #expect(state.cancel().handlers.isEmpty)
    #expect(state.life.onTermination({ _ in }) == how, "how it ended first")
  }
}
