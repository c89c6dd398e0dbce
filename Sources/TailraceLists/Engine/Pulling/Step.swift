/// Why a pull gave no element.
@usableFromInline
package enum Absence: Sendable {
  /// There is none, and there never will be.
  case end
  /// The element's fate, remembered at its position.
  case failed(any Error)
  /// This attempt failed; the next demand tries again, with the same state.
  case failedTransiently(any Error)
  /// Another cell is needed first. Waiting for it suspends, or unwinds the stack.
  case missing(MissingCell)
  /// It can no longer be computed: it belongs to a recursive definition whose list has been
  /// released.
  case released
  /// The reader's task is cancelled, and the element is not evaluated.
  case cancelled
  /// A long search paused: ask again.
  case paused
}

extension Absence {
  /// The absence after a step that threw.
  @inlinable
  static func fate(_ failure: any Error, _ retryingFailures: Bool) -> Absence {
    retryingFailures ? .failedTransiently(failure) : .failed(failure)
  }
}

/// The result of a step, and of a rule for one element of the source: at most one element, and how
/// the list goes on.
@usableFromInline
package enum Step<Element: Sendable>: Sendable {
  /// One more element; there may be others.
  case element(Element)
  /// No element this time; there may be others. A step that searches pauses with it now and then.
  case skip
  /// One more element, known to be the last: the producer is released with it.
  case last(Element)
  /// No element; the rest of this list is that list. Its cells are shared, not copied.
  case become(Place<Element>)
  /// No element, because of an absence.
  case nothing(Absence)

  @inlinable
  init(_ element: Element?) {
    self = if let element { .element(element) } else { .nothing(.end) }
  }
}

/// Why a producer returned.
@usableFromInline
enum Ending<Element: Sendable>: Sendable {
  /// The sink wanted no more; or a long search paused, without an element.
  case stopped
  /// The rest of this list is that list. Its cells are shared, not copied.
  case become(Place<Element>)
  /// There are no more elements for now, or for ever.
  case nothing(Absence)
}
