extension LazyList {
  /// The pairs of the elements at the same position in both lists; as long as the shorter.
  ///
  /// ```swift
  /// let sums = LazyList(1...3).zip(LazyList(10...)).map { $0 + $1 }
  /// await sums.array()   // [11, 13, 15]
  /// ```
  ///
  /// - Laziness: stepwise. When the first list has ended, the second is not touched.
  /// - Failure: the first list's, or else the second's.
  ///
  /// Replaces `+zip:`.
  @_alwaysEmitIntoClient
  public consuming func zip<Other: Sendable>(
    _ other: LazyList<Other, Failure>
  ) -> LazyList<(Element, Other), Failure> {
    zipping(Peer(other)) { ($0, $1) }
  }
}

/// The pairs of the elements at the same position in both lists: `first.zip(second)` in the
/// standard library's form.
///
/// ```swift
/// await zip(["Ada", "Bob"].lazyList, LazyList(1...)).array()
/// // [("Ada", 1), ("Bob", 2)]
/// ```
/// ![A pair comes with the later of its elements.](marbles-zip)
// On `_ListLike`, not `LazyList`, because a `zip` of two arrays would try it: see there.
@_alwaysEmitIntoClient
public func zip<First: _ListLike, Second: _ListLike>(
  _ first: First, _ second: Second
) -> LazyList<(First.Element, Second.Element), First.Failure>
where First.Failure == Second.Failure {
  first._list.zip(second._list)
}

/// Returns the pairs of the elements of lists that fail in different ways. If one of them cannot
/// fail, `first.zip(second)` fails as the other does.
@_alwaysEmitIntoClient
public func zip<First: _ListLike, Second: _ListLike>(
  _ first: First, _ second: Second
) -> LazyList<(First.Element, Second.Element), any Error> {
  first._list.widened().zip(second._list.widened())
}

/// Returns the triples of the elements at the same position in all three lists; as long as the shortest.
///
/// ```swift
/// let rows = zip(LazyList(1...), ["Ada", "Bob"].lazyList, LazyList.repeating("?"))
/// await rows.array()   // [(1, "Ada", "?"), (2, "Bob", "?")]
/// ```
///
/// Lists that fail in different ways are made alike first, by `setFailureType()`.
///
/// - Laziness: stepwise. When a list has ended, those after it are not touched.
/// - Failure: the first failure in the order of the lists.
@_alwaysEmitIntoClient
public func zip<First: _ListLike, Second: _ListLike, Third: _ListLike>(
  _ first: First, _ second: Second, _ third: Third
) -> LazyList<(First.Element, Second.Element, Third.Element), First.Failure>
where First.Failure == Second.Failure, First.Failure == Third.Failure {
  first._list.zipping(Peers(Peer(second._list), Peer(third._list))) {
    ($0, $1.first, $1.others)
  }
}

/// Returns the quadruples of the elements at the same position in all four lists; as long as the
/// shortest.
///
/// - Laziness: stepwise. When a list has ended, those after it are not touched.
/// - Failure: the first failure in the order of the lists.
// No other `zip` takes so many arguments, so these may take a `LazyList`.
@_alwaysEmitIntoClient
public func zip<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Failure>(
  _ first: LazyList<First, Failure>, _ second: LazyList<Second, Failure>,
  _ third: LazyList<Third, Failure>, _ fourth: LazyList<Fourth, Failure>
) -> LazyList<(First, Second, Third, Fourth), Failure> {
  first.zipping(Peers(Peer(second), Peers(Peer(third), Peer(fourth)))) {
    ($0, $1.first, $1.others.first, $1.others.others)
  }
}

/// Returns the tuples of the elements at the same position in five or more lists; as long as the
/// shortest.
///
/// ```swift
/// let zeros = LazyList.repeating(0)
/// await zip(zeros, zeros, zeros, zeros, LazyList(1...2)).map { $0.4 }.array()
/// // [1, 2]
/// ```
///
/// - Laziness: stepwise. When a list has ended, those after it are not touched.
/// - Failure: the first failure in the order of the lists.
// So many lists are rare; a pack is not specialised, which costs a microsecond an element.
// Not emitted into its callers: the code that Swift 6.3.1 makes of the packs there crashes.
public func zip<
  First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable,
  each Other: Sendable, Failure
>(
  _ first: LazyList<First, Failure>, _ second: LazyList<Second, Failure>,
  _ third: LazyList<Third, Failure>, _ fourth: LazyList<Fourth, Failure>,
  _ fifth: LazyList<Fifth, Failure>, _ other: repeat LazyList<each Other, Failure>
) -> LazyList<(First, Second, Third, Fourth, Fifth, repeat each Other), Failure> {
  LazyList.zipAll(first, second, third, fourth, fifth, repeat each other)
}

extension LazyList {
  /// The tuples of the elements at the same position in all lists.
  static func zipAll<each Other: Sendable>(
    _ first: LazyList, _ other: repeat LazyList<each Other, Failure>
  ) -> LazyList<(Element, repeat each Other), Failure> {
    let (column, others) = (Column(first), (repeat Column(each other)))
    var all: [AnyObject] = [column]
    repeat all.append(each others)
    return LazyList<(Element, repeat each Other), Failure>(
      upstream: Columns(all), stage: "zip",
      stepping: { demand in
        // All elements are fetched before any is taken: waiting for one list loses no element.
        if let absence = column.fill(demand) { return .nothing(absence) }
        for other in repeat each others {
          if let absence = other.fill(demand) { return .nothing(absence) }
        }
        return .element((column.take(), repeat (each others).take()))
      })
  }
}

/// One list of a zip of many.
package final class Column<Element: Sendable> {
  package var peer: Peer<Element>

  fileprivate init<Failure: Error>(_ list: LazyList<Element, Failure>) { peer = Peer(list) }

  fileprivate func fill(_ demand: Demand) -> Absence? { peer.fill(demand.forOne) }
  fileprivate func take() -> Element { peer.take() }
}

/// The lists of a zip of many, for inspection.
package final class Columns {
  package let all: [AnyObject]

  fileprivate init(_ all: [AnyObject]) { self.all = all }
}
