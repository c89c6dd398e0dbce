/// Marks a parameter whose closure the compiler checks by itself.
///
/// A closure of one expression is otherwise solved together with the chain that it stands in, so
/// that the overloads of its operators multiply with those of all its neighbours: chains of three
/// such closures took seconds. One of several statements is solved alone, and so are the closures
/// for parameters with this mark. It changes nothing else: the value of the closure's body is what the
/// closure returns.
@resultBuilder
public enum CheckedAlone {
  /// The value of the body's only expression.
  @inlinable @inline(__always)
  public static func buildExpression<Value>(_ value: Value) -> Value { value }

  /// The body's only value.
  @inlinable @inline(__always)
  public static func buildBlock<Value>(_ value: Value) -> Value { value }

  /// The value of an `if` or a `switch` that is the whole body.
  @inlinable @inline(__always)
  public static func buildEither<Value>(first value: Value) -> Value { value }

  /// The value of an `if` or a `switch` that is the whole body.
  @inlinable @inline(__always)
  public static func buildEither<Value>(second value: Value) -> Value { value }
}
