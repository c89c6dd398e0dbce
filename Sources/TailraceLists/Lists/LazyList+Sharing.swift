extension LazyList {
  /// The elements of a slice, in place: it costs one segment without its own cells. Elements that
  /// are lists are moved to cells.
  @inlinable
  init(sharing elements: consuming ArraySlice<Element>) {
    if isList(Element.self) {
      self.init(moving: Array(elements))
    } else {
      self.init(inPlace: elements)
    }
  }

  /// The elements of a slice that are no lists.
  @inlinable
  init(inPlace elements: consuming ArraySlice<Element>) {
    self.init(
      segment: elements.isEmpty ? nil : Segment(storage: Storage(elements)), offset: 0)
  }

  /// The elements of an array, moved to cells: an array of lists would retain each, and so
  /// everything read of it, until the last has been read.
  @inlinable
  init(moving elements: [Element]) {
    self.init(
      segment: elements.isEmpty ? nil : Segment(evaluated: elements, link: .end), offset: 0)
  }

  /// The elements of an array, as those of a slice.
  @inlinable
  init(sharing elements: [Element]) {
    if isList(Element.self) {
      self.init(moving: elements)
    } else {
      // An array may wrap an object of another language, which stores its elements elsewhere.
      self.init(inPlace: Array(ContiguousArray(elements))[...])
    }
  }

  /// The whole list, if it is a part of an array.
  @inlinable
  var slice: ArraySlice<Element>? {
    guard let segment else { return [] }
    guard let storage = segment.storage, case .end = segment.link else { return nil }
    return storage.elements.dropFirst(offset)
  }
}

/// Whether a type is a list's. The compiler knows that a trivial type is none; for another one the
/// runtime looks for the conformance, in 20 ns.
@inlinable @inline(__always)
func isList<Value>(_ type: Value.Type) -> Bool {
  !_isPOD(type) && type is any _ListLike.Type
}
