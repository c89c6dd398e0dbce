/// An attempt that failed and left nothing: the failure, and the element that was attempted.
///
/// A reader that waited for the attempt passes this down with its next pull. The place of the
/// missing element recognises it, and returns the failure to the pull, which passes it up through
/// all stages like any other failure. So only the reader that waited is told, and only of this
/// position. Below other stages, a reader that finds the element there, because a later attempt has
/// succeeded, goes on with it.
// Guard: the reader that it was made for. May touch it: the pulls of that reader, one at a time.
@usableFromInline
final class FailedAttempt: @unchecked Sendable {
  /// The list whose element was attempted. Weak: an attempt outlives it, and its address may be that
  /// of another list then.
  private weak var place: AnyObject?
  @usableFromInline let position: Int
  @usableFromInline let failure: any Error
  /// Whether the failure has not been given yet.
  @usableFromInline private(set) var isOpen = true

  @usableFromInline
  init(_ place: AnyObject, _ position: Int, _ failure: any Error) {
    (self.place, self.position, self.failure) = (place, position, failure)
  }

  @usableFromInline
  convenience init(_ cell: MissingCell, _ failure: any Error) {
    self.init(cell.place.identity, cell.position, failure)
  }

  func isSame(as other: FailedAttempt) -> Bool {
    other.place.map { isAt($0, other.position) } == true
  }

  func isAt(_ place: AnyObject, _ position: Int) -> Bool {
    place === self.place && position == self.position
  }

  /// The failure, the first time that it is asked for there.
  @usableFromInline
  func give(at place: AnyObject, _ position: Int) -> (any Error)? {
    guard isOpen, isAt(place, position) else { return nil }
    isOpen = false
    return failure
  }
}
