import TailraceSupport

/// Held while a list becomes another, for all lists: each has its own claim, and of lists that become
/// each other at the same time one must find that.
private let linking = Locked(())

extension Segment {
  /// Closes a segment whose list becomes another.
  @usableFromInline
  func close(becoming list: LazyList<Element, any Error>, at mark: Published) {
    linking.withLock { _ in close(list.destination(from: self), at: mark) }
  }
}

extension LazyList {
  /// The destination of a segment that this list replaces. Empty closed segments are skipped, so
  /// that chains of replaced lists stay one step long.
  fileprivate func destination(from origin: Segment<Element>) -> Link<Element> {
    switch Segment.resolve(segment, offset) {
    case .cell(let last, let index) where last === origin && index >= last.mark.count:
      // The segment lacks the next element, which is defined as itself.
      var places = [(origin.title, origin.start + last.mark.count)]
      _ = Segment.resolve(segment, offset) { segment, offset in
        if segment !== origin { places.append((segment.title, segment.start + offset)) }
        return true
      }
      return .failed(CyclicEvaluationError(through: places))
    case .cell(let segment, let offset): return .more(segment, offset)
    case .end: return .end
    case .failed(let failure, _, _): return .failed(failure)
    }
  }
}
