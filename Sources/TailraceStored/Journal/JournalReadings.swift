/// The shared state of a journal's readers.
struct JournalReadings: Sendable {
  /// The places of readers that continue.
  private static let mostPlaces = 16

  var reader: JournalReader?
  /// The farthest frame that was seen in the chain, or stored: a walk begins there.
  var known: KnownFrame?
  private var places: [JournalPlace] = []
  /// How many consecutive waits have ended without a change.
  var quietWaits = 0
  /// When a waiting reader has looked at the file last.
  private var lastLook = ContinuousClock.now

  /// The place of a position, if it is known. Other readers may continue from there, too.
  func place(of position: Int) -> JournalPlace? { places.last { $0.position == position } }

  /// A page ends at a place.
  mutating func remember(_ place: JournalPlace) {
    if place.offset == 0 || places.last == place { return }
    places.removeAll { $0.position == place.position }
    if places.count == Self.mostPlaces { places.removeFirst() }
    places.append(place)
  }

  /// Whether it is time to look at the file again. However busily it is written, it may be another one.
  mutating func isLookDue() -> Bool {
    let now = ContinuousClock.now
    guard now - lastLook >= .milliseconds(500) else { return false }
    lastLook = now
    return true
  }

  /// The pause before checking again without a notification: short at first, because the lock ends
  /// only after its file was closed, which is the event notified.
  mutating func nextPause() -> Duration {
    quietWaits = min(quietWaits + 1, 8)
    return .milliseconds(1 << (quietWaits + 1))
  }
}
