public import Foundation
import TailraceLists

extension IndexSet {
  /// The indices, in order, as a list. Later changes have no effect.
  ///
  /// ```swift
  /// await IndexSet([3, 1]).lazyList.array()   // [1, 3]
  /// ```
  public var lazyList: LazyList<Int, Never> { LazyList(self) }
}

extension Data {
  /// The bytes as a list. Later changes have no effect.
  ///
  /// ```swift
  /// await Data("hi".utf8).lazyList.array()   // [104, 105]
  /// ```
  public var lazyList: LazyList<UInt8, Never> { LazyList(self) }
}
