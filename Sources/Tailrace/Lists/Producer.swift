/// What a step gives: at most one element, and what comes after it.
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

/// Why a producer came back.
@usableFromInline
enum Ending<Element: Sendable, Failure: Error> {
  /// The sink wanted no more. There may be others.
  case stopped
  /// There are no more elements, and none ever again: the producer is released.
  case end
  /// The rest of this list is that list. Its cells are shared, not copied.
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

/// The closure that computes a list's next elements, and hands each to a sink.
///
/// The sink says whether it wants another. When it does not, the producer comes back at once, with
/// `stopped`, or with `end` if it knows that there is no other. A sink that wants one element pulls;
/// a sink that wants them all is pushed to, at one call for each stage and element: the only way
/// for a chain of stages to keep up with a loop ("Collecting").
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
  @usableFromInline typealias Sink = (Element) -> Bool
  @usableFromInline typealias Run =
    (_ budget: Int, _ sink: Sink) throws(Interruption<Failure>) -> Ending<Element, Failure>

  @usableFromInline let run: Run
  /// What a step is made of, for a producer whose every step may suspend.
  @usableFromInline let suspension: Suspension<Element, Failure>?

  @inlinable
  init(_ run: @escaping Run) {
    self.run = run
    suspension = nil
  }

  /// A producer whose every step may suspend.
  @inlinable
  init(_ suspension: Suspension<Element, Failure>) {
    self.suspension = suspension
    run = { (_, sink) throws(Interruption<Failure>) in
      switch try suspension.take() {
      case .element(let element): if !sink(element) { return .stopped }
      case .last(let element):
        _ = sink(element)
        return .end
      case .end: return .end
      case .become(let list): return .become(list)
      }
      throw .waiting(Obstacle(suspension))
    }
  }

  /// A producer that is told how to take one step.
  @inlinable @inline(__always)
  convenience init(
    stepping step: @escaping (_ budget: Int) throws(Interruption<Failure>) -> Step<Element, Failure>
  ) {
    self.init { (budget, sink) throws(Interruption<Failure>) in
      while true {
        switch try step(budget) {
        case .element(let element): if !sink(element) { return .stopped }
        case .last(let element):
          _ = sink(element)
          return .end
        case .end: return .end
        case .become(let list): return .become(list)
        }
      }
    }
  }

  @inlinable @inline(never)
  func callAsFunction(
    _ budget: Int, _ sink: Sink
  ) throws(Interruption<Failure>) -> Ending<Element, Failure> {
    try run(budget, sink)
  }

  /// One step.
  @inlinable
  func step(_ budget: Int) throws(Interruption<Failure>) -> Step<Element, Failure> {
    var element: Element?
    let ending = try self(budget) {
      element = .some($0)
      return false
    }
    switch ending {
    case .stopped: return .element(element.unsafelyUnwrapped)
    case .end: return element.map { .last($0) } ?? .end
    case .become(let list): return .become(list)
    }
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
