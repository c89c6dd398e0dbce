/// A place in a list: its elements follow from there.
@usableFromInline
package struct Place<Element: Sendable>: Sendable {
  /// `nil` for the end.
  @usableFromInline package let segment: Segment<Element>?
  /// The position in the segment; it may lie after the evaluated cells, and beyond the segment.
  @usableFromInline package let offset: Int

  @inlinable
  package init(segment: Segment<Element>?, offset: Int) {
    (self.segment, self.offset) = (segment, offset)
  }
}
