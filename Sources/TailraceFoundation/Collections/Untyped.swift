import Tailrace

/// A value of a collection that says nothing of its elements' types, on its way to other tasks.
///
/// ```swift
/// for await element in NSArray(array: [1, "a"]).lazyList { print(element.value) }
/// // 1
/// // a
/// ```
///
/// Use `lazyList(of:)` where the type is known: it checks each element, and what it gives is
/// `Sendable` as the compiler understands it. This wrapper is for what the compiler cannot know: who
/// reads the value in another task vouches that nobody changes the object meanwhile, as with any
/// object of Foundation that is shared between threads.
// Guard: none of ours; immutable objects, which is what such collections mostly hold, need none.
// May touch it: whoever knows the object.
public struct Untyped: @unchecked Sendable {
  /// The value itself.
  public let value: Any

  init(_ value: Any) { self.value = value }
}

extension Untyped: CustomStringConvertible {
  /// That of the value.
  public var description: String { String(describing: value) }
}

/// An element of an untyped collection is not of the type that its reader needs.
///
/// Elements are cast as `as?` does, with Foundation's bridging: an `NSNumber` is an `Int` where its
/// value is one, an `NSString` is a `String`.
public struct ElementTypeError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Which element it is, counted from 0.
  public let position: Int
  /// The type that was needed.
  public let expected: Any.Type
  /// The type of the element.
  public let found: Any.Type

  init(_ position: Int, expected: Any.Type, found: Any) {
    self.position = position
    self.expected = expected
    self.found = type(of: found)
  }

  /// Returns whether the same is wrong at the same position.
  public static func == (left: ElementTypeError, right: ElementTypeError) -> Bool {
    left.position == right.position && left.expected == right.expected && left.found == right.found
  }

  /// The position and the types, in a sentence.
  public var description: String {
    "the element at position \(position) is of type \(found), not \(expected)"
  }
}

extension LazyList where Failure == ElementTypeError {
  /// The elements that are of the type, up to the first that is not, which is a failure there.
  ///
  /// All are looked at now: the list is a snapshot, and holds nothing that cannot be sent.
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
