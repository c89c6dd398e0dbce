import Synchronization

/// 64 memo cells and how many of them are filled: the parts of both layouts with segments.
// Guard: cells are written by the isolation that owns the segment before they are published with
// release, and read after an acquire. May touch it: that actor, and readers.
struct Cells: ~Copyable, @unchecked Sendable {
  static var capacity: Int { 64 }

  /// `count << 1 | closed`. It only grows.
  let published = Atomic(0)
  let base = UnsafeMutablePointer<Int>.allocate(capacity: Cells.capacity)

  deinit { base.deallocate() }

  func append(_ element: Int, to word: Int) {
    (base + word >> 1).initialize(to: element)
    published.store(word + 2, ordering: .releasing)
  }

  func close(at word: Int) { published.store(word | 1, ordering: .releasing) }
}
