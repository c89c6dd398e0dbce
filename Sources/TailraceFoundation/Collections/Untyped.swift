import TailraceLists

/// A value of a collection without element types, on its way to other tasks.
///
/// ```swift
/// for await element in NSArray(array: [1, "a"]).lazyList { print(element.value) }
/// // 1
/// // a
/// ```
///
/// If the type is known, use `lazyList(of:)`: it checks each element, and its elements are
/// `Sendable` for the compiler. This wrapper is for values that the compiler cannot check: code
/// that reads the value in another task must ensure that the object does not change in the meantime, as
/// with any Foundation object shared between threads.
// Guard: none of ours; immutable objects, which such collections mostly hold, need none. May touch
// it: any holder of the object.
public struct Untyped: @unchecked Sendable {
  /// The wrapped value.
  public let value: Any

  init(_ value: Any) { self.value = value }
}

extension Untyped: CustomStringConvertible {
  /// The value's description.
  public var description: String { String(describing: value) }
}

/// An element of an untyped collection has the wrong type.
///
/// Elements are cast as by `as?`, with Foundation's bridging: an `NSNumber` is an `Int` if its
/// value is one, an `NSString` is a `String`.
public struct ElementTypeError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The element's position, counted from 0.
  public let position: Int
  /// The required type.
  public let expected: Any.Type
  /// The element's type.
  public let found: Any.Type

  init(_ position: Int, expected: Any.Type, found: Any) {
    self.position = position
    self.expected = expected
    self.found = type(of: found)
  }

  /// Returns whether both report the same error at the same position.
  public static func == (left: ElementTypeError, right: ElementTypeError) -> Bool {
    left.position == right.position && left.expected == right.expected && left.found == right.found
  }

  /// The position and the types, in a sentence.
  public var description: String {
    "the element at position \(position) is of type \(found), not \(expected)"
  }
}

extension LazyList where Failure == ElementTypeError {
  /// The elements up to the first one of another type, which is a failure there.
  ///
  /// All are checked now: the list is a snapshot that holds nothing unsendable.
  init(checking elements: some Sequence, _ check: (Int, Any) throws(ElementTypeError) -> Element) {
    var checked: [Element] = []
    for element in elements {
      do {
        checked.append(try check(checked.count, element))
      } catch {
        self = LazyList(checked) + .failing(error)
        return
      }
    }
    self.init(checked)
  }

  init(checking elements: some Sequence, of type: Element.Type) {
    self.init(checking: elements) { (position, element) throws(ElementTypeError) in
      try cast(element, to: type, at: position)
    }
  }
}

func cast<Value>(
  _ element: Any, to type: Value.Type, at position: Int
) throws(ElementTypeError) -> Value {
  guard let value = element as? Value else {
    throw ElementTypeError(position, expected: type, found: element)
  }
  return value
}
