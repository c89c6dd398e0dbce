import Synchronization

/// Tells apart the lists that look ahead.
@usableFromInline
struct LookaheadMark: Sendable {
  /// The type of the elements that are looked ahead for.
  let elements: Any.Type
  /// Numbers the lists in the order in which they are made: a source before the list that reads it.
  @usableFromInline let number: Int

  private static let count = Atomic(0)

  @usableFromInline
  init(of elements: Any.Type) {
    self.elements = elements
    number = Self.count.add(1, ordering: .relaxed).newValue
  }
}
