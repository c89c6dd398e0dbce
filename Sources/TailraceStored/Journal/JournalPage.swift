import TailraceLists

/// Some elements of a journal, as bytes.
@usableFromInline
package struct JournalPage: Sendable {
  /// The place of an element, and the version that wrote it.
  @usableFromInline
  struct Item: Sendable {
    @usableFromInline let range: Range<Int>
    @usableFromInline let version: UInt8
  }

  @usableFromInline var bytes: [UInt8] = []
  @usableFromInline var items: [Item] = []
  @usableFromInline var isEnd = false
  /// The next position, and its frame.
  var next = JournalPlace(position: 0, offset: 0)
}

/// A position, and where its frame begins, or will begin if it is the end.
struct JournalPlace: Sendable, Hashable {
  var position: Int
  var offset: Int
  /// The name of the frame before, if it is known: the frame there must have it.
  var previous: UInt64?
}

/// A frame that was seen in the chain. While it is there, all before it is.
struct KnownFrame: Sendable {
  let offset: Int
  let name: UInt64
}

extension KnownFrame? {
  /// Another one was seen: the farthest one counts.
  mutating func note(_ frame: KnownFrame?) {
    if let frame, frame.offset >= self?.offset ?? 0 { self = frame }
  }
}

extension JournalPage {
  /// Nothing follows; a repeated read, which may begin beyond the end, gets the same answer.
  mutating func end(with frame: JournalFrame, at offset: Int) {
    isEnd = true
    next = JournalPlace(
      position: min(next.position, frame.positions.upperBound), offset: offset,
      previous: frame.previous)
  }

  /// Takes elements of a frame, from the next position on, up to a number of them.
  ///
  /// - Parameter start: where the body begins in the bytes.
  /// - Returns: false if the lengths do not match this body.
  mutating func take(
    _ frame: JournalFrame, at start: Int, upTo count: Int
  ) -> Bool {
    let all = bytes
    return all.withUnsafeBytes { bytes in
      var slot = start + frame.lengthsOffset
      var offset = slot + 4 * frame.count
      for position in frame.positions {
        let end = offset + Int(bytes.number(UInt32.self, at: slot))
        guard end <= start + frame.elementsLength else { return false }
        if position >= next.position {
          if items.count == count { return true }
          items.append(Item(range: offset..<end, version: frame.elementVersion))
          next.position = position + 1
        }
        slot += 4
        offset = end
      }
      return true
    }
  }
}
