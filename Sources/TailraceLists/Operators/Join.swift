extension LazyList {
  /// Returns the elements of one list, then those of the other.
  ///
  /// ```swift
  /// let list: LazyList<Int, Never> = [0] + [1, 2]
  /// await list.array()   // [0, 1, 2]
  /// ```
  /// ![The second list is asked when the first has ended.](marbles-plus)
  ///
  /// - Laziness: stepwise. The right list is not touched before the left one has ended.
  /// - Complexity: O(1) to make. Any nesting of `+` is computed in linear time, even if parts were
  ///   read in between. The cells of the last list are shared.
  ///
  /// Replaces `-concat:`.
  @_alwaysEmitIntoClient @_disfavoredOverload
  public static func + (left: consuming LazyList, right: consuming LazyList) -> LazyList {
    if left.segment == nil { return right }
    if right.segment == nil { return left }
    let parts = Concatenation(
      ConcatenationTree.pair(
        ConcatenationTree.of(left.place), ConcatenationTree.of(right.place)))
    let producer = Producer<Element>(
      { (demand, sink) in
        while true {
          if parts.front != nil {
            // One element may both end the list and satisfy the sink.
            var isWanted = true
            var left = parts.left
            let ending: Ending<Element>? = parts.front?.push(demand) {
              left &-= 1
              isWanted = sink($0)
              return isWanted && left > 0
            }
            parts.gave(downTo: left)
            if left > 0 { guard case .nothing(.end) = ending else { return ending ?? .stopped } }
            parts.front = nil
            if !isWanted { return .stopped }
          }
          guard let list = parts.pop() else { return .nothing(.end) }
          // The last list is not copied: this list continues as that one.
          if parts.isLast { return .become(list) }
          parts.front = Cursor(at: list)
        }
      }, of: parts, stage: "+", upstream: parts)
    return LazyList(Evaluator(producer))
  }

  /// Returns this list with an element before it.
  ///
  /// ```swift
  /// await LazyList.just(2).prepending(1).array()   // [1, 2]
  /// ```
  /// ![The new element is there at once.](marbles-prepending)
  ///
  /// - Laziness: deferred.
  /// - Complexity: O(1), also for a million in a row. The cells of this list are shared.
  ///
  /// Replaces `-startWith:`.
  @_alwaysEmitIntoClient
  public consuming func prepending(_ element: Element) -> LazyList {
    let link: Link<Element> = segment.map { .more($0, offset) } ?? .end
    return LazyList(
      segment: Segment(evaluated: CollectionOfOne(element), link: link), offset: 0)
  }

  /// Returns the elements of this list's lists.
  ///
  /// ```swift
  /// let nested: LazyList<LazyList<Int, Never>, Never> = [[0], [], [1, 2]]
  /// await nested.joined().array()   // [0, 1, 2]
  /// ```
  /// ![The second list is asked when the first has ended.](marbles-joined)
  ///
  /// - Laziness: searching, through empty lists. Each inner list is untouched until the one before
  ///   it has ended.
  ///
  /// Replaces `-flatten`.
  // Declared on `_ListLike` to be closer than an overload on any `AsyncSequence`, which remembers
  // nothing.
  @_alwaysEmitIntoClient
  public consuming func joined() -> LazyList<Element.Element, Failure>
  where Element: _ListLike, Element.Failure == Failure {
    flattened()
  }

  /// The elements of this list's lists, which may fail in another way than it does.
  ///
  /// The result can fail in both ways, for callers that state its type.
  @_alwaysEmitIntoClient
  consuming func flattened<E: Error>() -> LazyList<Element.Element, E>
  where Element: _ListLike {
    let outer = Owned(Cursor(self))
    let inner = Owned(Cursor<Element.Element>?.none)
    let upstream = JoinedSources(outer, inner)
    return LazyList<Element.Element, E>(
      upstream: upstream, stage: "joined",
      producer: { (demand, sink) in
        var patience = Patience()
        while true {
          if inner.state != nil {
            // One element may both end the list and satisfy the sink.
            var isWanted = true
            let ending: Ending<Element.Element>? = inner.state?.push(demand) {
              isWanted = sink($0)
              return isWanted
            }
            guard case .nothing(.end) = ending else { return ending ?? .stopped }
            inner.state = nil
            if !isWanted || !patience.lasts() { return .stopped }
          }
          outer.state.demand = demand.forOne
          guard let list = outer.state.next() else { return .nothing(outer.state.takeAbsence()) }
          inner.state = Cursor(list._list)
        }
      })
  }

  /// Returns the elements of this list's sequences.
  ///
  /// - Laziness: searching, through empty sequences.
  @_alwaysEmitIntoClient
  public consuming func joined() -> LazyList<Element.Element, Failure>
  where Element: Sequence, Element.Element: Sendable {
    // An array's iterator would retain all its lists until the last of them has been read.
    if isList(Element.Element.self) {
      return map { LazyList<Element.Element, Failure>(pulling: $0) }.flattened()
    }
    return stage(Element.Iterator?.none) { (inner, outer) in
      var patience = Patience()
      while true {
        if let element = inner?.next() { return .element(element) }
        inner = nil
        if !patience.lasts() { return .skip }
        guard let sequence = outer.next() else { return .nothing(outer.takeAbsence()) }
        inner = sequence.makeIterator()
      }
    }
  }

  /// Returns this list repeated endlessly; empty if this list is empty.
  ///
  /// ```swift
  /// await LazyList([1, 2]).cycled().prefix(5).array()   // [1, 2, 1, 2, 1]
  /// ```
  /// ![The second round takes no time.](marbles-cycled)
  ///
  /// - Laziness: stepwise. Each element of this list is computed once.
  /// - Complexity: retains this list's elements; and its own, while its head is held.
  @_alwaysEmitIntoClient
  public func cycled() -> LazyList {
    let whole = self
    return stage(false) { (isEmpty, source) in
      while true {
        if let element = source.next() {
          isEmpty = false
          return .element(element)
        }
        let absence = source.takeAbsence()
        guard case .end = absence else { return .nothing(absence) }
        // Two ends without an element between: the list is empty.
        if isEmpty { return .nothing(.end) }
        isEmpty = true
        let demand = source.demand
        source = Cursor(whole)
        source.demand = demand
      }
    }
  }

  /// Returns this list with an element between every two neighbours.
  ///
  /// ```swift
  /// await LazyList(["a", "b"]).interspersed(with: "-").array()   // ["a", "-", "b"]
  /// ```
  /// ![A separator comes with the element after it.](marbles-interspersed)
  ///
  /// - Laziness: stepwise. A separator needs the element after it.
  @_alwaysEmitIntoClient
  public consuming func interspersed(with separator: Element) -> LazyList {
    stage((isFirst: true, pending: Element?.none)) {
      (state, source) in
      if let element = state.pending.take() { return .element(element) }
      guard let element = source.next() else { return .nothing(source.takeAbsence()) }
      if state.isFirst {
        state.isFirst = false
        return .element(element)
      }
      state.pending = .some(element)
      return .element(separator)
    }
  }
}

/// The list of lists, and the inner list that is read, for inspection.
@usableFromInline
package final class JoinedSources<Outer, Inner> {
  package let outer: Owned<Outer>
  package let inner: Owned<Inner>

  @usableFromInline
  init(_ outer: Owned<Outer>, _ inner: Owned<Inner>) { (self.outer, self.inner) = (outer, inner) }
}
