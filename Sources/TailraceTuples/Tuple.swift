import TailraceLists
import TailraceSupport

/// A few values of different types, in order, as one value to compare, hash and encode.
///
/// ```swift
/// let order = Tuple("tea", 5)
/// let (name, count) = order.elements   // "tea", 5
/// order.elements.0                     // "tea"; a String
/// order == Tuple("tea", 5)             // true
/// order.appending(2.5)                 // ("tea", 5, 2.5)
/// ```
///
/// One definition serves every arity, including 0 and 1. An optional element is a value of its
/// own: a `nil` element is not a missing element.
///
/// A tuple is equatable, hashable, comparable (lexicographically), codable (as an array) and
/// sendable if all of its elements are.
///
/// Replaces `RACTuple` and its subclasses.
public struct Tuple<each Element> {
  /// The values as a plain Swift tuple, with their types.
  ///
  /// ```swift
  /// let (name, count) = Tuple("tea", 5).elements
  /// Tuple("tea", 5).elements.1 + 1   // 6
  /// ```
  ///
  /// Replaces `RACTupleUnpack`.
  public let elements: (repeat each Element)

  /// Creates a tuple of values.
  ///
  /// Replaces `RACTuplePack` and `+tupleWithObjects:`.
  public init(_ element: repeat each Element) { elements = (repeat each element) }

  /// Creates a tuple of the values of a plain Swift tuple.
  ///
  /// ```swift
  /// await zip(names, counts).map { Tuple(elements: $0) }.array()
  /// // [("tea", 5), ("milk", 2)]
  /// ```
  public init(elements: (repeat each Element)) { self.elements = elements }

  /// Returns this tuple with one more value at its end.
  ///
  /// ```swift
  /// Tuple("tea").appending(5)   // ("tea", 5)
  /// ```
  ///
  /// Replaces `-tupleByAddingObject:`.
  public func appending<Value>(_ value: Value) -> Tuple<repeat each Element, Value> {
    Tuple<repeat each Element, Value>(repeat each elements, value)
  }
}

// MARK: Without types

extension Tuple {
  /// The number of values.
  public var count: Int {
    var count = 0
    for _ in repeat (each Element).self { count += 1 }
    return count
  }

  /// The value at a position, without its type; `nil` beyond the end.
  ///
  /// A `nil` value is returned as an `Any` that holds `nil`.
  ///
  /// ```swift
  /// let tuple = Tuple("tea", Int?.none)
  /// tuple[0] as? String   // "tea"
  /// tuple[1] == nil       // false; the element is a nil
  /// tuple[2] == nil       // true; there is no element
  /// ```
  ///
  /// - Parameters:
  ///   - position: 0 or more; a negative position is a programmer's error and traps.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  ///
  /// Replaces `-objectAtIndex:` and `tuple[i]`.
  public subscript(
    position: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> Any? {
    require(
      position >= 0,
      "Tuple[_:] takes a position of 0 or more, not \(position); positions count from the front",
      file: file, line: line)
    var index = 0
    for element in repeat each elements {
      if index == position { return .some(element) }
      index += 1
    }
    return nil
  }

  /// The first value, without its type; `nil` if there is none. `tuple.elements.0` has the type.
  public var first: Any? { self[0] }

  /// The second value, without its type; `nil` if there is none. `tuple.elements.1` has the type.
  public var second: Any? { self[1] }

  /// The third value, without its type; `nil` if there is none. `tuple.elements.2` has the type.
  public var third: Any? { self[2] }

  /// The fourth value, without its type; `nil` if there is none. `tuple.elements.3` has the type.
  public var fourth: Any? { self[3] }

  /// The fifth value, without its type; `nil` if there is none. `tuple.elements.4` has the type.
  public var fifth: Any? { self[4] }

  /// The last value, without its type; `nil` if there is none.
  public var last: Any? { count == 0 ? nil : self[count - 1] }

  /// The values, without their types, in order.
  ///
  /// Replaces `-allObjects`.
  public var array: [Any] {
    var values: [Any] = []
    for element in repeat each elements { values.append(element) }
    return values
  }
}

/// The values, without their types, in order.
///
/// ```swift
/// for value in Tuple("tea", 5) { print(value) }
/// // tea
/// // 5
/// ```
extension Tuple: Sequence {
  /// Returns an iterator over the values, without their types.
  public func makeIterator() -> IndexingIterator<[Any]> { array.makeIterator() }
}

extension Tuple where repeat each Element: Sendable {
  /// The values as a list, which is a snapshot like every `.lazyList`.
  ///
  /// ```swift
  /// await Tuple("tea", 5).lazyList.count()   // 2
  /// ```
  ///
  /// Replaces `rac_sequence` on `RACTuple`.
  public var lazyList: LazyList<any Sendable, Never> {
    var values: [any Sendable] = []
    for element in repeat each elements { values.append(element) }
    return values.lazyList
  }
}

// MARK: As its elements are

extension Tuple: Sendable where repeat each Element: Sendable {}

extension Tuple: Equatable where repeat each Element: Equatable {
  /// Returns whether all elements are equal.
  public static func == (left: Tuple, right: Tuple) -> Bool {
    for (left, right) in repeat (each left.elements, each right.elements) {
      if left != right { return false }
    }
    return true
  }
}

extension Tuple: Hashable where repeat each Element: Hashable {
  /// Feeds the elements to a hasher.
  public func hash(into hasher: inout Hasher) {
    for element in repeat each elements { hasher.combine(element) }
  }
}

/// Lexicographically: the first elements that differ decide, by the operator used.
///
/// Unordered elements compare as in a plain Swift tuple: `Tuple(.nan, 1)` is neither less than,
/// nor greater than, nor equal to `Tuple(.nan, 1)`.
extension Tuple: Comparable where repeat each Element: Comparable {
  /// Returns whether this tuple is less where the first elements differ.
  public static func < (left: Tuple, right: Tuple) -> Bool {
    for (left, right) in repeat (each left.elements, each right.elements) {
      if left != right { return left < right }
    }
    return false
  }

  /// Returns whether this tuple is less where the first elements differ, or equal.
  public static func <= (left: Tuple, right: Tuple) -> Bool {
    // Not the negation of `>`: neither need be true.
    for (left, right) in repeat (each left.elements, each right.elements) {
      if left != right { return left <= right }
    }
    return true
  }

  /// Returns whether this tuple is greater where the first elements differ, or equal.
  public static func >= (left: Tuple, right: Tuple) -> Bool { right <= left }
}

extension Tuple: CustomStringConvertible {
  /// The values in parentheses, strings in quotes: `("foo", 5, nil)`.
  public var description: String {
    var items: [String] = []
    for element in repeat each elements { items.append(describe(element)) }
    return "(\(items.joined(separator: ", ")))"
  }
}

/// Like a literal: without the `Optional(…)` around a value.
private func describe(_ value: Any) -> String {
  guard let optional = value as? any OptionalValue else { return String(reflecting: value) }
  return optional.payload.map(describe) ?? "nil"
}
