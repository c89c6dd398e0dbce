import TailraceSupport

/// A list whose elements are all computed: the eager counterpart of ``LazyList``, on an array.
///
/// Its operators, which are `map`, `compactMap`, `filter`, `flatMap`, `bind`, `zip` and `+`, run at
/// once, from the first element to the last, and return eager lists. Slices are eager lists, too, and
/// share the storage.
///
/// ```swift
/// let squares = EagerList(1...4).map { $0 * $0 }   // the closure has run four times
/// squares.filter { $0 > 1 }                        // [4, 9, 16]
/// squares.dropFirst(2)                             // [9, 16]
/// await squares.lazyList.map { $0 + 1 }.head()
/// // 2; and the closure has run once
/// ```
///
/// The closures of `map`, `compactMap`, `filter` and `flatMap` may also be asynchronous. For all else
/// it is a random-access collection: `reduce`, `first(where:)`, `prefix(while:)`, `enumerated()` and
/// the others are the standard library's. As with every slice, the first index of a part is its
/// position in the whole: count from `startIndex`. For other operators go through ``lazyList``.
///
/// Replaces `RACEagerSequence` and `RACArraySequence`.
public struct EagerList<Element> {
  @usableFromInline let slice: ArraySlice<Element>

  @_alwaysEmitIntoClient
  init(slice: ArraySlice<Element>) { self.slice = slice }

  /// Creates a list of the elements of a sequence, computed now.
  ///
  /// ```swift
  /// EagerList(1...3)   // [1, 2, 3]
  /// ```
  ///
  /// - Complexity: O(1) for an array, a part of one, and an eager list; these are shared, not
  ///   copied.
  // One initialiser for all: the compiler tries each overload with each of the following chain.
  @_alwaysEmitIntoClient
  public init(_ elements: some Sequence<Element>) {
    switch elements {
    case let slice as ArraySlice<Element>: self.init(slice: slice)
    case let list as EagerList: self = list
    default: self.init(slice: Array(elements)[...])
    }
  }

  /// The elements as an array.
  ///
  /// - Complexity: O(1), without a copy; O(*n*) for a part of a list.
  @_alwaysEmitIntoClient
  public var array: [Element] { Array(slice) }
}

extension EagerList where Element: Sendable {
  /// The elements as a lazy list: lists derived from it run on demand.
  ///
  /// - Complexity: O(1). The storage is shared.
  ///
  /// Replaces `lazySequence`.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<Element, Never> { slice.lazyList }
}

extension EagerList: RandomAccessCollection {
  /// The index of the first element: 0, unless this is a part of a list.
  @_alwaysEmitIntoClient
  public var startIndex: Int { slice.startIndex }

  /// The index after the last element.
  @_alwaysEmitIntoClient
  public var endIndex: Int { slice.endIndex }

  /// The element at an index; the first is ``startIndex``.
  @_alwaysEmitIntoClient
  public subscript(position: Int) -> Element {
    guard slice.indices.contains(position) else {
      misuse("EagerList[_:] has no element at index \(position): its indices are \(slice.indices)")
    }
    return slice[position]
  }

  /// A part of the list, which is an eager list and shares its storage and its indices.
  @_alwaysEmitIntoClient
  public subscript(bounds: Range<Int>) -> EagerList {
    guard bounds.lowerBound >= slice.startIndex, bounds.upperBound <= slice.endIndex else {
      misuse("EagerList[_:] has no part \(bounds): its indices are \(slice.indices)")
    }
    return EagerList(slice: slice[bounds])
  }

  /// Returns an iterator over the elements.
  @_alwaysEmitIntoClient
  public func makeIterator() -> IndexingIterator<ArraySlice<Element>> {
    slice.makeIterator()
  }

  /// Passes the elements' memory to a closure.
  @_alwaysEmitIntoClient
  public func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<Element>) throws -> Result
  ) rethrows -> Result? {
    try slice.withContiguousStorageIfAvailable(body)
  }
}

extension EagerList: ExpressibleByArrayLiteral {
  /// Creates a list of the elements of an array literal.
  @_alwaysEmitIntoClient
  public init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension EagerList: Sendable where Element: Sendable {}

extension EagerList: Equatable where Element: Equatable {
  /// Returns whether both have equal elements, in the same order.
  @_alwaysEmitIntoClient
  public static func == (left: EagerList, right: EagerList) -> Bool {
    left.slice == right.slice
  }
}

extension EagerList: Hashable where Element: Hashable {
  /// Feeds the elements to a hasher.
  @_alwaysEmitIntoClient
  public func hash(into hasher: inout Hasher) { hasher.combine(slice) }
}

/// As an array.
extension EagerList: Encodable where Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws { try array.encode(to: encoder) }
}

/// As an array.
extension EagerList: Decodable where Element: Decodable {
  /// Decodes the elements from an array.
  public init(from decoder: any Decoder) throws { self.init(try Array(from: decoder)) }
}

extension EagerList: CustomStringConvertible {
  /// The elements in brackets, as in an array.
  public var description: String { slice.description }
}

extension EagerList: _ArrayLike {}

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

  /// Returns the pairs of the elements at the same position in both lists; as many as the shorter has.
  ///
  /// ```swift
  /// EagerList(["Ada", "Bob"]).zip(EagerList(1...9))   // [("Ada", 1), ("Bob", 2)]
  /// ```
  // A method: the compiler would try a function `zip` of lists at every `zip` of two arrays.
  @_alwaysEmitIntoClient
  public func zip<Other>(_ other: EagerList<Other>) -> EagerList<(Element, Other)> {
    EagerList<(Element, Other)>(Array(Swift.zip(slice, other.slice)))
  }

  /// Returns the tuples of the elements at the same position in three lists; as many as the shortest has.
  ///
  /// ```swift
  /// EagerList(["Ada", "Bob"]).zip([36, 41], ["x", "y"])
  /// // [("Ada", 36, "x"), ("Bob", 41, "y")]
  /// ```
  // Not by a parameter pack: what a tuple is made of is not known in time there for the closure of a `map`
  // behind it.
  @_alwaysEmitIntoClient
  public func zip<Second, Third>(
    _ second: EagerList<Second>, _ third: EagerList<Third>
  ) -> EagerList<(Element, Second, Third)> {
    let rows = Swift.zip(Swift.zip(slice, second.slice), third.slice)
    return EagerList<(Element, Second, Third)>(rows.lazy.map { ($0.0, $0.1, $1) })
  }

  /// Returns the tuples of the elements at the same position in four and more lists; as many as the
  /// shortest has.
  @_alwaysEmitIntoClient
  public func zip<Second, Third, Fourth, each Other>(
    _ second: EagerList<Second>, _ third: EagerList<Third>, _ fourth: EagerList<Fourth>,
    _ other: repeat EagerList<each Other>
  ) -> EagerList<(Element, Second, Third, Fourth, repeat each Other)> {
    typealias Row = (Element, Second, Third, Fourth, repeat each Other)
    var count = Swift.min(count, second.count, third.count, fourth.count)
    for list in repeat each other { count = Swift.min(count, list.count) }
    var rows: [Row] = []
    rows.reserveCapacity(count)
    for row in 0..<count {
      rows.append(
        (
          slice.at(row), second.slice.at(row), third.slice.at(row), fourth.slice.at(row),
          repeat (each other).slice.at(row)
        ))
    }
    return EagerList<Row>(rows)
  }
}

extension ArraySlice {
  /// The element at a position counted from the front.
  @_alwaysEmitIntoClient
  func at(_ position: Int) -> Element { self[startIndex + position] }
}
