import Synchronization

/// A failure for now: the attempt has left nothing, and the next demand makes another.
///
/// All attempts that fail share a clock. A demand says since when its reader waits; so a place that keeps its
/// last failure knows who waited when that happened.
@usableFromInline
package struct FailedAttempt: Sendable {
  @usableFromInline package let failure: any Error
  /// The time of the attempt's end. It stays when a stage passes the failure on, or makes another of it.
  @usableFromInline let time: Int

  @usableFromInline
  package init(_ failure: any Error) {
    self.init(failure, at: Self.clock.add(1, ordering: .relaxed).newValue)
  }

  @inlinable
  init(_ failure: any Error, at time: Int) { (self.failure, self.time) = (failure, time) }

  /// Counts failures. It does not order memory: whoever reads a failure has acquired it with its place.
  private static let clock = Atomic(0)

  /// A reader that waits from now on is told of the failures after this.
  @usableFromInline static var now: Int { clock.load(ordering: .relaxed) }
}

/// The last failure of a place, with the position at which it happened.
@usableFromInline
final class LastFailure: Sendable {
  private let attempt: FailedAttempt
  private let position: Int

  @usableFromInline
  init(_ attempt: FailedAttempt, at position: Int) {
    (self.attempt, self.position) = (attempt, position)
  }

  /// The failure for a reader that waits there.
  ///
  /// - Parameter time: since when it waits.
  @usableFromInline
  func told(at position: Int, since time: Int) -> FailedAttempt? {
    self.position == position && attempt.time > time ? attempt : nil
  }
}
