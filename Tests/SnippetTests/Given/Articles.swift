import Dispatch
import Foundation
import Synchronization
import Tailrace
import TailraceTesting

struct GettingStartedGiven: Given {
  func download(page: Int) async throws -> String { "page \(page)" }
}

struct CancellationGiven: Given {
  let orders = makeOrders()

  /// Three, then nothing.
  func readStored(page: Int) async -> Int? { page <= 3 ? page : nil }
}

struct FailuresGiven: Given {
  let urls = LazyList(0...5)
  let primes = [2, 3, 5, 1_000_003].lazyList
  let clock = ContinuousClock()
  private let failures = Counter()

  struct NotThere: Error, CustomStringConvertible {
    let number: Int
    var description: String { "page \(number) was not there" }
  }

  /// The fourth is there when it is asked for again.
  func load(_ number: Int) async throws -> String {
    if number == 3, failures.increment() == 1 { throw NotThere(number: number) }
    return "page \(number)"
  }
}

typealias RetryGiven = FailuresGiven

struct IsolationGiven: Given {
  let orders = makeOrders()

  @MainActor func title(of order: String) -> String { order.capitalized }
}

struct SchedulersGiven: Given {
  let scheduler = QueueScheduler(name: "snippets")
  /// One that is not activated must not be released.
  var source: any DispatchSourceUserDataAdd {
    let source = DispatchSource.makeUserDataAddSource()
    source.activate()
    return source
  }
  private let records = Counter()

  func importNextRecord() -> Bool { records.increment() < 3 }
  func read() -> [UInt8] { [] }
}

extension SchedulersGiven {
  func load() async throws {
    print("loading")
    throw Offline()
  }

  func retrying(
    every interval: Duration, on clock: some Clock<Duration>, _ body: () async throws -> Void
  ) async throws {
    while true {
      do {
        return try await body()
      } catch {
        try await clock.sleep(for: interval)
      }
    }
  }
}

func parse(_ bytes: [UInt8]) {}

struct ValuesByKeyGiven: Given {
  let users = Memos { (id: Int) in "user \(id)" }

  func thumbnail(of name: String) async throws -> Data { Data(name.utf8) }
  func user(_ id: Int) async throws -> String { "user \(id)" }
  func rate(of currency: String) async throws -> Double { 1 }
}

struct BridgeGiven: Given {
  let orders = makeOrders()
  let pages = LazyList(1...3)
  let urls = ["one", "two", "three"].lazyList
  let scheduler = QueueScheduler(name: "snippets")
  let exchange = "exchange"
  let feed = Signal<Int, Never> { $0.complete() }
  let presses = Signal<Int, Never>.makeSignal().0
  let downloads = Signal<Int, any Error> { $0.complete() }
  let levels = Signal<Int, Never> { $0.complete() }
}

final class Counter: Sendable {
  private let count = Mutex(0)
  @discardableResult
  func increment() -> Int {
    count.withLock {
      $0 += 1
      return $0
    }
  }
}
