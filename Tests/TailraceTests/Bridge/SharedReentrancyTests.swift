import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals

@Suite("Shared signals and code that calls back", .timeLimit(.minutes(15)), .inTurn)
struct SharedReentrancyTests {
  let station = Station()

  @Test("a source may read the signal that it is the source of")
  func ownReader() async throws {
    let held = Locked(Signal<Int, Never>?.none)
    let seen = Probe<Int>()
    let shared = Signal<Int, Never> { subscriber in
      subscriber.send(1)
      held.withLock { $0 }?.subscribe { event in
        if case .next(let number) = event { seen.record(number) }
      }
      subscriber.send(2)
      subscriber.complete()
    }.shared(replaying: 1)
    held.withLock { $0 = shared }
    #expect(await shared.array() == [1, 2])
    await seen.waitForCount(2)
    #expect(seen.values == [1, 2])
    held.withLock { $0 = nil }
  }

  @Test("a handler may subscribe, and send")
  func handlers() async throws {
    let shared = station.signal.shared(replaying: 1)
    let (seen, inner) = (Probe<Int>(), Probe<Int>())
    let task = shared.subscribe { [station] event in
      guard case .next(let number) = event else { return }
      seen.record(number)
      guard number < 5 else { return station.complete() }
      shared.subscribe { event in
        if case .next(let number) = event { inner.record(number) }
      }
      station.send(number + 1...number + 1)
    }
    station.send(1...1)
    await task.value
    #expect(seen.values == [1, 2, 3, 4, 5])
    // Each of the four begins with the last one, and hears what comes after it.
    await inner.waitForCount(14)
    #expect(inner.values.sorted() == [1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5])
  }

  @Test("a termination handler may subscribe at once, and gets a run of its own")
  func resubscribing() async throws {
    let held = Locked(Signal<Int, Never>?.none)
    let (runs, seen) = (Counter(), Probe<Int>())
    let shared = Signal<Int, Never> { subscriber in
      let run = runs.increment()
      subscriber.keep()
      subscriber.send(run)
      guard run == 1 else { return }
      subscriber.onTermination { how in
        #expect(subscriber.isTerminated && how == .cancelled)
        held.withLock { $0 }?.subscribe { event in
          if case .next(let number) = event { seen.record(number) }
        }
      }
    }.shared(replaying: 1)
    held.withLock { $0 = shared }
    for await number in shared { #expect(number == 1); break }
    await seen.waitForCount(1)
    #expect(seen.values == [2])
    held.withLock { $0 = nil }
  }
}
