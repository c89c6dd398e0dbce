import Foundation
import Testing

@testable import TailraceStored

/// A shared tail, and beside it the list that it shows, those that wait, and the readers that run.
private struct SharedTailModel: Explorable {
  enum Event: Hashable {
    case wait(Int), leave(Int)
    /// The source gets an element, its end, or becomes another list.
    case grow, end, replace
    /// The reader with this number takes a step; `fail`: its source throws.
    case step(Int), fail(Int)
    /// A response reads the stored elements from a position on.
    case offer(Int)
    /// A reader is cancelled: after it was decided.
    case cancel(Int)
  }

  /// What a reader has been told to do, and has not done yet.
  struct Reader: Hashable {
    var number: Int
    var isCancelled = false
    /// A read that was begun: the elements of that moment, and their list.
    var read: (list: Int, elements: Range<Int>, isEnd: Bool)?

    static func == (a: Reader, b: Reader) -> Bool {
      a.number == b.number && a.isCancelled == b.isCancelled
        && "\(a.read as Any)" == "\(b.read as Any)"
    }
    func hash(into hasher: inout Hasher) {
      hasher.combine(number)
      hasher.combine(isCancelled)
      hasher.combine("\(read as Any)")
    }
  }

  struct Waiter: Hashable {
    var list: Int
    var position: Int
  }

  var tail = SharedTail(limit: 2, byteLimit: 1 << 20)
  var list = 0
  var count = 0
  var isEnded = false
  var waiters: [Waiter] = []
  var readers: [Reader] = []
  var started = 0
  /// Readers that are to be cancelled.
  var cancelled: [Int] = []
  var violation: String?

  var key: String {
    "\(list) \(count) \(isEnded) \(waiters) \(readers) \(cancelled) \(tail)"
  }

  var events: [Event] {
    var events: [Event] = waiters.indices.map { .leave($0) }
    if waiters.count < 2 { events += (0...count).map { .wait($0) } }
    if !isEnded, count < 3 { events.append(.grow) }
    if !isEnded { events.append(.end) }
    if list < 1 { events.append(.replace) }
    if started < 5 { events += readers.flatMap { [.step($0.number), .fail($0.number)] } }
    events += (0..<count).map { .offer($0) } + cancelled.map { .cancel($0) }
    return events
  }

  private static func bytes(_ list: Int, _ position: Int) -> Data {
    Data("\(list).\(position)".utf8)
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .wait(let position):
      let (wait, wakesOthers, action) = tail.wait("\(list)", than: position)
      if wakesOthers { waiters = [] }
      switch wait {
      case .waits: waiters.append(Waiter(list: list, position: position))
      case .ready where !isEnded && position >= count: violation = "nothing is there at \(position)"
      case .ready: break
      }
      take(action)
    case .leave(let index):
      waiters.remove(at: index)
      take(tail.left(waiters.count))
    case .grow: count += 1
    case .end: isEnded = true
    case .replace: (list, count, isEnded) = (list + 1, 0, false)
    case .step(let number): step(number)
    case .cancel(let number):
      cancelled.removeAll { $0 == number }
      for index in readers.indices where readers[index].number == number {
        readers[index].isCancelled = true
      }
    case .fail(let number):
      readers.removeAll { $0.number == number }
      if tail.failed(number) { waiters = [] }
    case .offer(let position):
      let elements = (position..<count).map { Self.bytes(list, $0) }
      tell(tail.offer(elements, isEnd: isEnded, "\(list)", at: position))
    }
    check()
  }

  private mutating func step(_ number: Int) {
    guard let index = readers.firstIndex(where: { $0.number == number }) else { return }
    if let read = readers[index].read {
      readers[index].read = nil
      let elements = read.elements.map { Self.bytes(read.list, $0) }
      // The identity is that of now.
      tell(
        tail.didRead(
          elements, isEnd: read.isEnd, "\(list)", at: read.elements.lowerBound, number))
      return
    }
    switch tail.next(number) {
    case .stop: readers.remove(at: index)
    case .wait(let position):
      // Otherwise it still waits: a step that changes nothing.
      if readers[index].isCancelled {
        readers.remove(at: index)
      } else if position < count || isEnded || tail.identity != "\(list)" {
        tail.didWait(number)
      }
    case .read(let position):
      readers[index].read = (list, min(position, count)..<count, isEnded)
    }
  }

  private mutating func tell(_ news: SharedTail.News) {
    switch news {
    case .none: return
    case .more:
      let (end, isEnded) = (tail.end, tail.isEnded)
      waiters.removeAll { $0.position < end || isEnded }
    case .changed: waiters = []
    }
    take(tail.left(waiters.count))
  }

  private mutating func take(_ action: SharedTail.Action) {
    switch action {
    case .none: break
    case .cancel(let number): cancelled.append(number)
    case .start(let number):
      cancelled += readers.filter { !$0.isCancelled }.map(\.number)
      readers.append(Reader(number: number))
      started += 1
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
    let active = readers.filter { tail.isReading($0.number) }
    // Whoever waits has a reader that is not cancelled; nobody waits: none demands anything.
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
      _ = tail.offer([Data("\(position)".utf8)], isEnd: false, "a", at: position)
    }
    #expect(tail.start == 3 && tail.end == 5)
    _ = tail.offer([Data(count: 1000)], isEnd: true, "a", at: 5)
    #expect(tail.start == 5 && tail.end == 6 && tail.isEnded)
    #expect(tail.page("a", from: 4, 10, 10) == nil)
    #expect(tail.page("b", from: 5, 10, 10) == nil)
    #expect(tail.page("a", from: 6, 10, 10)?.isEnd == true)
  }
}
