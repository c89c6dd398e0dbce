import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceStored

/// An element that calls a closure when it is released.
private final class Item: Sendable {
  let onRelease: @Sendable () -> Void

  init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

  deinit { onRelease() }
}

/// A failure that calls a closure when it is described.
private struct LoudFailure: Error, CustomStringConvertible {
  let onDescription: @Sendable () -> Void

  var description: String {
    onDescription()
    return "a mishap"
  }
}

/// A clock that takes a lock when it is asked.
private final class LockedClock: Clock {
  let lock = Locked(())

  var now: ContinuousClock.Instant { lock.withLock { _ in .now } }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
    try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
  }
}

@Suite("A remote list runs no other code under its lock", .inTurn, .hangLimit)
struct RemoteReentrancyTests {
  /// Waits for elements of a list, and is cancelled by the code of others, which takes the list's lock.
  private final class Reader: Sendable {
    let task = Locked<Task<Void, any Error>?>(nil)

    func begin(waitingFor list: RemoteList<some Sendable>, than count: Int) {
      task.withLock { $0 = Task { try await list.waitForMore(than: count) } }
    }

    func cancel() { task.withLock { $0 }?.cancel() }

    func expectCancelled() async {
      await #expect(throws: CancellationError.self) { try await task.withLock { $0 }?.value }
    }
  }

  @Test("elements are released outside of it: of a page, of the live connection")
  func elements() async throws {
    for isLive in [false, true] {
      let reader = Reader()
      let items = ByteCoding<Item>(name: "items") { _, bytes in
        bytes.append(contentsOf: "0".utf8)
      } decode: { _, _ in
        Item { reader.cancel() }
      }
      let source = ChangingSource(Array(0..<9000))
      let transport = FaultyTransport(ListEndpoint(source, pageLimit: 10).transport)
      let list = RemoteList(
        transport.transport, path: "/list", element: items, lingering: .seconds(100),
        clock: PauseClock())
      if isLive {
        reader.begin(waitingFor: list, than: 20_000)
      } else {
        _ = try await list.read(from: 20, upTo: 10)
        reader.begin(waitingFor: list, than: 9000)
        // After the extent and a page.
        await transport.requests.waitForCount(3)
        _ = try await list.read(from: 50, upTo: 10)
      }
      await reader.expectCancelled()
    }
  }

  @Test("a failure of the transport is described outside of it")
  func description() async {
    let reader = Reader()
    let transport: RemoteTransport = { _ in throw LoudFailure { reader.cancel() } }
    let list = remote(transport)
    reader.begin(waitingFor: list, than: 0)
    await reader.expectCancelled()
  }

  @Test("the clock is not asked inside of a cancellation")
  func clock() async {
    let clock = LockedClock()
    let transport = FaultyTransport(ListEndpoint(ChangingSource([])).transport)
    let list = remote(transport.transport, clock: clock)
    let reader = Reader()
    reader.begin(waitingFor: list, than: 0)
    await transport.requests.waitForCount(1)
    clock.lock.withLock { _ in reader.cancel() }
    await reader.expectCancelled()
  }
}
