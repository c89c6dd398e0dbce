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
    first.stage(Row<Element, _>(Peers(Peer(second), Peer(third)))) { (row, source) in
      let budget = source.demand.budget
      if row.first == nil {
        guard let element = source.next() else { return .nothing(source.absence) }
        row.first = .some(element)
      }
      if !row.peers.first.fill(budget) { return .nothing(row.peers.first.source.absence) }
      guard row.peers.others.fill(budget), let first = row.first.take(),
        let second = row.peers.first.element.take(),
        let third = row.peers.others.element.take()
      else { return .nothing(row.peers.others.source.absence) }
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
    first.stage(Row<Element, _>(Peers(Peer(second), Peers(Peer(third), Peer(fourth))))) {
      (row, source) in
      let budget = source.demand.budget
      if row.first == nil {
        guard let element = source.next() else { return .nothing(source.absence) }
        row.first = .some(element)
      }
      if !row.peers.first.fill(budget) { return .nothing(row.peers.first.source.absence) }
      if !row.peers.others.first.fill(budget) {
        return .nothing(row.peers.others.first.source.absence)
      }
      guard row.peers.others.others.fill(budget), let first = row.first.take(),
        let second = row.peers.first.element.take(),
        let third = row.peers.others.first.element.take(),
        let fourth = row.peers.others.others.element.take()
      else { return .nothing(row.peers.others.others.source.absence) }
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
    first.stage(
      Row<Element, _>(Peers(Peer(second), Peers(Peer(third), Peers(Peer(fourth), Peer(fifth)))))
    ) { (row, source) in
      let budget = source.demand.budget
      if row.first == nil {
        guard let element = source.next() else { return .nothing(source.absence) }
        row.first = .some(element)
      }
      if !row.peers.first.fill(budget) { return .nothing(row.peers.first.source.absence) }
      if !row.peers.others.first.fill(budget) {
        return .nothing(row.peers.others.first.source.absence)
      }
      if !row.peers.others.others.first.fill(budget) {
        return .nothing(row.peers.others.others.first.source.absence)
      }
      guard row.peers.others.others.others.fill(budget), let first = row.first.take(),
        let second = row.peers.first.element.take(),
        let third = row.peers.others.first.element.take(),
        let fourth = row.peers.others.others.first.element.take(),
        let fifth = row.peers.others.others.others.element.take()
      else { return .nothing(row.peers.others.others.others.source.absence) }
      return .element((first, second, third, fourth, fifth))
    }
  }
}

/// What has been pulled of the row that a zip makes.
@usableFromInline
struct Row<First, Others> {
  @usableFromInline var first: First?
  @usableFromInline var peers: Others

  @inlinable
  init(_ peers: Others) { self.peers = peers }
}

/// The lists of a zip after the first.
@usableFromInline
struct Peers<First, Others> {
  @usableFromInline var first: First
  @usableFromInline var others: Others

  @inlinable
  init(_ first: First, _ others: Others) { (self.first, self.others) = (first, others) }
}

/// A list of a zip after the first, and its element for the row that is being made.
@usableFromInline
struct Peer<Element: Sendable> {
  @usableFromInline var source: Cursor<Element>
  @usableFromInline var element: Element?

  @inlinable
  init<Failure: Error>(_ list: consuming LazyList<Element, Failure>) { source = Cursor(list) }

  /// Has an element ready. Where there is none, the source says why.
  @inlinable @inline(__always)
  mutating func fill(_ budget: Descent) -> Bool {
    if element != nil { return true }
    source.demand.budget = budget
    guard let next = source.next() else { return false }
    element = .some(next)
    return true
  }
}
