/// The tuples of the elements that have the same position in all of the lists; as long as the
/// shortest.
///
/// ```swift
/// let pairs = zip(["Ada", "Bob"].lazyList, LazyList(1...))
/// await pairs.array()   // [("Ada", 1), ("Bob", 2)]
/// ```
///
/// - Laziness: stepwise. When a list has ended, those behind it are not touched.
/// - Failure: the first failure in the order of the lists.
///
/// Replaces `+zip:`.
public func zip<each Element: Sendable, Failure: Error>(
  _ list: repeat LazyList<each Element, Failure>
) -> LazyList<(repeat each Element), Failure> {
  let column = (repeat Column(each list))
  return LazyList(stepping: { (budget) throws(Interruption<Failure>) in
    // All of them first, and only then any: a list that is waited for loses nothing.
    for column in repeat each column {
      guard try column.fill(budget) else { return .end }
    }
    return .element((repeat (each column).take()))
  })
}

/// The pairs of the elements that have the same position in both lists; as long as the shorter.
///
/// ```swift
/// let sums = zip(LazyList(1...3), LazyList(10...)).map { $0 + $1 }
/// await sums.array()   // [11, 13, 15]
/// ```
///
/// - Laziness: stepwise. When the first list has ended, the second is not touched.
/// - Failure: the first list's, or else the second's.
// For two lists, as there are mostly, because a pack is not specialised ("Zip").
@inlinable
public func zip<First: Sendable, Second: Sendable, Failure: Error>(
  _ first: LazyList<First, Failure>, _ second: LazyList<Second, Failure>
) -> LazyList<(First, Second), Failure> {
  first.stage((pending: First?.none, second: Cursor(second))) {
    (state, source) throws(Interruption<Failure>) in
    if state.pending == nil {
      guard let element = try source.next() else { return .end }
      state.pending = .some(element)
    }
    state.second.budget = source.budget
    guard let other = try state.second.next(), let element = state.pending.take() else {
      return .end
    }
    return .element((element, other))
  }
}

/// One list of a zip, and its element for the row that is being made.
private final class Column<Element: Sendable, Failure: Error> {
  private var source: Cursor<Element, Failure>
  private var element: Element?

  init(_ list: LazyList<Element, Failure>) { source = Cursor(list) }

  /// Has an element ready, or says that there is none.
  func fill(_ budget: Int) throws(Interruption<Failure>) -> Bool {
    if element != nil { return true }
    source.budget = budget
    guard let next = try source.next() else { return false }
    element = .some(next)
    return true
  }

  func take() -> Element {
    guard let element = element.take() else {
      preconditionFailure("a zip took an element that it had not filled in")
    }
    return element
  }
}
