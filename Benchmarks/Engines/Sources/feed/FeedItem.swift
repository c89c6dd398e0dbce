import Foundation
import Tailrace
import TailraceFoundation
import TailraceStored

/// An element of the list.
struct FeedItem: Codable, Sendable, Equatable {
  /// The position in the list.
  let n: Int
  /// Says when the element was computed, and by which process: computed again, it would differ.
  let text: String
  /// A hash of all texts up to this one. A reader that computes the same has read the same list.
  let check: UInt32

  /// The state from which the next element is computed.
  struct Maker: Codable, Sendable {
    var n = 0
    /// FNV-1a.
    var check: UInt32 = 2_166_136_261

    mutating func next(_ text: String) -> FeedItem {
      for byte in text.utf8 { check = (check ^ UInt32(byte)) &* 16_777_619 }
      defer { n += 1 }
      return FeedItem(n: n, text: text, check: check)
    }
  }

  static func store(_ file: URL) -> FileStore<FeedItem, Maker> {
    FileStore(file, element: .json, state: .json)
  }

  /// A list that grows by an element each interval. If another process writes it, it follows, and
  /// takes over when that process is gone.
  static func list(
    in store: FileStore<FeedItem, Maker>, every interval: Duration, upTo count: Int
  ) -> LazyList<FeedItem, any Error> {
    let process = ProcessInfo.processInfo.processIdentifier
    return LazyList(storedIn: store, state: Maker(), atTail: .computeOrFollow) { maker in
      if maker.n >= count { return nil }
      if interval > .zero { try await Task.sleep(for: interval) }
      let time = Date.now.formatted(.iso8601.time(includingFractionalSeconds: true))
      return maker.next("computed by process \(process) at \(time)")
    }
  }
}
