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
  return LazyList(stepping: { demand in
    // All of them first, and only then any: a list that is waited for loses nothing.
    for column in repeat each column {
      if let absence = column.fill(demand.budget) { return .nothing(absence) }
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
    (state, source) in
    if state.pending == nil {
      guard let element = source.next() else { return .nothing(source.absence) }
      state.pending = .some(element)
    }
    state.second.demand.budget = source.demand.budget
    guard let other = state.second.next(), let element = state.pending.take() else {
      return .nothing(state.second.absence)
    }
    return .element((element, other))
  }
}

/// One list of a zip, and its element for the row that is being made.
private final class Column<Element: Sendable, Failure: Error> {
  private var source: Cursor<Element, Failure>
  private var element: Element?

  init(_ list: LazyList<Element, Failure>) { source = Cursor(list) }

  /// Has an element ready, or says why there is none.
  func fill(_ budget: Int) -> Absence<Failure>? {
    if element != nil { return nil }
    source.demand.budget = budget
    guard let next = source.next() else { return source.absence }
    element = .some(next)
    return nil
  }

  func take() -> Element {
    guard let element = element.take() else {
      preconditionFailure("a zip took an element that it had not filled in")
    }
    return element
  }
}
