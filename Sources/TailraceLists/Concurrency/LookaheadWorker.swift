import Synchronization

/// The task that pulls ahead for a list, in the wait graph.
///
/// Look-ahead may cause look-ahead in older lists only. It goes on in a source, which was made before the list
/// that looks ahead. In a list that was made later, such as one that a step makes for `flatMap`, it pauses. So
/// the numbers of a chain of causes fall, and a list that is defined by its own later elements causes no
/// look-ahead without end.
@usableFromInline
final class LookaheadWorker: Worker {
  private let elements: Any.Type
  /// Numbers the lists that look ahead in the order in which they are made.
  @usableFromInline package let cause: Int

  private static let count = Atomic(0)

  @usableFromInline
  init(of elements: Any.Type) {
    self.elements = elements
    cause = Self.count.add(1, ordering: .relaxed).newValue
  }

  @usableFromInline package var title: Title { "LazyList<\(elements)>" }
  @usableFromInline package var position: Int { 0 }

  /// Whether its list must not look ahead for the running code, because look-ahead has caused that.
  @usableFromInline var isLimited: Bool {
    WorkerToken.runningWorker.map { cause >= $0.cause } == true
  }
}
