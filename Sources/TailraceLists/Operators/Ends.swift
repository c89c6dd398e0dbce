import TailraceSupport

// Operators on the end of a list: the last elements are known at the end.
extension LazyList {
  /// Returns the elements without the last ones.
  ///
  /// ```swift
  /// await LazyList(1...5).dropLast(2).array()   // [1, 2, 3]
  /// ```
  /// ![An element comes when one more is there.](marbles-dropLast)
  ///
  /// - Laziness: stepwise, and `count` more: an element is given when the `count` after it are
  ///   there.
  /// - Complexity: keeps `count` elements.
  /// - Parameters:
  ///   - count: 0 or more; a negative count is a programmer's error and traps.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func dropLast(_ count: Int = 1, file: StaticString = #fileID, line: UInt = #line)
    -> LazyList
  {
    require(
      count >= 0,
      "LazyList.dropLast(_:) takes a count of 0 or more, not \(count); use dropLast(0) for all",
      file: file, line: line)
    guard count > 0 else { return self }
    if let slice { return LazyList(sharing: slice.dropLast(count)) }
    return transform(FIFO<Element>()) { (held, element) throws(Failure) in
      held.append(element)
      return held.count > count ? Step(held.popFirst()) : .skip
    }
  }

  /// Returns the last elements, up to a maximum number.
  ///
  /// ```swift
  /// await LazyList(1...5).suffix(2).array()   // [4, 5]
  /// ```
  /// ![The last elements come with the end.](marbles-suffix)
  ///
  /// - Laziness: exhaustive, at the first request; with 0, nothing is requested.
  /// - Complexity: keeps `maxLength` elements.
  /// - Parameters:
  ///   - maxLength: 0 or more; a negative length is a programmer's error and traps.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  ///
  /// Replaces `-takeLast:`.
  @_alwaysEmitIntoClient
  public consuming func suffix(_ maxLength: Int, file: StaticString = #fileID, line: UInt = #line)
    -> LazyList
  {
    require(
      maxLength >= 0,
      "LazyList.suffix(_:) takes a length of 0 or more, not \(maxLength); use suffix(0) for none",
      file: file, line: line)
    guard maxLength > 0 else { return .empty }
    if let slice { return LazyList(sharing: slice.suffix(maxLength)) }
    return stage(FIFO<Element>()) { (held, source) in
      var patience = Patience()
      while let element = source.next() {
        held.append(element)
        if held.count > maxLength { _ = held.popFirst() }
        if !patience.lasts() { return .skip }
      }
      let absence = source.takeAbsence()
      guard case .end = absence else { return .nothing(absence) }
      var last: [Element] = []
      while let element = held.popFirst() { last.append(element) }
      return .become(LazyList(sharing: last[...]).place)
    }
  }
}
