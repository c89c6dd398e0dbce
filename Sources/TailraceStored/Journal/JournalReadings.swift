/// The shared state of a journal's readers.
struct JournalReadings: Sendable {
  /// The places of readers that continue.
  private static let mostPlaces = 16

  var reader: JournalReader?
  /// The frame of the farthest element that was given, or stored. While it is there, all before it is.
  private(set) var given: GivenFrame?
  private var places: [JournalPlace] = []
  /// How many consecutive waits have ended without a change.
  var quietWaits = 0
  /// Whether the last pauses were long enough for a look at the file.
  var isQuiet: Bool { quietWaits >= 5 }

  /// The place of a position, if it is known. Other readers may continue from there, too.
  func place(of position: Int) -> JournalPlace? { places.last { $0.position == position } }

  /// A page was read.
  mutating func give(_ page: JournalPage) {
    if let given = page.given { note(given) }
    let place = page.next
    if place.offset == 0 || places.last == place { return }
    places.removeAll { $0.position == place.position }
    if places.count == Self.mostPlaces { places.removeFirst() }
    places.append(place)
  }

  /// Elements of a frame were given, or stored.
  mutating func note(_ frame: GivenFrame) {
    if frame.position >= given?.position ?? 0 { given = frame }
  }

  /// The pause before checking again without a notification: short at first, because the lock ends
  /// only after its file was closed, which is the event notified.
  mutating func nextPause() -> Duration {
    quietWaits = min(quietWaits + 1, 8)
    return .milliseconds(1 << (quietWaits + 1))
  }
}
