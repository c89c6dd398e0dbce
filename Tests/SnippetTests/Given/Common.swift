import Foundation
import Tailrace
import TailraceTesting

/// Declarations that blocks use and do not contain. Each block has an instance of its own, so that
/// nothing is evaluated and nobody is subscribed when it begins.
protocol Given: Sendable {
  init()
}

extension Given {
  /// Stands for a paged API: three pages of two orders, then nothing.
  func load(page: Int) async throws -> [String]? {
    print("loading page \(page)")
    return page <= 3 ? ["order \(page)a", "order \(page)b"] : nil
  }

  func size(of url: String) async -> Int { url.count }
  func show<Value>(_ value: Value) {}
  func log<Value>(_ value: Value) {}
}

/// The orders of the article *Tailrace*: they say when a page is loaded.
func makeOrders() -> LazyList<String, any Error> {
  struct API: Given {}
  let api = API()
  let pages = LazyList(state: 1) { number in
    defer { number += 1 }
    return try await api.load(page: number)
  }
  return pages.flatMap { $0 }
}

struct Offline: Error {}

/// A place for a file, which goes with the block.
final class SnippetFile: Sendable {
  private let folder = URL.temporaryDirectory.appending(path: "snippet-\(UUID().uuidString)")
  var url: URL { folder.appending(path: "list") }

  init() {
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      fatalError("\(error)")
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}

struct CommonGiven: Given {
  let numbers = [1, 2, 3, 4].lazyList
  let naturals = LazyList(1...)
  let list = LazyList(1...3)
  let urls = ["one", "two", "three", "four", "five"].lazyList
  let orders = makeOrders()
  let scheduler = QueueScheduler(name: "snippets")
  let queue = QueueScheduler(name: "queue")
  let clock = ContinuousClock()
  /// Cold: each subscription gets three.
  let presses = Signal<Int, Never> { subscriber in
    for press in 1...3 { subscriber.send(press) }
    subscriber.complete()
  }
  let ticks = Signal<Int, Never> { subscriber in
    for tick in 1...3 { subscriber.send(tick) }
    subscriber.complete()
  }
}

/// A connection that sends a little and is over.
struct Socket: Sendable {
  let lines = AsyncStream<String> { $0.finish() }
  let prices = AsyncThrowingStream<Price, any Error> { $0.finish() }

  init() {}
  init(to exchange: String) async throws {}
}

struct Price: Sendable {}

/// An API whose pages have titles.
struct PagedAPI: Sendable {
  struct Page: Sendable {
    let title: String
    var number = 1
  }

  func page(after cursor: inout Cursor) async throws -> Page? {
    let titles = ["First", "Second", "Third"]
    guard cursor.index < titles.count else { return nil }
    defer { cursor.index += 1 }
    return Page(title: titles[cursor.index])
  }
}

struct Cursor: Sendable {
  static let first = Cursor()
  fileprivate var index = 0
}

struct Settings: Sendable {
  let theme = "dark"
  let language = "en"
}
