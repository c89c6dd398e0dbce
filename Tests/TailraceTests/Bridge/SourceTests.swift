import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals

@Suite("Sources that await, and sources that let go", .inTurn)
struct SourceTests {
  @Test("an async source completes by returning, and runs anew for each subscription")
  func returns() async {
    let runs = Counter()
    let signal = Signal<Int, Never> { subscriber async in
      runs.increment()
      for number in 1...3 {
        await Task.yield()
        subscriber.send(number)
      }
    }
    #expect(runs.value == 0)
    #expect(await signal.array() == [1, 2, 3])
    #expect(await signal.array() == [1, 2, 3])
    #expect(runs.value == 2)
  }

  @Test("it fails by throwing, also with a type")
  func throwing() async throws {
    let signal = Signal<Int, any Error> { subscriber in
      subscriber.send(1)
      await Task.yield()
      throw Mishap(position: 1)
    }
    var iterator = signal.makeAsyncIterator()
    #expect(try await iterator.next() == 1)
    for _ in 1...2 {
      await #expect(throws: Mishap(position: 1)) { try await iterator.next() }
    }
    let typed = Signal<Int, Mishap> { (_) async throws(Mishap) in throw Mishap(position: 0) }
    await #expect(throws: Mishap(position: 0)) { try await typed.array() }
  }

  @Test("its own ending counts, and what it sends afterwards does not")
  func endsEarly() async {
    let signal = Signal<Int, any Error> { subscriber in
      subscriber.complete()
      await Task.yield()
      subscriber.send(1)
      throw Mishap(position: 0)
    }
    await #expect(throws: Never.self) { try await signal.array() == [] }
  }

  @Test("it is cancelled when nobody is interested any more", arguments: [true, false])
  func cancelled(_ byTask: Bool) async {
    let log = Probe<String>()
    let signal = Signal<Int, Never> { subscriber async in
      subscriber.send(1)
      await withTaskCancellationHandler {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
          subscriber.onTermination { how in
            log.record("\(how)")
            continuation.resume()
          }
        }
      } onCancel: {
        log.record("told")
      }
      #expect(Task.isCancelled)
      log.record("over")
    }
    if byTask {
      let task = Task { for await _ in signal { withUnsafeCurrentTask { $0?.cancel() } } }
      await task.value
    } else {
      for await _ in signal { break }
    }
    await log.waitForCount(3)
    #expect(log.values.sorted() == ["cancelled", "over", "told"])
  }

  @Test("a source that nobody waits for any more when its turn comes still ends")
  func cancelledEarly() async {
    let instances = InstanceCounter()
    do {
      let member = instances.member()
      let signal = Signal<Int, Never> { subscriber async in
        subscriber.send(member.number)
      }
      for _ in 1...100 { signal.subscribe { _ in }.cancel() }
    }
    await instances.waitUntilEmpty()
  }

  @Test("it runs where the task that subscribes prefers, so that virtual time holds in it")
  func virtualTime() {
    let scheduler = VirtualScheduler()
    let seen = Probe<Int>()
    let signal = Signal<Int, Never> { subscriber async in
      for number in 1...3 {
        try? await scheduler.sleep(for: .seconds(1))
        #expect(currentScheduler === scheduler)
        subscriber.send(number)
      }
    }
    scheduler.schedule { for await number in signal { seen.record(number) } }
    scheduler.advance(by: .seconds(2))
    #expect(seen.values == [1, 2])
    scheduler.advance(by: .seconds(2))
    #expect(seen.values == [1, 2, 3])
  }

  // MARK: Letting go

  @Test("a subscriber that is released completes its signal", arguments: 0..<4)
  func released(_ kind: Int) async {
    let signals: [Signal<Int, Never>] = [
      Signal { $0.send(1) },
      Signal { subscriber in Task.detached { subscriber.send(1) } },
      Signal { subscriber async in subscriber.send(1) },
      Signal { $0.send(1) }.shared(replaying: 1),
    ]
    #expect(await signals[kind].array() == [1])
    #expect(await signals[kind].memoized().array() == [1])
    var iterator = signals[kind].makeAsyncIterator()
    #expect(await iterator.next() == 1)
    #expect(await iterator.next() == nil)
    #expect(await iterator.next() == nil)
  }

  @Test("the last copy of it does, on whatever thread", arguments: [true, false])
  func lastCopy(_ isHot: Bool) async {
    for _ in 0..<100 {
      let log = Probe<String>()
      var signal: Signal<Int, Never>?
      var subscriber: Signal<Int, Never>.Subscriber?
      if isHot {
        (signal, subscriber) = Signal<Int, Never>.makeSignal()
      } else {
        let given = Locked(Signal<Int, Never>.Subscriber?.none)
        signal = Signal { subscriber in given.withLock { $0 = subscriber } }
        signal = signal?.shared()
        let reader = signal!.subscribe { _ in }
        subscriber = given.withLock { $0.take() }
        subscriber?.onTermination { _ in reader.cancel() }
      }
      subscriber?.onTermination { log.record("\($0)") }
      let copy = Mutable(subscriber)
      let task = Task { [signal] in
        async let ended: Void = { for await _ in signal! {} }()
        copy.value.take()?.send(1)
        return await ended
      }
      #expect(log.values.isEmpty)
      subscriber = nil
      await task.value
      #expect(log.values == ["completed"])
    }
  }

  // MARK: Sequences

  @Test("an AsyncSequence as a signal: once for each subscription, with its ending")
  func sequence() async throws {
    let list = LazyList(1...5)
    #expect(await Signal(list).array() == [1, 2, 3, 4, 5])
    let failing = SourceKind.asyncSequence.make(Probe(), failingAt: 3)
    var iterator = Signal(failing).makeAsyncIterator()
    #expect(try await iterator.next() == 1)
    #expect(try await iterator.next() == 2)
    await #expect(throws: Mishap(position: 2)) { try await iterator.next() }
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    continuation.yield(1)
    let task = Signal(stream).subscribe { _ in continuation.finish() }
    await task.value
  }

  @Test("it stays so many ahead of its reader, and waits", arguments: [0, 1, 5, 100])
  func bounded(_ bound: Int) async {
    let pulls = Probe<Int>()
    let list = LazyList(0..<1000).map { pulls.pass($0) }
    let signal = Signal(list, bufferingPolicy: .bufferingOldest(bound))
    var iterator = signal.makeAsyncIterator()
    #expect(pulls.count == 0)
    for number in 0..<1000 {
      #expect(await iterator.next() == number)
      #expect(pulls.count <= number + 1 + max(bound, 1))
    }
    #expect(await iterator.next() == nil)
  }

  @Test("leaving it stops the walk, which holds nothing of the list that has been passed")
  func left() async {
    let instances = InstanceCounter()
    do {
      let signal = Signal(
        LazyList(0...).map { instances.member($0) }, bufferingPolicy: .bufferingOldest(1))
      for await member in signal where member.number == 300 { break }
    }
    await instances.waitUntilEmpty()
    #expect(instances.greatest >= 300, "the signal holds its list")
  }

  @Test("a sender that waits loses nothing, with several senders and readers, and none too slow")
  func whenReady() async {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal(
      replaying: 0, bufferingPolicy: .bufferingOldest(2))
    let readers = (0..<3).map { _ in
      let iterator = Mutable(signal.makeAsyncIterator())
      return Task {
        var all: [Int] = []
        while let number = await iterator.value.next() {
          all.append(number)
          if number % 7 == 0 { await Task.yield() }
        }
        return all
      }
    }
    await withTaskGroup { group in
      for sender in 0..<4 {
        group.addTask {
          for number in 0..<250 {
            guard case .enqueued = await subscriber.send(whenReady: sender * 1000 + number) else {
              Issue.record("it did not wait")
              return
            }
          }
        }
      }
    }
    subscriber.complete()
    let first = await readers[0].value
    #expect(first.count == 1000)
    for reader in readers { #expect(await reader.value == first) }
  }

  @Test("a sender that waits goes on when it is cancelled, when the reader leaves, and at the end")
  func whenReadyGivesUp() async {
    for way in 0..<3 {
      for isHot in [true, false] {
        let given = Locked(Signal<Int, Never>.Subscriber?.none)
        let cold = Signal<Int, Never>(bufferingPolicy: .bufferingOldest(1)) { subscriber in
          given.withLock { $0 = subscriber }
        }
        let signal = isHot ? cold.shared(bufferingPolicy: .bufferingOldest(1)) : cold
        var iterator: Signal<Int, Never>.Iterator? = signal.makeAsyncIterator()
        iterator?.reading.start()
        let subscriber = given.withLock { $0.take() }!
        #expect(await subscriber.send(whenReady: 1) == .enqueued(remaining: 0))
        let began = Gate()
        began.open()
        let sender = Task {
          await began.wait()
          return await subscriber.send(whenReady: 2)
        }
        await began.waitForArrivals(1)
        switch way {
        case 0: sender.cancel()
        case 1: iterator = nil
        default: subscriber.complete()
        }
        #expect(await sender.value == (way == 0 ? .dropped(2) : .terminated))
        _ = iterator
      }
    }
  }

  // MARK: Merging

  @Test("lists are merged as they become ready; each keeps its order")
  func merging() async throws {
    let gates = [Gate(), Gate()]
    let lists = gates.enumerated().map { index, gate in
      LazyList(state: 0) { state in
        await gate.wait()
        state += 1
        return state > 3 ? nil : index * 10 + state
      }
    }
    var iterator = lists[0].merging(lists[1]).makeAsyncIterator()
    for (gate, expected) in [(1, 11), (0, 1), (0, 2), (1, 12), (1, 13), (0, 3)] {
      gates[gate].pass()
      #expect(await iterator.next() == expected)
    }
    for gate in gates { gate.open() }
    #expect(await iterator.next() == nil)
    #expect(await lists[0].merging().array() == [1, 2, 3])
  }

  @Test("a merged list computes as far ahead of its reader as the policy says", .hangLimit)
  func mergingWithinBounds() async {
    let computed = Counter()
    let endless = LazyList(1...).map { number in
      computed.increment()
      return number
    }
    await OneThread.run {
      var iterator = endless.merging(LazyList(1...3)).makeAsyncIterator()
      for _ in 1...20 {
        _ = await iterator.next()
        // The walk has every turn that it wants.
        for _ in 1...20 { await Task.yield() }
      }
    }
    #expect(computed.value <= 20 + 64 + 2)
  }

  @Test("collections are merged: none, one, and ten thousand")
  func mergingCollections() async {
    #expect(await Signal.merging([Signal<Int, Never>]()).array() == [])
    #expect(await LazyList.merging([LazyList<Int, Never>]()).array() == [])
    #expect(await Signal.merging([Signal<Int, Never> { $0.send(1) }]).array() == [1])
    let signals = (0..<10_000).map { number in Signal<Int, Never> { $0.send(number) } }
    #expect(await Signal.merging(signals).array().sorted() == Array(0..<10_000))
    let lists = (0..<1_000).map { LazyList([$0]) }
    #expect(await LazyList.merging(lists).array().sorted() == Array(0..<1_000))
  }

  @Test("the first failure ends a merged signal, and the walks of the others")
  func mergingFailure() async throws {
    let instances = InstanceCounter()
    do {
      let gate = Gate()
      let failing = Row.Source(state: 0) { state async throws in
        await gate.wait()
        throw Mishap(position: 0)
      }
      let member = instances.member()
      let endless = SourceKind.plain.make(upTo: .max, Probe()).map { member.number + $0 }
      let merged = failing.merging(endless)
      var iterator = merged.makeAsyncIterator()
      _ = try await iterator.next()
      gate.open()
      await #expect(throws: Mishap(position: 0)) { while try await iterator.next() != nil {} }
    }
    await instances.waitUntilEmpty()
  }

  @Test("signals are merged from when the merged one is subscribed to")
  func mergingSignals() async throws {
    let (presses, button) = Signal<Int, Never>.makeSignal()
    let (keys, keyboard) = Signal<Int, Never>.makeSignal()
    let log = Probe<Int>()
    let task = presses.merging(keys, Signal { $0.send(0) }).subscribe { event in
      if case .next(let number) = event { log.record(number) }
    }
    button.send(1)
    keyboard.send(2)
    await log.waitForCount(3)
    button.complete()
    keyboard.send(3)
    keyboard.complete()
    await task.value
    #expect(log.values.sorted() == [0, 1, 2, 3])
  }
}

extension SourceTests {
  @Test(
    "a source that a step of a list subscribes to may read that list: the step does not wait for it",
    arguments: [false, true])
  func subscribedInStep(sendsSequence: Bool) async throws {
    let list = Locked(LazyList<Int, any Error>.empty)
    let seen = Probe<Signal<Int, any Error>.Event>()
    let numbers = LazyList<Int, any Error>(state: 0) { number async throws -> Int? in
      if number == 0 {
        let numbers = list.withLock { $0 }
        let signal =
          sendsSequence
          ? Signal(numbers)
          : Signal<Int, any Error> { subscriber async throws in
            for try await number in numbers { subscriber.send(number) }
          }
        signal.subscribe { seen.record($0) }
      }
      for _ in 0..<3 { await Task.yield() }
      number += 1
      return number <= 3 ? number : nil
    }
    list.withLock { $0 = numbers }
    #expect(try await numbers.array() == [1, 2, 3])
    await seen.waitForCount(4)
    let all = seen.values.map { event in if case .next(let number) = event { number } else { 0 } }
    #expect(all == [1, 2, 3, 0])
    guard case .completed? = seen.values.last else {
      Issue.record("\(String(describing: seen.values.last))")
      return
    }
    list.withLock { $0 = .empty }
  }
}

/// Something that is changed by the one task that has it.
private final class Mutable<Value>: @unchecked Sendable {
  var value: Value
  init(_ value: Value) { self.value = value }
}
