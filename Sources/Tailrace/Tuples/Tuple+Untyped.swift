extension Tuple {
  /// Creates a tuple of values that come without types, each of which must be of its element's
  /// type.
  ///
  /// ```swift
  /// let untyped: [Any] = ["tea", 5]
  /// try Tuple<String, Int>(values: untyped)      // ("tea", 5)
  /// try Tuple<String, Double>(values: untyped)
  /// // throws: the value at position 1 is of type Int, not Double
  /// ```
  ///
  /// Nothing is converted: an `Int` is no `Double`, and an `NSNumber` is neither. A value of a
  /// subclass, or one that conforms to the protocol that its element names, is what it says. A `nil`
  /// is taken where the element is optional.
  ///
  /// - Parameters:
  ///   - values: as many values as the tuple has elements, in their order.
  ///   - convertingNulls: whether an `NSNull` is a `nil` where the element is optional.
  /// - Failure: ``TupleError``, for the first position that is wrong.
  ///
  /// Replaces `+tupleWithObjectsFromArray:convertNullsToNils:`.
  public init(values: [Any], convertingNulls: Bool = false) throws(TupleError) {
    var slots = UntypedSlots(values, convertingNulls)
    self.init(repeat try slots.next((each Element).self))
    try slots.end()
  }
}

/// Why untyped values do not make a ``Tuple``.
public enum TupleError: Error, Sendable {
  /// There is no value at a position that needs one.
  case missing(position: Int, expected: Any.Type)
  /// The value at a position is not of the type that is needed there.
  case mismatch(position: Int, expected: Any.Type, found: Any.Type)
  /// There is a value at a position after the last one.
  case surplus(position: Int, found: Any.Type)

  /// The first position that is wrong, counted from 0.
  public var position: Int {
    switch self {
    case .missing(let position, _), .mismatch(let position, _, _), .surplus(let position, _):
      position
    }
  }
}

extension TupleError: Equatable {
  /// Returns whether the same is wrong at the same position.
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

/// The values that are still to be given types.
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
    // A cast converts what the platform bridges, numbers for one. What has changed its type on the
    // way was not of the type that is needed.
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

/// Whether it is an `NSNull`, told by its name: this module does not know Foundation.
private func isNull(_ value: Any) -> Bool {
  guard type(of: value) is AnyClass else { return false }
  return ["NSNull", "Foundation.NSNull"].contains(String(reflecting: type(of: value)))
}

/// An optional of any type, seen from where its type is not known.
protocol OptionalValue {
  static var null: Any { get }
  var payload: Any? { get }
}

extension Optional: OptionalValue {
  static var null: Any { Self.none as Any }
  var payload: Any? { map { $0 as Any } }
}
