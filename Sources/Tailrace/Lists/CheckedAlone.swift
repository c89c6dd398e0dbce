/// Marks a parameter whose closure the compiler checks by itself.
///
/// The compiler solves a closure of one expression together with the chain that it stands in, so that the
/// overloads of its operators multiply with those of all its neighbours: chains of three such closures
/// took seconds. It solves a closure of several statements alone, and a closure for a parameter with
/// this mark, too. That is all the mark does: the closure returns the value of its body, and a body
/// with a `return` in it is left as it is.
///
/// Your own operators can have it:
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
// A result builder that builds nothing. Its argument is the closure's result, so that what the result
// must be is known inside: `.some(case)`, `[]`, `nil`.
@resultBuilder
public enum _CheckedAlone<Value>: Sendable {
  /// The value of the body's only expression.
  @inlinable @inline(__always)
  public static func buildExpression(_ value: Value) -> Value { value }

  /// What never comes back, such as `fatalError()`, stands for any value.
  @_disfavoredOverload @inlinable @inline(__always)
  public static func buildExpression(_ value: Never) -> Value {}

  /// A call that gives nothing, before the value.
  @_disfavoredOverload @inlinable @inline(__always)
  public static func buildExpression(_ value: Void) {}

  /// The body's only value.
  @inlinable @inline(__always)
  public static func buildBlock(_ value: Value) -> Value { value }

  /// The value behind one call.
  @_disfavoredOverload @inlinable @inline(__always)
  public static func buildBlock(_ first: Void, _ value: Value) -> Value { value }

  /// The value behind two calls.
  @_disfavoredOverload @inlinable @inline(__always)
  public static func buildBlock(_ first: Void, _ second: Void, _ value: Value) -> Value { value }

  /// A body without a value, which must have thrown before its end; the compiler says so when it
  /// may not.
  ///
  /// `{ _ in throw Failed() }` is right, and `filter { print($0) }` is an error: "arithmetic operation
  /// '0 - 1' results in an overflow" there means that the closure's body gives no value.
  // Types cannot tell the two apart. But in a body that ends by throwing, this call is dead, and only
  // a living one is checked for overflow at compile time.
  @_disfavoredOverload @_transparent
  public static func buildBlock(
    _ calls: Void..., file: StaticString = #fileID, line: UInt = #line
  ) -> Value {
    let bodyWithoutValue = (line &- line) - 1
    fatalError("a closure's body gave no value", file: file, line: line &+ bodyWithoutValue &+ 1)
  }

  /// The value of an `if` or a `switch` that is the whole body.
  @inlinable @inline(__always)
  public static func buildEither(first value: Value) -> Value { value }

  /// The value of an `if` or a `switch` that is the whole body.
  @inlinable @inline(__always)
  public static func buildEither(second value: Value) -> Value { value }
}

// Where no value is asked for, everything may stand in a body.
extension _CheckedAlone where Value == Void {
  /// A result that is not used.
  @_disfavoredOverload @inlinable @inline(__always)
  public static func buildExpression<Unused>(_ value: Unused) {}

  /// Any number of calls.
  @inlinable @inline(__always)
  public static func buildBlock(_ calls: Void...) {}
}
