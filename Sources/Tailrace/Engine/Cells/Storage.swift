/// The elements of an array, as cells that were evaluated before there was a list.
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
  /// The elements of a slice, where they are: it costs one segment without cells of its own.
  @inlinable
  init(sharing elements: consuming ArraySlice<Element>) {
    self.init(
      segment: elements.isEmpty ? nil : Segment(storage: Storage(elements)), offset: 0)
  }

  /// The elements of an array, where they are.
  @inlinable
  init(sharing elements: [Element]) {
    // An array may wrap an object of another language, which has its elements elsewhere.
    self.init(sharing: Array(ContiguousArray(elements))[...])
  }

  /// The whole list, if it is a part of an array.
  @inlinable
  var slice: ArraySlice<Element>? {
    guard let segment else { return [] }
    guard let storage = segment.storage, case .end = segment.link else { return nil }
    return storage.elements.dropFirst(offset)
  }
}
