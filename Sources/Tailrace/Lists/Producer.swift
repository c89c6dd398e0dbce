/// What one run of a producer gives.
@usableFromInline
enum Step<Element: Sendable, Failure: Error>: Sendable {
  /// One more element; there may be others.
  case element(Element)
  /// One more element, known to be the last: the producer is released with it.
  case last(Element)
  /// No element, and none ever again.
  case end
  /// No element from here; the rest of this list is that list. Its cells are shared, not copied.
  case become(LazyList<Element, Failure>)
}

/// Why a pull gave no element.
@usableFromInline
enum Interruption<Failure: Error>: Error {
  /// The element's fate, remembered at its position.
  case failed(Failure)
  /// This attempt failed; the next demand tries again, with the same state.
  case failedTransiently(Failure)
  /// The element is not there yet, and waiting for it means to suspend, or to unwind the stack.
  case waiting(Obstacle)
  /// The reader's task is cancelled and the element is not evaluated.
  case cancelled
}

/// The closure that computes a list's next element.
///
/// A producer is *restartable*: when it throws `waiting` it has recorded all that it consumed, and
/// running it again goes on from there. That is why one synchronous definition of an operator
/// serves sources that suspend and sources that do not.
///
/// The closure sits in a class because a call through a borrowed object's `let` costs no
/// reference counting; a closure loaded from a variable is retained for each call ("First pass").
// Guard: whoever holds the evaluator's claim, or is its flight, is the only one to run it.
// May touch it: `Evaluator.step`, `Evaluator.fly`, and a cursor that took it over.
@usableFromInline
final class Producer<Element: Sendable, Failure: Error>: @unchecked Sendable {
  @usableFromInline
  typealias Run = (_ budget: Int) throws(Interruption<Failure>) -> Step<Element, Failure>

  @usableFromInline let run: Run

  @inlinable
  init(_ run: @escaping Run) { self.run = run }

  @inlinable @inline(never)
  func callAsFunction(_ budget: Int) throws(Interruption<Failure>) -> Step<Element, Failure> {
    try run(budget)
  }
}

/// How many producers may call one another before the stack is unwound and the rest is evaluated
/// from its top.
@usableFromInline
let fullBudget = 64

/// Mutable state that a producer's closure owns.
// Guard: reached through one producer only, so the producer's guard is this one's.
// May touch it: that producer's closure. Its accesses never overlap; the dynamic check of that
// costs 10 ns an element ("First pass").
@usableFromInline
final class Owned<State>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline var state: State

  @inlinable
  init(_ state: consuming State) { self.state = state }
}
