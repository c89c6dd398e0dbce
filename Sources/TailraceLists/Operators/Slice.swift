import TailraceSupport

extension LazyList {
  /// Returns the first elements, up to a maximum number.
  ///
  /// ```swift
  /// await LazyList(1...).prefix(2).array()   // [1, 2]
  /// ```
  /// ![The end comes with the last element; no more is computed.](marbles-prefix)
  ///
  /// - Laziness: stepwise. The element after the last one is never touched, and the source is
  ///   released with the last one.
  /// - Parameter maxLength: 0 or more; a negative length is a programmer's error and traps.
  ///
  /// Replaces `-take:`.
  // It has no parameter for the caller's line: with a defaulted one, `AsyncSequence`'s operator
  // would be preferred.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func prefix(_ maxLength: Int) -> LazyList {
    require(
      maxLength >= 0,
      "LazyList.prefix(_:) takes a length of 0 or more, not \(maxLength); use prefix(0) for none")
    guard maxLength > 0 else { return .empty }
    if let slice {
      return slice.count <= maxLength ? self : LazyList(sharing: slice.prefix(maxLength))
    }
    return transform(maxLength) { (remaining, element) throws(Failure) in
      remaining -= 1
      return remaining == 0 ? .last(element) : .element(element)
    }
  }

  /// Returns the elements after the first ones.
  ///
  /// ```swift
  /// await LazyList(1...5).dropFirst(3).array()   // [4, 5]
  /// ```
  /// ![All after the second element.](marbles-dropFirst)
  ///
  /// - Laziness: deferred; the first request also computes the dropped elements.
  /// - Complexity: O(*segments*) for the computed part; the cells are shared. Once computed, the
  ///   result retains of the dropped elements only the rest of a segment, at most 127; of an array's
  ///   list, the array.
  /// - Parameter count: 0 or more; a negative count is a programmer's error and traps.
  ///
  /// Replaces `-skip:`.
  @_alwaysEmitIntoClient
  public consuming func dropFirst(_ count: Int = 1) -> LazyList {
    require(
      count >= 0,
      "LazyList.dropFirst(_:) takes a count of 0 or more, not \(count); use dropFirst(0) for all")
    guard count > 0 else { return self }
    let (position, overflows) = offset.addingReportingOverflow(count)
    if overflows { return skipping(count) }
    // The links of evaluated elements are known, so these are skipped right here.
    switch Segment.resolve(segment, position) {
    case .end: return .empty
    // The failure may be a cycle, for which the reader of a list that cannot fail traps.
    case .failed(let failure, _, _): return LazyList<Element, any Error>.failing(failure).retyped()
    case .cell(let segment, let offset):
      let list = LazyList(segment: segment, offset: offset)
      return offset < segment.capacity ? list : list.skippingRest(of: segment)
    }
  }

  /// The list from a position beyond an open segment.
  @_alwaysEmitIntoClient
  consuming func skippingRest(of segment: Segment<Element>) -> LazyList {
    let evaluated = segment.mark.count
    return LazyList(segment: segment, offset: evaluated).skipping(offset - evaluated)
  }

  /// A separate list, which releases this one's head once it is evaluated.
  @_alwaysEmitIntoClient
  consuming func skipping(_ count: Int) -> LazyList {
    stage(count, stage: "dropFirst") { (remaining, source) in
      var patience = Patience()
      while remaining > 0 {
        guard source.next() != nil else { return .nothing(source.takeAbsence()) }
        remaining -= 1
        if !patience.lasts() { return .skip }
      }
      return .become(source.rest)
    }
  }

  /// Returns the first elements while they satisfy a predicate.
  ///
  /// ```swift
  /// await LazyList(1...).prefix { $0 * $0 < 10 }.array()   // [1, 2, 3]
  /// ```
  /// ![The first element that fails is the end.](marbles-prefix-while)
  ///
  /// - Laziness: stepwise, and one more: the element that ends it.
  ///
  /// Replaces `-takeWhileBlock:`.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func prefix(
    @_CheckedAlone<Bool> while predicate: @escaping @Sendable (Element) -> Bool
  ) -> LazyList {
    transform(()) { predicate($1) ? .element($1) : .nothing(.end) }
  }

  /// Returns the first elements while they satisfy a throwing predicate.
  @_alwaysEmitIntoClient @inline(__always) @_disfavoredOverload
  public consuming func prefix(
    @_CheckedAlone<Bool> while predicate: @escaping @Sendable (Element) throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().transform(()) { try predicate($1) ? .element($1) : .nothing(.end) }
  }

  /// Returns the first elements while they satisfy an asynchronous predicate.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func prefix(
    @_CheckedAlone<Bool> while predicate: @escaping @Sendable (Element) async -> Bool
  ) -> LazyList {
    transformInTask(()) { await predicate($1) ? .element($1) : .nothing(.end) }
  }

  /// Returns the first elements while they satisfy an asynchronous throwing predicate.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func prefix(
    @_CheckedAlone<Bool> while predicate: @escaping @Sendable (Element) async throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().transformInTask(()) { try await predicate($1) ? .element($1) : .nothing(.end) }
  }

  /// Returns the elements from the first one that does not satisfy a predicate.
  ///
  /// ```swift
  /// await LazyList([1, 2, 3, 1]).drop { $0 < 3 }.array()   // [3, 1]
  /// ```
  /// ![All from the first element that fails.](marbles-drop-while)
  ///
  /// - Laziness: searching for the first element, then stepwise.
  ///
  /// Replaces `-skipWhileBlock:`.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func drop(
    @_CheckedAlone<Bool> while predicate: @escaping @Sendable (Element) -> Bool
  ) -> LazyList {
    transform(true) { .dropping(&$0, $1, $0 && predicate($1)) }
  }

  /// Returns the elements from the first one that does not satisfy a throwing predicate.
  @_alwaysEmitIntoClient @inline(__always) @_disfavoredOverload
  public consuming func drop(
    @_CheckedAlone<Bool> while predicate: @escaping @Sendable (Element) throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().transform(true) { .dropping(&$0, $1, try $0 && predicate($1)) }
  }

  /// Returns the elements from the first one that does not satisfy an asynchronous predicate.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func drop(
    @_CheckedAlone<Bool> while predicate: @escaping @Sendable (Element) async -> Bool
  ) -> LazyList {
    droppingInTask { (element) async throws(Failure) in await predicate(element) }
  }

  /// Returns the elements from the first one that does not satisfy an asynchronous throwing
  /// predicate.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func drop(
    @_CheckedAlone<Bool> while predicate: @escaping @Sendable (Element) async throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().droppingInTask(while: predicate)
  }

  /// Drops all elements in one step; the rest needs no task.
  @_alwaysEmitIntoClient @inline(__always)
  consuming func droppingInTask(
    while predicate: @escaping @Sendable (Element) async throws(Failure) -> Bool,
    stage: StageName = #function
  ) -> LazyList {
    stageInTask((), stage: stage) { (_, source, steps) async in
      var patience = Patience()
      while let element = steps.pull(&source) {
        do throws(Failure) {
          if !(try await predicate(element)) {
            return .become(LazyList(source.rest).prepending(element).place)
          }
        } catch {
          return .nothing(.failed(error))
        }
        if Task.isCancelled { return .nothing(.cancelled) }
        if !patience.lasts() { return .skip }
      }
      return .nothing(source.takeAbsence())
    }
  }
}

extension Step {
  /// The rule of `drop(while:)`.
  @_alwaysEmitIntoClient
  static func dropping(_ isDropping: inout Bool, _ element: Element, _ isDropped: Bool) -> Step {
    isDropping = isDropped
    return isDropped ? .skip : .element(element)
  }
}
