import Foundation
import Measuring
import Tailrace
import TailraceFoundation
import TailraceStored
import ValkeyStore

/// A list that another process follows: this program, started again.
enum Followed: Sendable {
  case file(URL)
  case sqlite(URL)
  case valkey(key: String, port: Int)

  /// The arguments of the process that follows.
  private var arguments: [String] {
    switch self {
    case .file(let url): ["--follow", "file", url.path]
    case .sqlite(let url): ["--follow", "sqlite", url.path]
    case .valkey(let key, let port): ["--follow", "valkey", "\(port)", key]
    }
  }

  private init(_ arguments: [String]) throws {
    switch (arguments.first, arguments.count) {
    case ("file", 2): self = .file(URL(filePath: arguments[1]))
    case ("sqlite", 2): self = .sqlite(URL(filePath: arguments[1]))
    case ("valkey", 3): self = .valkey(key: arguments[2], port: Int(arguments[1]) ?? 6379)
    default: throw Misuse("--follow is for the program itself")
    }
  }

  // MARK: The follower

  /// Follows a list to its end, and prints for each element the nanoseconds since it was computed.
  static func follow(_ arguments: [String]) async throws {
    switch try Followed(arguments) {
    case .file(let url): try await follow(Files(url))
    case .sqlite(let url): try await follow(Tables(url))
    case .valkey(let key, let port): try await follow(Streams(key, port: port))
    }
  }

  private static func follow<Store: ListStore>(_ store: Store) async throws
  where Store.Element: TextElement {
    for try await element in LazyList(reading: store) {
      // All processes have the same clock.
      let now = Int(Stopwatch.clock.nanoseconds)
      guard let start = Int(element.text.prefix { $0 != " " }) else {
        throw Flaw("an element is \(element.text)")
      }
      try FileHandle.standardOutput.write(contentsOf: Data("\(now - start)\n".utf8))
    }
  }

  // MARK: The writer

  /// Microseconds from before an element is computed and stored until the other process has it: the
  /// median.
  ///
  /// - Parameter pause: between the news of an element and the next element.
  func delay(_ count: Int, pause: Duration, _ place: Place) async throws -> Double {
    switch self {
    case .file(let url): try await delay(Files(url), count, pause, place)
    case .sqlite(let url): try await delay(Tables(url), count, pause, place)
    case .valkey(let key, let port):
      try await delay(Streams(key, port: port), count, pause, place)
    }
  }

  private func delay<Store: ListStore>(
    _ store: Store, _ count: Int, _ pause: Duration, _ place: Place
  ) async throws -> Double where Store.Element: TextElement, Store.State == Int {
    let follower = try place.start(Program.own, arguments)
    defer { follower.kill() }
    var news = follower.lines.makeAsyncIterator()
    // The first one waits until the other process runs.
    var elements = LazyList(storedIn: store, state: 0) { number in
      number += 1
      guard number <= count + 1 else { return nil }
      return Store.Element(text: "\(Int(Stopwatch.clock.nanoseconds)) \(Elements.text(number))")
    }.makeAsyncIterator()
    var delays: [Double] = []
    while try await elements.next() != nil {
      guard let line = await news.next(), let delay = Double(line) else {
        throw Flaw("the process that follows has ended")
      }
      delays.append(delay / 1000)
      if pause > .zero { try await Task.sleep(for: pause) }
    }
    return Timing(Array(delays.dropFirst())).median
  }
}
