extension EagerList {
  /// Returns the elements of one list, then those of the other.
  ///
  /// ```swift
  /// let list: EagerList = EagerList([0]) + EagerList([1, 2])
  /// list   // [0, 1, 2]
  /// ```
  @inlinable @_disfavoredOverload
  public static func + (left: EagerList, right: EagerList) -> EagerList {
    if left.isEmpty { return right }
    if right.isEmpty { return left }
    return EagerList(Array(left.slice + right.slice))
  }

  /// Returns this list with an element before it.
  ///
  /// ```swift
  /// EagerList([2, 3]).prepending(1)   // [1, 2, 3]
  /// ```
  ///
  /// - Complexity: O(*n*), where a ``LazyList`` has O(1).
  @inlinable
  public func prepending(_ element: Element) -> EagerList { EagerList([element] + slice) }

  /// Returns the elements of this list's sequences.
  ///
  /// ```swift
  /// EagerList([[0], [], [1, 2]]).joined()   // [0, 1, 2]
  /// ```
  @inlinable
  public func joined() -> EagerList<Element.Element> where Element: Sequence { flatMap { $0 } }

  /// Returns this list with an element between every two neighbours.
  ///
  /// ```swift
  /// EagerList(["a", "b"]).interspersed(with: "-")   // ["a", "-", "b"]
  /// ```
  @inlinable
  public func interspersed(with separator: Element) -> EagerList {
    var results: [Element] = []
    results.reserveCapacity(Swift.max(0, count * 2 - 1))
    for element in self {
      if !results.isEmpty { results.append(separator) }
      results.append(element)
    }
    return EagerList(results)
  }
}

extension EagerList {
  /// The pairs of the elements at the same position in both lists; as many as the shorter has.
  ///
  /// ```swift
  /// EagerList(["Ada", "Bob"]).zip(EagerList(1...9))   // [("Ada", 1), ("Bob", 2)]
  /// ```
  // A method: the compiler would try a function `zip` of lists at every `zip` of two arrays.
  @inlinable
  public func zip<Other>(_ other: EagerList<Other>) -> EagerList<(Element, Other)> {
    EagerList<(Element, Other)>(Array(Swift.zip(self, other)))
  }

  /// Returns the tuples of the elements at the same position in all lists; as many as the shortest
  /// has.
  ///
  /// ```swift
  /// EagerList(["Ada", "Bob"]).zip([36, 41], ["x", "y"])   // [("Ada", 36, "x"), ("Bob", 41, "y")]
  /// ```
  @inlinable
  public func zip<Second, Third, each Other>(
    _ second: EagerList<Second>, _ third: EagerList<Third>, _ other: repeat EagerList<each Other>
  ) -> EagerList<(Element, Second, Third, repeat each Other)> {
    var count = Swift.min(count, second.count, third.count)
    for list in repeat each other { count = Swift.min(count, list.count) }
    var rows: [(Element, Second, Third, repeat each Other)] = []
    rows.reserveCapacity(count)
    for row in 0..<count {
      rows.append(
        (
          slice.at(row), second.slice.at(row), third.slice.at(row),
          repeat (each other).slice.at(row)
        ))
    }
    return EagerList<(Element, Second, Third, repeat each Other)>(rows)
  }
}

extension ArraySlice {
  /// The element at a position counted from the front.
  @inlinable
  func at(_ position: Int) -> Element { self[startIndex + position] }
}
