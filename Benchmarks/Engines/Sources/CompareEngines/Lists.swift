import Foundation
import SQLiteStore
import Synchronization
import Tailrace
import TailraceFoundation
import TailraceStored
import ValkeyStore

/// A stored list to which each run appends some more elements. Opening is not timed, but for the
/// lease of each run.
final class Growing<Store: ListStore>: Sendable
where Store.Element: TextElement, Store.State == Int {
  /// How many elements a run appends.
  let count: Int
  private let store: Store
  private let position = Mutex(0)

  init(_ store: Store, by count: Int) {
    self.store = store
    self.count = count
  }

  /// The elements that are appended next.
  func more() -> LazyList<Store.Element, any Error> {
    let start = position.withLock { position in
      defer { position += count }
      return position
    }
    return LazyList(storedIn: store, from: start, state: 0) { number in
      number += 1
      return Store.Element(text: Elements.text(number))
    }
  }

  @Sendable static func appendOne(_ growing: Growing) async throws -> Int {
    var (bytes, count) = (0, 0)
    for try await element in growing.more() {
      bytes &+= element.text.utf8.count
      count &+= 1
      if count == growing.count { break }
    }
    return bytes
  }
}

/// A new stored list for each run. A list that ends is stored several elements at once; making it is
/// timed, too.
struct Fresh<Store: ListStore>: Sendable
where Store.Element: TextElement, Store.State == Int {
  let count: Int
  let make: @Sendable () -> Store

  @Sendable static func array(_ fresh: Fresh) async throws -> Int {
    let count = fresh.count
    let elements = try await LazyList(storedIn: fresh.make(), state: 0) { number in
      number += 1
      return number <= count ? Store.Element(text: Elements.text(number)) : nil
    }.array()
    return elements.reduce(0) { $0 &+ $1.text.utf8.count }
  }
}

/// A stored list that has ended.
struct Complete<Store: ListStore>: Sendable where Store.Element: TextElement, Store.State == Int {
  private let store: Store

  init(_ store: Store, of count: Int) async throws {
    self.store = store
    let list = LazyList(storedIn: store, state: 0) { number in
      number += 1
      return number <= count ? Store.Element(text: Elements.text(number)) : nil
    }
    _ = try await list.count()
  }

  @Sendable static func replayOne(_ complete: Complete) async throws -> Int {
    var bytes = 0
    for try await element in LazyList(reading: complete.store) {
      bytes &+= element.text.utf8.count
    }
    return bytes
  }

  @Sendable static func replayArray(_ complete: Complete) async throws -> Int {
    let elements = try await LazyList(reading: complete.store).array()
    return elements.reduce(0) { $0 &+ $1.text.utf8.count }
  }
}

// MARK: Stores

typealias Files = FileStore<String, Int>
typealias Tables = SQLiteStore<Line, Int>
typealias Streams = ValkeyStore<String, Int>

extension FileStore where Element == String, State == Int {
  convenience init(_ file: URL, _ durability: Durability = .survivesProcess) {
    self.init(file, element: .text, state: .raw, durability: durability)
  }
}

extension SQLiteStore where Element == Line, State == Int {
  init(_ file: URL, _ durability: Durability = .survivesProcess) {
    self.init(file, list: "lines", durability: durability, oldLibrary: .mayLoseCommits) {
      $0.column("text", .text).notNull()
    }
  }
}

extension ValkeyStore where Element == String, State == Int {
  convenience init(_ key: String, port: Int) {
    self.init(key, on: ValkeyServer(port: port), element: .text, state: .json)
  }
}
