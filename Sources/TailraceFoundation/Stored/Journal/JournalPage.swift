import Tailrace

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
  /// The last frame that the page has something of.
  var given: GivenFrame?

  /// The same page while a repair is under way: without an end that the repair removes. Throws for
  /// elements that it removes.
  func beside(_ repair: JournalRepair, from position: Int) throws -> JournalPage {
    // A reader of all that is left gets an empty page, and waits.
    guard position + items.count <= repair.left else {
      throw ListStoreError.damaged(at: position)
    }
    var page = self
    if position + items.count == repair.left { page.isEnd = false }
    return page
  }
}

/// A position, and where its frame begins, or will begin if it is the end.
struct JournalPlace: Sendable, Hashable {
  var position: Int
  var offset: Int
  /// Where the frame before it begins; 0 if unknown.
  var before = 0
}

/// A frame whose elements, or whose end, were given.
struct GivenFrame: Sendable {
  let offset: Int
  let frame: JournalFrame
  /// It was known to be on the disk: no writer replaces it without a repair, which is recorded.
  let isSynced: Bool
}

extension JournalPage {
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
