import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals

@Suite("Readers that fall behind are told", .hangLimit, .inTurn)
struct PolicyTests {
  typealias Policy = Signal<Int, any Error>.BufferingPolicy

  /// The ways to come by a signal that keeps something for its readers.
  enum Kind: CaseIterable {
    case cold, hot, replaying, shared

    /// A signal that somebody is subscribed to, and what to send into it with.
    func make(
      _ policy: Policy
    ) -> (Signal<Int, any Error>.Iterator, Signal<Int, any Error>.Subscriber) {
      let given = Locked(Signal<Int, any Error>.Subscriber?.none)
      let source = { @Sendable subscriber in given.withLock { $0 = subscriber } }
      let signal: Signal<Int, any Error>
      switch self {
      case .cold: signal = Signal(bufferingPolicy: policy, source)
      case .shared: signal = Signal(source).shared(bufferingPolicy: policy)
      case .hot:
        let (hot, subscriber) = Signal<Int, any Error>.makeSignal(bufferingPolicy: policy)
        signal = hot
        given.withLock { $0 = subscriber }
      case .replaying:
        let (hot, subscriber) = Signal<Int, any Error>.makeSignal(
          replaying: 0, bufferingPolicy: policy)
        signal = hot
        given.withLock { $0 = subscriber }
      }
      let iterator = signal.makeAsyncIterator()
      iterator.reading.start()
      return (iterator, given.withLock { $0.take() }!)
    }
  }

  @Test("dropped elements are counted, at their place", arguments: Kind.allCases)
  func counted(_ kind: Kind) async throws {
    for (policy, expected, counts) in [
      (.bufferingOldest(2), [1, 2, 5, nil], [0, 0, 2, 3]),
      (.bufferingNewest(2), [3, 5, 6, nil], [2, 3, 3, 3]),
      (.unbounded, [1, 2, 3, 4, 5, 6, nil], [0, 0, 0, 0, 0, 0, 0]),
    ] as [(Policy, [Int?], [Int])] {
      var (iterator, subscriber) = kind.make(policy)
      for number in 1...4 { subscriber.send(number) }
      #expect(iterator.droppedCount == 0, "nothing has been read")
      var seen = [try await iterator.next()]
      var dropped = [iterator.droppedCount]
      for number in 5...6 { subscriber.send(number) }
      subscriber.complete()
      while seen.last != .some(nil) {
        seen.append(try await iterator.next())
        dropped.append(iterator.droppedCount)
      }
      #expect(seen == expected)
      #expect(dropped == counts)
    }
  }

  @Test("an element whose sender is cancelled while it waits is counted", arguments: Kind.allCases)
  func countedWhenCancelled(_ kind: Kind) async throws {
    var (iterator, subscriber) = kind.make(.bufferingOldest(1))
    subscriber.send(1)
    let sender = Task { await subscriber.send(whenReady: 2) }
    sender.cancel()
    #expect(await sender.value == .dropped(2))
    subscriber.send(3)
    subscriber.complete()
    #expect(try await iterator.next() == 1 && iterator.droppedCount == 0)
    #expect(try await iterator.next() == nil && iterator.droppedCount == 2)
  }

  @Test("a reader that may not fall behind fails, also if a sender that waited was cancelled")
  func overflowWhenCancelled() async throws {
    var (iterator, subscriber) = Kind.cold.make(.failing(beyond: 1))
    subscriber.send(1)
    let sender = Task { await subscriber.send(whenReady: 2) }
    sender.cancel()
    #expect(await sender.value == .dropped(2))
    #expect(try await iterator.next() == 1)
    await #expect(throws: SignalOverflow(bound: 1)) { try await iterator.next() }
  }

  @Test("kept elements are read, and nothing says that elements are missing")
  func silentGaps() async {
    func sent() -> Signal<Int, Never> {
      let (signal, subscriber) = Signal<Int, Never>.makeSignal(bufferingPolicy: .bufferingNewest(1))
      for number in 1...3 { subscriber.send(number) }
      subscriber.complete()
      return signal
    }
    #expect(await sent().array() == [3])
    #expect(await sent().memoized().array() == [3], "a list remembers what it has read")
  }

  @Test("an iterator counts what is missing, also behind other operators")
  func countedBehindOperators() async throws {
    let source = Signal<Int, any Error>(bufferingPolicy: .bufferingOldest(1)) { subscriber in
      for number in 1...3 { subscriber.send(number) }
      subscriber.fail(Mishap(position: 3))
    }
    let scheduler = QueueScheduler(name: "counting")
    for signal in [source, source.map { $0 }.deliver(on: scheduler), source.filter { $0 < 9 }] {
      var iterator = signal.makeAsyncIterator()
      #expect(try await iterator.next() == 1)
      #expect(iterator.droppedCount == 0)
      for _ in 1...2 {
        await #expect(throws: Mishap(position: 3)) { try await iterator.next() }
        #expect(iterator.droppedCount == 2)
      }
    }
  }

  @Test(
    "a reader that may not fall behind fails, behind what is kept for it", arguments: Kind.allCases)
  func overflow(_ kind: Kind) async throws {
    let how = Probe<Bool>()
    var (iterator, subscriber) = kind.make(.failing(beyond: 2))
    subscriber.onTermination {
      guard case .failed(let failure) = $0 else { return }
      how.record(failure as? SignalOverflow == SignalOverflow(bound: 2))
    }
    for number in 1...2 { subscriber.send(number) }
    #expect(try await iterator.next() == 1)
    subscriber.send(3)
    #expect(subscriber.send(4) == .dropped(4))
    #expect(how.values == (kind == .cold ? [true] : []), "the others may have other readers")
    subscriber.send(5)
    #expect(try await iterator.next() == 2)
    #expect(try await iterator.next() == 3)
    for _ in 1...2 {
      await #expect(throws: SignalOverflow(bound: 2)) { try await iterator.next() }
    }
  }

  @Test("a shared signal whose only reader has fallen behind has no reader")
  func overflowOfTheLast() {
    let station = Station()
    let shared = station.signal.shared(bufferingPolicy: .failing(beyond: 1))
    let iterator = shared.makeAsyncIterator()
    iterator.reading.start()
    station.send(1...1)
    #expect(station.ends.count == 0)
    station.send(2...2)
    #expect(station.ends.values == ["cancelled"])
    withExtendedLifetime(iterator) {}
  }

  @Test("a failure of one's own, where failures have a type")
  func typedOverflow() async {
    let signal = Signal<Int, Mishap>(
      bufferingPolicy: .failing(beyond: 0, with: Mishap(position: 7))
    ) { $0.send(1) }
    await #expect(throws: Mishap(position: 7)) { try await signal.array() }
  }

  @Test("one reader that fails leaves the others alone")
  func oneOfMany() async throws {
    let (signal, subscriber) = Signal<Int, any Error>.makeSignal(
      replaying: 0, bufferingPolicy: .failing(beyond: 2))
    var slow = signal.makeAsyncIterator()
    var quick = signal.makeAsyncIterator()
    for number in 1...3 {
      subscriber.send(number)
      #expect(try await quick.next() == number)
    }
    subscriber.complete()
    #expect(try await quick.next() == nil)
    #expect(try await slow.next() == 1)
    #expect(try await slow.next() == 2)
    await #expect(throws: SignalOverflow(bound: 2)) { try await slow.next() }
  }

  @Test("a policy is at least as wide as the past")
  func raised() async throws {
    let (signal, subscriber) = Signal<Int, any Error>.makeSignal(
      replaying: 3, bufferingPolicy: .failing(beyond: 1))
    for number in 1...4 { subscriber.send(number) }
    var iterator = signal.makeAsyncIterator()
    #expect(subscriber.send(5) == .dropped(5), "it has not read the past")
    for number in 2...4 { #expect(try await iterator.next() == number) }
    // As many are kept as the past has; the policy alone would keep 1.
    await #expect(throws: SignalOverflow(bound: 3)) { try await iterator.next() }
    subscriber.complete()
    #expect(try await signal.array() == [3, 4, 5], "it was sent all the same")
  }

  @Test("drops in front of a shared signal are not hidden by it")
  func forwarded() async {
    let given = Locked(Signal<Int, Never>.Subscriber?.none)
    let source = Signal<Int, Never>(bufferingPolicy: .bufferingNewest(1)) { subscriber in
      given.withLock { $0 = subscriber }
      // All of them before anybody reads.
      for number in 1...5 { subscriber.send(number) }
    }
    let shared = source.map { $0 }.shared(replaying: 4)
    var first = shared.makeAsyncIterator()
    #expect(await first.next() == 5)
    #expect(first.droppedCount == 4)
    var late = shared.makeAsyncIterator()
    given.withLock { $0 }?.complete()
    #expect(await late.next() == 5)
    #expect(late.droppedCount == 0, "elements before the window do not count as missing")
    #expect(await late.next() == nil)
    #expect(await first.next() == nil)
    given.withLock { $0 = nil }
  }
}
