public import Foundation
import TailraceLists

extension LazyList where Failure == ElementTypeError {
  /// Creates a list of an enumerator's remaining elements, checked for their type and each pulled
  /// once, on demand.
  ///
  /// ```swift
  /// let names = LazyList(enumerator: directory.objectEnumerator(), of: String.self)
  /// ```
  ///
  /// The list takes over the enumerator: no other code can use it afterwards.
  ///
  /// - Laziness: stepwise. After its end, and after a failure, the enumerator is released.
  /// - Failure: ``ElementTypeError`` at the first element of another type.
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
  /// Returns the remaining elements, taken from this enumerator now and checked for their type.
  ///
  /// `LazyList(enumerator:of:)` takes them on demand.
  ///
  /// - Failure: ``ElementTypeError`` at the first element of another type.
  public func lazyList<T: Sendable>(of type: T.Type) -> LazyList<T, ElementTypeError> {
    LazyList(checking: allObjects, of: type)
  }

  /// The remaining elements, taken from this enumerator now, without their types.
  public var lazyList: LazyList<Untyped, Never> { allObjects.map(Untyped.init).lazyList }
}
