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
