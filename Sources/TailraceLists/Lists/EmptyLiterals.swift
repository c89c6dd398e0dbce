// `==` and `!=` between `[]` and an array that a closure makes.
//
// The compiler gives the elements of `[]` a type before it looks into a closure that it checks
// alone. If it knows only that the other side is an array of the closure's results, it takes `Any`
// for both, and finds no `==`. These literals fix no element type.

/// `[]` without an element type.
public struct _EmptyArrayLiteral: ExpressibleByArrayLiteral, Sendable {
  /// `[]`; a literal with elements is an `Array`.
  @_alwaysEmitIntoClient
  public init(arrayLiteral elements: Never...) {}
}

/// A collection that can be compared with `[]` behind a closure: an array, a part of one, or an
/// ``EagerList``.
public protocol _ArrayLike: Collection, ExpressibleByArrayLiteral {}

extension Array: _ArrayLike {}
extension ArraySlice: _ArrayLike {}

extension _ArrayLike where Self: Equatable {
  /// True if an array is empty: `await list.map { $0 + 1 }.array() == []`.
  @_disfavoredOverload @_alwaysEmitIntoClient
  public static func == (left: Self, right: _EmptyArrayLiteral) -> Bool { left.isEmpty }

  /// True if an array is empty.
  @_disfavoredOverload @_alwaysEmitIntoClient
  public static func == (left: _EmptyArrayLiteral, right: Self) -> Bool { right.isEmpty }

  /// True if an array has elements.
  @_disfavoredOverload @_alwaysEmitIntoClient
  public static func != (left: Self, right: _EmptyArrayLiteral) -> Bool { !left.isEmpty }

  /// True if an array has elements.
  @_disfavoredOverload @_alwaysEmitIntoClient
  public static func != (left: _EmptyArrayLiteral, right: Self) -> Bool { !right.isEmpty }
}

/// `[:]`, before its key and value types are known, as in `reduce(into: [:])`.
public struct _EmptyDictionaryLiteral: ExpressibleByDictionaryLiteral, Sendable {
  /// `[:]`; a literal with elements is a `Dictionary`.
  @_alwaysEmitIntoClient
  public init(dictionaryLiteral elements: (Never, Never)...) {}
}
