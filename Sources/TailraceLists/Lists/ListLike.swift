/// The argument of the free functions on lists: a list, and nothing that could become one.
///
/// The compiler would try a function of `LazyList`s wherever the standard library's of that name is
/// called, because an array literal could be a list. Code without any list would compile more
/// slowly. Only lists are `_ListLike`, and every list is an `AsyncSequence`. So this `zip` is
/// closer than one of any `AsyncSequence`s, which keeps nothing, in a file that imports both.
public protocol _ListLike<Element, Failure>: AsyncSequence, Sendable where Element: Sendable {
  /// The list itself.
  var _list: LazyList<Element, Failure> { get }
}

extension LazyList: _ListLike {
  /// The list itself.
  @_alwaysEmitIntoClient
  public var _list: LazyList { self }
}
