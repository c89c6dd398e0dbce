import Tailrace

/// Expects that an operator gives a list.
///
/// `AsyncSequence` has operators of the same names, which memoize nothing. None of them may be chosen,
/// whatever a closure does; the tests that call this name no type, so the compiler chooses, and an operator
/// of `AsyncSequence` would not compile here.
func expectList<Element, Failure>(_ list: LazyList<Element, Failure>, _ failure: Failure.Type) {}
