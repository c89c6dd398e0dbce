// `==` and `!=` between a collection and `[]`, where the collection comes of a closure.
//
// The compiler gives the elements of `[]` a type before it looks into a closure that it checks alone. When
// all that it knows of the other side is "an array of what the closure gives", it takes `Any` for both,
// and finds no `==` for that. These literals say nothing about the elements.

/// `[]`, where nothing is said about its elements.
public struct _EmptyArrayLiteral: ExpressibleByArrayLiteral, Sendable {
  /// `[]`; a literal with elements is an `Array`.
  @inlinable
  public init(arrayLiteral elements: Never...) {}
}

extension Collection where Self: Equatable & ExpressibleByArrayLiteral {
  /// True if a collection is empty: `await list.map { $0 + 1 }.array() == []`.
  @_disfavoredOverload @inlinable
  public static func == (left: Self, right: _EmptyArrayLiteral) -> Bool { left.isEmpty }

  /// True if a collection is empty.
  @_disfavoredOverload @inlinable
  public static func == (left: _EmptyArrayLiteral, right: Self) -> Bool { right.isEmpty }

  /// True if a collection has elements.
  @_disfavoredOverload @inlinable
  public static func != (left: Self, right: _EmptyArrayLiteral) -> Bool { !left.isEmpty }

  /// True if a collection has elements.
  @_disfavoredOverload @inlinable
  public static func != (left: _EmptyArrayLiteral, right: Self) -> Bool { !right.isEmpty }
}
