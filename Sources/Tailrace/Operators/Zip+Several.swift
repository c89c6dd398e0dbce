// Each written down, because a pack of lists is not specialised ("Zip").
extension LazyList {
  /// The triples of the elements that have the same position in all three lists; as long as the
  /// shortest.
  ///
  /// - Laziness: stepwise. When a list has ended, those after it are not touched.
  /// - Failure: the first failure in the order of the lists.
  @inlinable
  public static func zip<Second: Sendable, Third: Sendable>(
    _ first: consuming LazyList,
    _ second: LazyList<Second, Failure>,
    _ third: LazyList<Third, Failure>
  ) -> LazyList<(Element, Second, Third), Failure> {
    first.stage((Element?.none, Peer(second), Peer(third))) { (row, source) in
      let budget = source.demand.budget
      if row.0 == nil {
        guard let element = source.next() else { return .nothing(source.absence) }
        row.0 = .some(element)
      }
      if !row.1.fill(budget) { return .nothing(row.1.source.absence) }
      guard row.2.fill(budget), let first = row.0.take(), let second = row.1.element.take(),
        let third = row.2.element.take()
      else { return .nothing(row.2.source.absence) }
      return .element((first, second, third))
    }
  }

  /// The quadruples of the elements that have the same position in all four lists; as long as the
  /// shortest.
  ///
  /// - Laziness: stepwise. When a list has ended, those after it are not touched.
  /// - Failure: the first failure in the order of the lists.
  @inlinable
  public static func zip<Second: Sendable, Third: Sendable, Fourth: Sendable>(
    _ first: consuming LazyList,
    _ second: LazyList<Second, Failure>,
    _ third: LazyList<Third, Failure>,
    _ fourth: LazyList<Fourth, Failure>
  ) -> LazyList<(Element, Second, Third, Fourth), Failure> {
    first.stage((Element?.none, Peer(second), Peer(third), Peer(fourth))) { (row, source) in
      let budget = source.demand.budget
      if row.0 == nil {
        guard let element = source.next() else { return .nothing(source.absence) }
        row.0 = .some(element)
      }
      if !row.1.fill(budget) { return .nothing(row.1.source.absence) }
      if !row.2.fill(budget) { return .nothing(row.2.source.absence) }
      guard row.3.fill(budget), let first = row.0.take(), let second = row.1.element.take(),
        let third = row.2.element.take(), let fourth = row.3.element.take()
      else { return .nothing(row.3.source.absence) }
      return .element((first, second, third, fourth))
    }
  }

  /// The quintuples of the elements that have the same position in all five lists; as long as the
  /// shortest.
  ///
  /// - Laziness: stepwise. When a list has ended, those after it are not touched.
  /// - Failure: the first failure in the order of the lists.
  @inlinable
  public static func zip<Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable>(
    _ first: consuming LazyList,
    _ second: LazyList<Second, Failure>,
    _ third: LazyList<Third, Failure>,
    _ fourth: LazyList<Fourth, Failure>,
    _ fifth: LazyList<Fifth, Failure>
  ) -> LazyList<(Element, Second, Third, Fourth, Fifth), Failure> {
    first.stage((Element?.none, Peer(second), Peer(third), Peer(fourth), Peer(fifth))) {
      (row, source) in
      let budget = source.demand.budget
      if row.0 == nil {
        guard let element = source.next() else { return .nothing(source.absence) }
        row.0 = .some(element)
      }
      if !row.1.fill(budget) { return .nothing(row.1.source.absence) }
      if !row.2.fill(budget) { return .nothing(row.2.source.absence) }
      if !row.3.fill(budget) { return .nothing(row.3.source.absence) }
      guard row.4.fill(budget), let first = row.0.take(), let second = row.1.element.take(),
        let third = row.2.element.take(), let fourth = row.3.element.take(),
        let fifth = row.4.element.take()
      else { return .nothing(row.4.source.absence) }
      return .element((first, second, third, fourth, fifth))
    }
  }
}

/// A list of a zip after the first, and its element for the row that is being made.
@usableFromInline
struct Peer<Element: Sendable, Failure: Error> {
  @usableFromInline var source: Cursor<Element, Failure>
  @usableFromInline var element: Element?

  @inlinable
  init(_ list: consuming LazyList<Element, Failure>) { source = Cursor(list) }

  /// Has an element ready. Where there is none, the source says why.
  @inlinable @inline(__always)
  mutating func fill(_ budget: Int) -> Bool {
    if element != nil { return true }
    source.demand.budget = budget
    guard let next = source.next() else { return false }
    element = .some(next)
    return true
  }
}
