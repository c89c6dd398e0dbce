/// The place to which a position in a chain of segments leads.
@usableFromInline
enum Resolved<Element: Sendable> {
  /// A cell of that segment: evaluated, or after its evaluated cells if it is open.
  case cell(Segment<Element>, Int)
  case end
  /// The list has failed after the cells of that segment, in which the position lies beyond them.
  case failed(any Error, Segment<Element>, Int)

  /// The segment and the position in it; `nil` at the end.
  @inlinable
  var place: (segment: Segment<Element>, offset: Int)? {
    switch self {
    case .cell(let segment, let offset), .failed(_, let segment, let offset): (segment, offset)
    case .end: nil
    }
  }
}

extension Segment {
  /// Follows the links of closed segments whose cells all lie before a position.
  ///
  /// - Parameters:
  ///   - first: the segment from whose first cell the position is counted.
  ///   - goesOn: called with each segment on the way; returns false to stop there.
  @inlinable
  static func resolve(
    _ first: Segment?, _ position: Int, while goesOn: (Segment, Int) -> Bool = { (_, _) in true }
  ) -> Resolved<Element> {
    guard var segment = first else { return .end }
    var offset = position
    while goesOn(segment, offset) {
      let mark = segment.mark
      guard mark.isClosed, offset >= mark.count else { break }
      switch segment.link {
      case .more(let next, let start):
        let (position, overflows) = start.addingReportingOverflow(offset &- mark.count)
        (segment, offset) = (next, overflows ? .max : position)
      case .end: return .end
      case .failed(let failure): return .failed(failure, segment, offset)
      }
    }
    return .cell(segment, offset)
  }
}

extension Cursor {
  /// Follows the known links, so that a position has only one name. A failure is read there.
  @inlinable
  mutating func skipLinks() {
    let place = Segment.resolve(segment, index).place
    move(to: place?.segment, at: place?.offset ?? 0)
  }
}
