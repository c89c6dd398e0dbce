import Dispatch
import Foundation
import Observation
import Synchronization
import Tailrace
import TailraceTesting

struct READMEGiven: Given {
  let api = API()
  private let file = SnippetFile()
  var url: URL { file.url }

  struct API: Sendable {
    func user(_ id: Int) async throws -> String { "user \(id)" }
    func nextToken(after text: String) async throws -> String? { text.isEmpty ? "once" : nil }
  }
}

struct WhichTypeGiven: Given {
  func requestToken() async throws -> String { "token" }
}

struct InAnAppGiven: Given {
  private let file = SnippetFile()
  var url: URL { file.url }

  func image(named name: String) async throws -> Data { Data(name.utf8) }
}

struct ConcurrencyLimitsGiven: Given {
  let urls = ["one", "two", "three", "four", "five"].lazyList
}

struct CancellationGiven: Given {
  let orders = makeOrders()

  /// Three, then nothing.
  func readStored(page: Int) async -> Int? { page <= 3 ? page : nil }
}

struct FailuresGiven: Given {
  let urls = LazyList(0...5)
  let words = ["1", "2", "three"]
  let input = Input()
  let header = LazyList([0])
  let parsedRows = LazyList<Int, ParseError>([1, 2])
  let failures = Counter()
  let rows = AsyncThrowingStream<Int, any Error> { $0.finish() }

  struct ParseError: Error {}

  struct Input: Sendable {
    func number() throws(ParseError) -> Int? { nil }
  }

  struct NotThere: Error, CustomStringConvertible {
    let number: Int
    var description: String { "page \(number) was not there" }
  }
}

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

  /// Stands for a paged API. Its second page fails once.
  func load(page: Int) async throws -> [String]? {
    print("loading page \(page)")
    if page == 2, attempts.increment() == 1 {
      print("page 2 did not come")
      throw Offline()
    }
    return page <= 3 ? ["order \(page)a", "order \(page)b"] : nil
  }

  /// Stands for a warehouse that fails once.
  func isInStock(_ name: String) async throws -> Bool {
    if questions.increment() == 1 { throw Offline() }
    return name == "tea"
  }

  /// Names with a space take a minute.
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
    return tokens.indices.first { tokens.prefix($0).joined() == text }
      .map { tokens[$0] }
  }

  /// Stands for an API that pages by cursors.
  func search(
    after cursor: String?
  ) async throws -> (items: [String], next: String?) {
    print("searching after \(cursor ?? "nothing")")
    return cursor == nil ? (["a", "b"], "b") : (["c"], nil)
  }

  /// Stands for a provider that streams the rest of a text.
  func completion(
    of text: String
  ) -> AsyncThrowingStream<String, any Error> {
    print("a request after \"\(text)\"")
    let tokens = ["once ", "upon ", "a ", "time"]
    let first = tokens.indices.first { tokens.prefix($0).joined() == text }
    return AsyncThrowingStream { continuation in
      for token in tokens[(first ?? tokens.count)...] {
        continuation.yield(token)
      }
      continuation.finish()
    }
  }

  struct Response: Sendable {
    let body = AsyncStream<[UInt8]> { continuation in
      for chunk in ["name,pr", "ice\nt", "ea,5"] { continuation.yield(Array(chunk.utf8)) }
      continuation.finish()
    }
  }
}

typealias RecipesForRequestsGiven = RecipesGiven
typealias RecipesForStreamsGiven = RecipesGiven
typealias RecipesForJobsGiven = RecipesGiven

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

func parse(_ bytes: [UInt8]) {}

struct ListsOverHTTPGiven: Given {
  private let file = SnippetFile()
  private let place = SnippetFile()
  var url: URL { file.url }
  var directory: URL { place.url }
}

struct StoredListsGiven: Given {
  private let file = SnippetFile()
  private let place = SnippetFile()
  var url: URL { file.url }
  var directory: URL { place.url }

  func links(on url: String) async throws -> [String] { url == "/" ? ["/one", "/two"] : [] }
}

typealias StoringListsGiven = StoredListsGiven

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
