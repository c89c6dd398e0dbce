extension EagerList {
  /// Returns the elements of one list, then those of the other.
  ///
  /// ```swift
  /// let list: EagerList = EagerList([0]) + EagerList([1, 2])
  /// list   // [0, 1, 2]
  /// ```
  @_alwaysEmitIntoClient @_disfavoredOverload
  public static func + (left: EagerList, right: EagerList) -> EagerList {
    if left.isEmpty { return right }
    if right.isEmpty { return left }
    return EagerList(Array(left.slice + right.slice))
  }

  /// Returns the tuples of the elements at the same position in all lists; as many as the shortest
  /// has.
  ///
  /// ```swift
  /// EagerList(["Ada", "Bob"]).zip(EagerList(1...9))    // [("Ada", 1), ("Bob", 2)]
  /// EagerList(["Ada", "Bob"]).zip([36, 41], ["x", "y"])   // [("Ada", 36, "x"), ("Bob", 41, "y")]
  /// ```
  // A method: the compiler would try a function `zip` of lists at every `zip` of two arrays.
  @_alwaysEmitIntoClient
  public func zip<each Other>(
    _ other: repeat EagerList<each Other>
  ) -> EagerList<(Element, repeat each Other)> {
    var count = count
    for list in repeat each other { count = Swift.min(count, list.count) }
    var rows: [(Element, repeat each Other)] = []
    rows.reserveCapacity(count)
    for row in 0..<count { rows.append((slice.at(row), repeat (each other).slice.at(row))) }
    return EagerList<(Element, repeat each Other)>(rows)
  }
}

extension ArraySlice {
  /// The element at a position counted from the front.
  @_alwaysEmitIntoClient
  func at(_ position: Int) -> Element { self[startIndex + position] }
}
