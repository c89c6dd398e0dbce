import Dispatch
import Foundation
import Observation
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
  let words = ["1", "2", "three"]
  let input = Input()
  let header = LazyList([0])
  let parsedRows = LazyList<Int, ParseError>([1, 2])
  private let failures = Counter()

  struct ParseError: Error {}

  struct Input: Sendable {
    func number() throws(ParseError) -> Int? { nil }
  }

  func parse(_ word: String) throws(ParseError) -> Int {
    guard let number = Int(word) else { throw ParseError() }
    return number
  }

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

struct RecipesGiven: Given {
  let clock = ContinuousClock()
  let names = ["tea", "an elephant"].lazyList
  var pages: LazyList<[String], any Error> {
    LazyList(state: 1, retryingFailures: true) { number in
      let page = try await load(page: number)
      number += 1
      return page
    }
  }
  let response = Response()
  let cart = Cart()
  private let attempts = Counter()
  private let questions = Counter()
  private let file = SnippetFile()
  var url: URL { file.url }

  /// The stock does not answer at once.
  func isInStock(_ name: String) async throws -> Bool {
    if questions.increment() == 1 { throw Offline() }
    return name == "tea"
  }

  /// As the shared one, but the second page does not come at once.
  func load(page: Int) async throws -> [String]? {
    print("loading page \(page)")
    if page == 2, attempts.increment() == 1 {
      print("page 2 did not come")
      throw Offline()
    }
    return page <= 3 ? ["order \(page)a", "order \(page)b"] : nil
  }

  /// Elephants take long.
  func thumbnail(of name: String) async throws -> String {
    if name.contains(" ") { try await Task.sleep(for: .seconds(60)) }
    return name + ".jpg"
  }

  func fetchUser(_ id: Int) async throws -> String {
    print("fetching user \(id)")
    return "user \(id)"
  }

  func buildIndex() async throws -> String {
    print("building the index")
    return "the index"
  }

  func nextToken(after text: String) async throws -> String? {
    let tokens = ["once ", "upon ", "a ", "time"]
    return tokens.indices.first { tokens.prefix($0).joined() == text }.map { tokens[$0] }
  }

  struct Response: Sendable {
    let body = AsyncStream<[UInt8]> { continuation in
      for chunk in ["name,pr", "ice\nt", "ea,5"] { continuation.yield(Array(chunk.utf8)) }
      continuation.finish()
    }
  }
}

struct TestingYourOwnCodeGiven: Given {
  func within<Value: Sendable>(
    _ limit: Duration, on clock: some Clock<Duration>,
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await clock.sleep(for: limit)
        throw Offline()
      }
      defer { group.cancelAll() }
      guard let value = try await group.next() else { throw CancellationError() }
      return value
    }
  }

  func retrying<Value: Sendable>(
    on clock: some Clock<Duration>, jitter: @Sendable () -> Double = { 1 },
    _ attempt: @Sendable () async throws -> Value
  ) async throws -> Value {
    var delay = Duration.milliseconds(100)
    while true {
      do {
        return try await attempt()
      } catch {
        try await clock.sleep(for: delay * jitter())
        delay *= 2
      }
    }
  }
}

/// Global, because a type that a block declares cannot use members of the block's own type.
func download(_ number: Int) async -> String {
  print("downloading \(number)")
  return "page \(number)"
}

@MainActor @Observable
final class Cart {
  private(set) var items: [String] = []
  nonisolated init() {}
  func add(_ item: String) { items.append(item) }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@MainActor
func counts(of cart: Cart) -> Observations<Int, Never> { Observations { cart.items.count } }

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

struct ListsOverHTTPGiven: Given {
  private let file = SnippetFile()
  var url: URL { file.url }
}

struct StoredListsGiven: Given {
  private let file = SnippetFile()
  var url: URL { file.url }

  func links(on url: String) async throws -> [String] { url == "/" ? ["/one", "/two"] : [] }
}

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
  /// Both, so that the signal does not end during the block.
  private let pressing = Signal<Int, Never>.makeSignal()
  var presses: Signal<Int, Never> { pressing.0 }
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

struct PublicMistakesGiven: Given {
  private let file = SnippetFile()
  var url: URL { file.url }
}
