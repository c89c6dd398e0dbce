// What the functions `zip` are made of.
extension LazyList {
  /// The rows of a zip: one element of each list, this list's first.
  @_alwaysEmitIntoClient @inline(__always)
  consuming func zipping<Others: ZipPeer, Tuple>(
    _ others: consuming Others, stage: StageName = #function,
    _ tuple: @escaping (Element, Others.Value) -> Tuple
  ) -> LazyList<Tuple, Failure> {
    self.stage(Row<Element, _>(others), stage: stage) { (row, source) in
      if row.first == nil {
        guard let element = source.next() else { return .nothing(source.takeAbsence()) }
        row.first = .some(element)
      }
      if let absence = row.peers.fill(source.demand) { return .nothing(absence) }
      guard let first = row.first.take() else {
        preconditionFailure("a zip lost its first element")
      }
      return .element(tuple(first, row.peers.take()))
    }
  }
}

/// The elements pulled so far for a zip's next row.
@usableFromInline
package struct Row<First, Others> {
  @usableFromInline var first: First?
  @usableFromInline package var peers: Others

  @_alwaysEmitIntoClient
  init(_ peers: consuming Others) { self.peers = peers }
}

/// One of the lists of a zip after the first, or several.
@usableFromInline
package protocol ZipPeer {
  associatedtype Value

  /// Makes an element ready, or says why there is none.
  mutating func fill(_ demand: Demand) -> Absence?
  /// Moves the ready element out.
  mutating func take() -> Value
}

/// The lists of a zip after the first. The lists after one without an element are not touched.
@usableFromInline
package struct Peers<First: ZipPeer, Others: ZipPeer>: ZipPeer {
  @usableFromInline package var first: First
  @usableFromInline package var others: Others

  @_alwaysEmitIntoClient
  init(_ first: consuming First, _ others: consuming Others) {
    self.first = first
    self.others = others
  }

  @_alwaysEmitIntoClient @inline(__always)
  package mutating func fill(_ demand: Demand) -> Absence? {
    if let absence = first.fill(demand) { return absence }
    return others.fill(demand)
  }

  @_alwaysEmitIntoClient @inline(__always)
  package mutating func take() -> (first: First.Value, others: Others.Value) {
    (first.take(), others.take())
  }
}

/// A list of a zip after the first, and its element for the current row.
@usableFromInline
package struct Peer<Element: Sendable>: ZipPeer {
  @usableFromInline package var source: Cursor<Element>
  @usableFromInline var element: Element?

  @_alwaysEmitIntoClient
  init<Failure: Error>(_ list: consuming LazyList<Element, Failure>) { source = Cursor(list) }

  @_alwaysEmitIntoClient @inline(__always)
  package mutating func fill(_ demand: Demand) -> Absence? {
    if element != nil { return nil }
    source.demand = demand
    guard let next = source.next() else { return source.takeAbsence() }
    element = .some(next)
    return nil
  }

  @_alwaysEmitIntoClient @inline(__always)
  package mutating func take() -> Element {
    guard let element = element.take() else {
      preconditionFailure("a zip took an element that it had not filled in")
    }
    return element
  }
}
