/// Marks a parameter whose closure the compiler checks by itself.
///
/// The compiler solves a closure of one expression together with the chain around it. The overloads
/// of its operators then multiply with those of its neighbours: chains of three such closures took
/// seconds. The compiler solves a closure of several statements alone, and a closure for a marked
/// parameter too. The mark does nothing else: the closure returns the value of its body, and a body
/// with a `return` is unchanged.
///
/// The operators of this package use it. It is not API: an operator of your own does not need it.
///
/// ```swift
/// extension LazyList {
///   func mapPairs<T>(@_CheckedAlone<T> _ pair: @escaping @Sendable (Element, Element) -> T)
///     -> LazyList<T, Failure>
///   {
///     adjacentPairs().map { pair($0, $1) }
///   }
/// }
/// ```
// A result builder that builds nothing. Its argument is the closure's result, so the expected type
// is known inside: `.some(case)`, `[]`, `nil`.
@resultBuilder
public enum _CheckedAlone<Value>: Sendable {
  /// The value of the body's only expression.
  @_alwaysEmitIntoClient @inline(__always)
  public static func buildExpression(_ value: Value) -> Value { value }

  /// An expression that never returns, such as `fatalError()`, stands for any value.
  @_disfavoredOverload @_alwaysEmitIntoClient @inline(__always)
  public static func buildExpression(_ value: Never) -> Value {}

  /// A call without a result, before the value.
  @_disfavoredOverload @_alwaysEmitIntoClient @inline(__always)
  public static func buildExpression(_ value: Void) {}

  /// The body's only value.
  @_alwaysEmitIntoClient @inline(__always)
  public static func buildBlock(_ value: Value) -> Value { value }

  /// The value after one call.
  @_disfavoredOverload @_alwaysEmitIntoClient @inline(__always)
  public static func buildBlock(_ first: Void, _ value: Value) -> Value { value }

  /// The value after two calls.
  @_disfavoredOverload @_alwaysEmitIntoClient @inline(__always)
  public static func buildBlock(_ first: Void, _ second: Void, _ value: Value) -> Value { value }

  /// A body without a value, which must throw before its end. The compiler reports a body that may
  /// not.
  ///
  /// `{ _ in throw Failed() }` is right, and `filter { print($0) }` is an error: "arithmetic
  /// operation '0 - 1' results in an overflow" there means that the closure's body gives no value.
  // The types do not differ. But in a body that ends by throwing this call is dead code, and the
  // compiler checks only live calls for overflow.
  @_disfavoredOverload @_transparent
  public static func buildBlock(
    _ calls: Void..., file: StaticString = #fileID, line: UInt = #line
  ) -> Value {
    let bodyWithoutValue = (line &- line) - 1
    fatalError("a closure's body gave no value", file: file, line: line &+ bodyWithoutValue &+ 1)
  }

  /// The value of an `if` or a `switch` that is the whole body.
  @_alwaysEmitIntoClient @inline(__always)
  public static func buildEither(first value: Value) -> Value { value }

  /// The value of an `if` or a `switch` that is the whole body.
  @_alwaysEmitIntoClient @inline(__always)
  public static func buildEither(second value: Value) -> Value { value }

  /// The message for an `if` without an `else`.
  @available(
    *, unavailable,
    message: """
      an 'if' without an 'else' gives no value: add the 'else'; 'filter' and 'compactMap' leave \
      out elements, and 'onEach' needs no value
      """
  )
  public static func buildOptional(_ value: Value?) -> Value {
    fatalError("the value of an 'if' without an 'else' was used")
  }
}

// If no value is expected, a body may contain anything.
extension _CheckedAlone where Value == Void {
  /// An unused result.
  @_disfavoredOverload @_alwaysEmitIntoClient @inline(__always)
  public static func buildExpression<Unused>(_ value: Unused) {}

  /// Any number of calls.
  @_alwaysEmitIntoClient @inline(__always)
  public static func buildBlock(_ calls: Void...) {}
}
