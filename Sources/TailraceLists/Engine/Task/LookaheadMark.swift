import Synchronization

/// Tells apart the lists that look ahead.
@usableFromInline
struct LookaheadMark: Sendable {
  /// The type of the elements that are looked ahead for.
  let elements: Any.Type
  /// Numbers the lists in the order in which they are made: a source before the list that reads it.
  @usableFromInline let number: Int
  /// The queue of the results, if their order is free.
  let queue: ObjectIdentifier?

  private static let count = Atomic(0)

  @usableFromInline
  init(of elements: Any.Type, into queue: AnyObject?) {
    self.elements = elements
    self.queue = queue.map { ObjectIdentifier($0) }
    number = Self.count.add(1, ordering: .relaxed).newValue
  }
}
