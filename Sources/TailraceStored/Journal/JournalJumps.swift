/// The back references of new frames, with which any position is found in a logarithmic number of
/// steps.
///
/// A frame has the length of the one before it, and one *jump* to a frame further back: the spans
/// of jumps are 1, 1, 3, 1, 1, 3, 7 and so on, as the digits of a skew binary number. To find a
/// position, a reader jumps back while that does not pass it, and otherwise takes single steps.
/// The index needs no file and no memory, and cannot contradict the frames.
struct JournalJumps: Sendable, Equatable {
  /// A frame that is a jump's target, and how many frames its own jump goes back.
  struct Root: Sendable, Equatable {
    let offset: Int
    let span: Int
  }

  /// The last frame, the one that it jumps to, and so on; the last one comes last.
  private(set) var roots: [Root] = []

  /// The jump of the next frame.
  var next: (jump: Int, span: Int) {
    guard let last = roots.last else { return (0, 1) }
    guard roots.count > 1, case let before = roots[roots.count - 2], before.span == last.span else {
      return (last.offset, 1)
    }
    return (roots.count > 2 ? roots[roots.count - 3].offset : 0, 1 + last.span + before.span)
  }

  /// A frame was appended, with that jump.
  mutating func append(at offset: Int) {
    let span = next.span
    if span > 1 { roots.removeLast(2) }
    roots.append(Root(offset: offset, span: span))
  }

  /// The jumps of a journal, read from its last frame back to the first frame kept.
  init(from last: Int?, header: (Int) throws -> JournalFrame?) rethrows {
    var offset = last ?? 0
    while offset > 0, let frame = try header(offset) {
      roots.append(Root(offset: offset, span: frame.span))
      offset = frame.jump
    }
    roots.reverse()
  }
}
