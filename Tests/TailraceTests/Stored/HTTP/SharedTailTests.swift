import Foundation
import Testing

@testable import TailraceStored

/// A shared tail, and beside it the list that it shows, those that wait, and the readers that run.
private struct SharedTailModel: Explorable {
  typealias Awaited = WhileAwaited<Bool, Int>

  enum Event: Hashable {
    case wait(Int), leave(Int)
    /// The source gets an element, its end, or becomes another list.
    case grow, end, replace
    /// The reader with this number takes a step; `fail`: its source throws.
    case step(Int), fail(Int)
    /// A response reads the stored elements from a position on.
    case offer(Int)
  }

  /// What a reader has been told to do, and has not done yet.
  struct Reader: Hashable {
    var number: Int
    var isCancelled = false
    /// A read that was begun: the elements of that moment, and their list.
    var read: Read?
  }

  struct Read: Hashable {
    var list: Int
    var elements: Range<Int>
    var isEnd: Bool
  }

  struct Waiter: Hashable {
    var number: Int
    var list: Int
    var position: Int
  }

  var tail = SharedTail(limit: 2, byteLimit: 1 << 20)
  var awaited = Awaited(lingers: false)
  var list = 0
  var count = 0
  var isEnded = false
  var waiters: [Waiter] = []
  var readers: [Reader] = []
  var started = 0
  var violation: String?

  /// What decides how it goes on: of those that wait, and of the readers, the numbers do not.
  struct Key: Hashable {
    var tail: SharedTail
    var list: Int
    var count: Int
    var isEnded: Bool
    var waiters: [[Int]]
    var readers: [Reader]
  }

  var key: Key {
    Key(
      tail: tail, list: list, count: count, isEnded: isEnded,
      waiters: waiters.map { [$0.list, $0.position] }, readers: readers)
  }

  var events: [Event] {
    var events: [Event] = waiters.map { .leave($0.number) }
    if waiters.count < 2 { events += (0...count).map { .wait($0) } }
    if !isEnded, count < 3 { events.append(.grow) }
    if !isEnded { events.append(.end) }
    if list < 1 { events.append(.replace) }
    if started < 5 { events += readers.flatMap { [.step($0.number), .fail($0.number)] } }
    return events + (0..<count).map { .offer($0) }
  }

  private static func bytes(_ list: Int, _ position: Int) -> Data {
    Data("\(list).\(position)".utf8)
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .wait(let position):
      switch tail.wait("\(list)", than: position) {
      case .ready where !isEnded && position >= count: violation = "nothing is there at \(position)"
      case .ready: break
      case let wait:
        if wait == .moves { awaited.wake(true) { _ in true } }
        let number = awaited.enter(position)
        _ = awaited.wait(number, number)
        waiters.append(Waiter(number: number, list: list, position: position))
      }
    case .leave(let number):
      awaited.cancel(number, false)
      awaited.left()
    case .grow: count += 1
    case .end: isEnded = true
    case .replace: (list, count, isEnded) = (list + 1, 0, false)
    case .step(let number): step(number)
    case .fail(let number):
      readers.removeAll { $0.number == number }
      if awaited.isOver(number) {
        tail.failed()
        awaited.wake(false) { _ in true }
      }
    case .offer(let position):
      let elements = (position..<count).map { Self.bytes(list, $0) }
      tell(
        tail.offer(
          elements, isEnd: isEnded, "\(list)", at: position, isAwaited: awaited.isRunning))
    }
    let effects = awaited.takeEffects()
    waiters.removeAll { waiter in effects.woken.contains { $0.continuation == waiter.number } }
    for action in effects.actions {
      switch action {
      case .start(let number):
        readers.append(Reader(number: number))
        started += 1
      case .cancel(let number): change(number) { $0.isCancelled = true }
      case .setAlarm: break
      }
    }
    check()
  }

  private mutating func change(_ number: Int, _ body: (inout Reader) -> Void) {
    guard let index = readers.firstIndex(where: { $0.number == number }) else { return }
    body(&readers[index])
  }

  private mutating func step(_ number: Int) {
    guard let index = readers.firstIndex(where: { $0.number == number }) else { return }
    if let read = readers[index].read {
      readers[index].read = nil
      guard awaited.isPresent(number) else { return }
      let elements = read.elements.map { Self.bytes(read.list, $0) }
      // The identity is that of now.
      tell(tail.didRead(elements, isEnd: read.isEnd, "\(list)", at: read.elements.lowerBound))
      return
    }
    guard awaited.isPresent(number) else {
      readers.remove(at: index)
      return
    }
    switch tail.next {
    case .wait(let position):
      // Otherwise it still waits: a step that changes nothing.
      if position < count || isEnded || tail.identity != "\(list)" { tail.didWait() }
    case .read(let position):
      readers[index].read = Read(
        list: list, elements: min(position, count)..<count, isEnd: isEnded)
    }
  }

  private mutating func tell(_ news: SharedTail.News) {
    switch news {
    case .none: break
    case .more:
      let (end, isEnded) = (tail.end, tail.isEnded)
      awaited.wake(true) { $0 < end || isEnded }
    case .changed: awaited.wake(false) { _ in true }
    }
  }

  private mutating func check() {
    // The elements of a list that is still there are its elements.
    if tail.identity == "\(list)", tail.end > tail.start {
      guard tail.end <= count else { return violation = "\(tail.end) elements of \(count)" }
      let page = tail.page("\(list)", from: tail.start, 100, 1 << 20)
      let expected = (tail.start..<tail.end).map { "\(list).\($0)" }.joined(separator: ",")
      if page.map({ String(decoding: $0.json, as: UTF8.self) }) != "[\(expected)]" {
        violation = "has \(page.map { String(decoding: $0.json, as: UTF8.self) } ?? "nothing")"
      }
      if tail.isEnded, !isEnded || tail.end != count { violation = "ends too early" }
    }
    // Whoever waits has a reader that is not cancelled; nobody waits: none demands anything.
    let active = readers.filter { awaited.isPresent($0.number) }
    if !waiters.isEmpty, active.isEmpty || active.contains(where: \.isCancelled) {
      violation = "nobody reads for \(waiters)"
    }
    if waiters.isEmpty, let reader = active.first {
      violation = "reader \(reader.number) for nobody"
    }
    if active.count > 1 { violation = "two readers" }
  }
}

@Suite("The shared end of an endpoint's list: every order of events", .inTurn)
struct SharedTailTests {
  @Test("whoever waits has one reader, nobody waits: none, and elements are those of the list")
  func orders() async {
    await SharedTailModel().expectSafe(depth: 9, limit: 400_000, isComplete: false)
  }

  @Test("the last elements are kept, by number and by bytes, and one at least")
  func limits() {
    var tail = SharedTail(limit: 2, byteLimit: 100)
    for position in 0..<5 {
      _ = tail.offer(
        [Data("\(position)".utf8)], isEnd: false, "a", at: position, isAwaited: false)
    }
    #expect(tail.start == 3 && tail.end == 5)
    _ = tail.offer([Data(count: 1000)], isEnd: true, "a", at: 5, isAwaited: false)
    #expect(tail.start == 5 && tail.end == 6 && tail.isEnded)
    #expect(tail.page("a", from: 4, 10, 10) == nil)
    #expect(tail.page("b", from: 5, 10, 10) == nil)
    #expect(tail.page("a", from: 6, 10, 10)?.isEnd == true)
  }
}
