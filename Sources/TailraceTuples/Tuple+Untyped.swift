import TailraceLists

extension Tuple {
  /// Creates a tuple from untyped values, each of which must have its element's type.
  ///
  /// ```swift
  /// let untyped: [Any] = ["tea", 5]
  /// try Tuple<String, Int>(values: untyped)      // ("tea", 5)
  /// try Tuple<String, Double>(values: untyped)
  /// // throws: the value at position 1 is of type Int, not Double
  /// ```
  ///
  /// It converts nothing: an `Int` is no `Double`, and an `NSNumber` is neither. An instance of a
  /// subclass matches its class, and a conforming value its protocol. A `nil` matches an optional
  /// element.
  ///
  /// - Parameters:
  ///   - values: as many values as the tuple has elements, in their order.
  ///   - convertingNulls: whether an `NSNull` becomes `nil` for an optional element.
  /// - Failure: ``TupleError``, for the first wrong position.
  ///
  /// Replaces `+tupleWithObjectsFromArray:convertNullsToNils:`.
  public init(values: [Any], convertingNulls: Bool = false) throws(TupleError) {
    var slots = UntypedSlots(values, convertingNulls)
    self.init(repeat try slots.next((each Element).self))
    try slots.end()
  }
}

/// Why untyped values do not form a ``Tuple``.
public enum TupleError: Error, Sendable {
  /// A required value is missing at a position.
  case missing(position: Int, expected: Any.Type)
  /// The value at a position has the wrong type.
  case mismatch(position: Int, expected: Any.Type, found: Any.Type)
  /// There is a value after the last position.
  case surplus(position: Int, found: Any.Type)

  /// The first wrong position, counted from 0.
  public var position: Int {
    switch self {
    case .missing(let position, _), .mismatch(let position, _, _), .surplus(let position, _):
      position
    }
  }
}

extension TupleError: Equatable {
  /// Returns whether both report the same error at the same position.
  public static func == (left: TupleError, right: TupleError) -> Bool {
    switch (left, right) {
    case (.missing(let position, let expected), .missing(let other, let otherExpected)):
      position == other && expected == otherExpected
    case (.surplus(let position, let found), .surplus(let other, let otherFound)):
      position == other && found == otherFound
    case (
      .mismatch(let position, let expected, let found),
      .mismatch(let other, let otherExpected, let otherFound)
    ):
      position == other && expected == otherExpected && found == otherFound
    default: false
    }
  }
}

extension TupleError: CustomStringConvertible {
  /// The position and the types, in a sentence.
  public var description: String {
    switch self {
    case .missing(let position, let expected):
      "there is no value at position \(position), where \(expected) is needed"
    case .mismatch(let position, let expected, let found):
      "the value at position \(position) is of type \(found), not \(expected)"
    case .surplus(let position, let found):
      "there is a value of type \(found) at position \(position), and the tuple ends before it"
    }
  }
}

/// The values whose types are not checked yet.
private struct UntypedSlots {
  private let values: [Any]
  private let convertingNulls: Bool
  private var position = 0

  init(_ values: [Any], _ convertingNulls: Bool) {
    self.values = values
    self.convertingNulls = convertingNulls
  }

  mutating func next<Value>(_ expected: Value.Type) throws(TupleError) -> Value {
    guard position < values.count else {
      throw .missing(position: position, expected: expected)
    }
    let value = values[position]
    guard let typed = typed(value, expected) else {
      throw .mismatch(position: position, expected: expected, found: type(of: value))
    }
    position += 1
    return typed
  }

  func end() throws(TupleError) {
    guard position < values.count else { return }
    throw .surplus(position: position, found: type(of: values[position]))
  }

  private func typed<Value>(_ value: Any, _ expected: Value.Type) -> Value? {
    if convertingNulls, isNull(value), let optional = expected as? any OptionalValue.Type {
      return optional.null as? Value
    }
    // A cast converts bridged types, such as numbers. A value whose type changed in the cast did
    // not have the required type.
    guard let typed = value as? Value, isSameKind(typed, value) else { return nil }
    return typed
  }

  private func isSameKind(_ left: Any, _ right: Any) -> Bool {
    switch (innermost(left), innermost(right)) {
    case (.none, .none): true
    case (.some(let left), .some(let right)): type(of: left) == type(of: right)
    default: false
    }
  }
}

/// The value without the optionals around it.
private func innermost(_ value: Any) -> Any? {
  guard let optional = value as? any OptionalValue else { return value }
  return optional.payload.flatMap(innermost)
}

/// Whether it is an `NSNull`, by its name: this module does not import Foundation.
private func isNull(_ value: Any) -> Bool {
  guard type(of: value) is AnyClass else { return false }
  return ["NSNull", "Foundation.NSNull"].contains(String(reflecting: type(of: value)))
}

/// An optional of any type, for code that does not know its type.
protocol OptionalValue {
  static var null: Any { get }
  var payload: Any? { get }
}

extension Optional: OptionalValue {
  static var null: Any { Self.none as Any }
  var payload: Any? { map { $0 as Any } }
}
