public import Foundation
public import Tailrace

extension LazyList where Failure == ElementTypeError {
  /// Creates a list of what an enumerator has left, each of a type, pulled from it once, as it is
  /// demanded.
  ///
  /// ```swift
  /// let names = LazyList(enumerator: directory.objectEnumerator(), of: String.self)
  /// ```
  ///
  /// The enumerator is handed over: nobody else can use it afterwards.
  ///
  /// - Laziness: stepwise. After its end, and after a failure, the enumerator is released.
  /// - Failure: ``ElementTypeError`` at the first element that is of another type.
  ///
  /// Replaces `rac_sequence` on `NSEnumerator`.
  public init(enumerator: sending NSEnumerator, of type: Element.Type) {
    self.init(state: (enumerator: enumerator, position: 0)) {
      (state) throws(ElementTypeError) in
      guard let element = state.enumerator.nextObject() else { return nil }
      defer { state.position += 1 }
      return try cast(element, to: type, at: state.position)
    }
  }
}

extension NSEnumerator {
  /// Returns what this enumerator has left, taken from it now, each of which must be of a type.
  ///
  /// `LazyList(enumerator:of:)` takes it when it is demanded.
  ///
  /// - Failure: ``ElementTypeError`` at the first element that is of another type.
  public func lazyList<T: Sendable>(of type: T.Type) -> LazyList<T, ElementTypeError> {
    LazyList(checking: allObjects, of: type)
  }

  /// What this enumerator has left, taken from it now, without types.
  public var lazyList: LazyList<Untyped, Never> { allObjects.map(Untyped.init).lazyList }
}
