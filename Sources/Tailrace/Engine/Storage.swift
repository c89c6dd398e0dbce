/// The elements of an array, as cells that were evaluated before there was a list.
// Guard: never written. May read it: the segments that hold it.
@usableFromInline
final class Storage<Element: Sendable>: @unchecked Sendable {
  @usableFromInline let elements: ArraySlice<Element>
  /// The address of the first element. A slice has its elements in one object, at an address that
  /// stays the same for as long as the object lives and nobody writes to it: `elements` keeps it
  /// alive, and a shared buffer is never written to ("Arrays").
  @usableFromInline let base: UnsafeMutablePointer<Element>

  /// - Parameter elements: one or more.
  @inlinable
  init(_ elements: consuming ArraySlice<Element>) {
    base = elements.withUnsafeBufferPointer {
      UnsafeMutablePointer(mutating: $0.baseAddress.unsafelyUnwrapped)
    }
    self.elements = elements
  }
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
