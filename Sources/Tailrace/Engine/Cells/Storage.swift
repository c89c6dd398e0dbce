/// The elements of an array, as cells that were evaluated before the list was made.
// Guard: never written. May read it: the segments that hold it.
@usableFromInline
final class Storage<Element: Sendable>: @unchecked Sendable {
  @usableFromInline let elements: ArraySlice<Element>

  /// - Parameter elements: one or more.
  @inlinable
  init(_ elements: consuming ArraySlice<Element>) {
    self.elements = elements
  }

  @inlinable @inline(__always)
  subscript(index: Int) -> Element { elements[elements.startIndex &+ index] }
}

extension LazyList {
  /// The elements of a slice, in place: it costs one segment without its own cells. Elements that
  /// are lists are moved to cells: an array would retain each list, and so everything read of it,
  /// until the last has been read.
  @inlinable
  init(sharing elements: consuming ArraySlice<Element>) {
    let segment: Segment<Element>? =
      if elements.isEmpty {
        nil
      } else if Element.self is any _ListLike.Type {
        Segment(evaluated: Array(elements), link: .end)
      } else {
        Segment(storage: Storage(elements))
      }
    self.init(segment: segment, offset: 0)
  }

  /// The elements of an array, as those of a slice.
  @inlinable
  init(sharing elements: [Element]) {
    // An array may wrap an object of another language, which stores its elements elsewhere.
    let isNative = Element.self is any _ListLike.Type
    self.init(sharing: isNative ? elements[...] : Array(ContiguousArray(elements))[...])
  }

  /// The whole list, if it is a part of an array.
  @inlinable
  var slice: ArraySlice<Element>? {
    guard let segment else { return [] }
    guard let storage = segment.storage, case .end = segment.link else { return nil }
    return storage.elements.dropFirst(offset)
  }
}
