/// Something that a pull waits for: the unevaluated rest of another list, or an asynchronous step.
@usableFromInline
protocol Blocker: AnyObject, Sendable {
  /// Whether it can be cleared by the owner of the producer only: a flight of that very list.
  var isPartOfProducer: Bool { get }
  /// Tries to clear the way without suspending.
  func attempt(_ mark: Int) -> Attempt
  /// Clears the way, or tells why it cannot be.
  ///
  /// Called by a flight only: the asynchronous part of an evaluation runs in a task of its own.
  nonisolated(nonsending) func settle(_ mark: Int) async -> Wake
}

@usableFromInline
enum Attempt {
  case settled
  case blocked(Obstacle)
  case mustSuspend
  /// It failed, and left nothing behind; a later attempt may succeed.
  case failedTransiently(any Error)
}

/// Why a waiter goes on.
@usableFromInline
enum Wake: Sendable {
  /// Something changed: look again.
  case retry
  /// The waiting task was cancelled.
  case cancelled
  /// The attempt that was waited for failed and left nothing behind; a later demand tries again.
  case failedTransiently(any Error)
  /// Waiting would never end.
  case cycle(CyclicEvaluationError)
}

/// A blocker, and what had been evaluated when it was met.
///
/// The mark keeps a late attempt from evaluating an element that nobody demanded: when the blocker
/// has moved on since, there is nothing to do.
@usableFromInline
struct Obstacle: Sendable {
  @usableFromInline let blocker: any Blocker
  @usableFromInline let mark: Int

  @inlinable
  init(_ blocker: any Blocker, mark: Int = 0) {
    self.blocker = blocker
    self.mark = mark
  }

  /// Clears the way without suspending, where that is possible, from the top of the stack.
  ///
  /// A chain of stages that is deeper than its budget unwinds to here, and each piece of it is then
  /// evaluated by this loop instead of by recursion.
  @usableFromInline
  func settleNow() -> Attempt {
    if blocker.isPartOfProducer { return .mustSuspend }
    var stack = [self]
    while let top = stack.last {
      let attempt = top.blocker.attempt(top.mark)
      switch attempt {
      case .settled: stack.removeLast()
      case .mustSuspend, .failedTransiently: return attempt
      case .blocked(let deeper):
        // A list that is met twice waits for itself: the flights find out and name the cycle.
        if stack.contains(where: { $0.blocker === deeper.blocker }) { return .mustSuspend }
        stack.append(deeper)
      }
    }
    return .settled
  }
}
