/// The shared state of a journal's readers.
struct JournalReadings: Sendable {
  /// The places of readers that continue.
  private static let mostPlaces = 16

  var reader: JournalReader?
  /// The last known repair.
  private(set) var repair = JournalRepair()
  /// The repair that this store is doing.
  var own: JournalRepair?
  /// The position after the last element given, or stored, and one more for the end.
  private(set) var farthest = 0
  /// The frame of the farthest one. While it is there, all before it is.
  private(set) var given: GivenFrame?
  /// That frame was gone: now there is another list.
  private(set) var isReplaced = false
  private var places: [JournalPlace] = []
  /// How many consecutive waits have ended without a change.
  var quietWaits = 0

  mutating func take(_ position: Int) -> JournalPlace? {
    guard let index = places.lastIndex(where: { $0.position == position }) else { return nil }
    // Other readers may continue from there, too.
    return places[index]
  }

  /// Notes a repair, and returns the last one known. `nil` if it discarded elements that were given:
  /// now there is another list.
  ///
  /// Of several repairs at once only the last is known, and any may have discarded some.
  mutating func note(_ found: JournalRepair) -> JournalRepair? {
    // This store's lists go on. It may still fail: then it is like any other's.
    if let own, found.count == own.count { return found }
    // An older one was read before another read noted this one.
    if found.number < repair.number || found == repair { return repair }
    let isNext = found.number > repair.number && found.count <= repair.count + 1
    guard farthest == 0 || (isNext && farthest <= found.left) else { return nil }
    repair = found
    places = []
    return repair
  }

  /// This store has repaired the file, or has found it whole. Its lists go on, but for those that have
  /// read more than is left.
  mutating func start(after repair: JournalRepair) {
    if repair.number != self.repair.number { farthest = min(farthest, repair.left) }
    self.repair = repair
    (given, isReplaced) = (nil, false)
    places = []
  }

  /// A page was read, or could not be read. False if another repair is known by now: read again.
  mutating func give(_ page: Result<JournalPage, any Error>, after former: JournalRepair) -> Bool {
    if repair != former { return false }
    guard case .success(let page) = page else { return true }
    if let frame = page.given {
      note(frame, upTo: page.isEnd ? page.next.position + 1 : page.next.position)
    }
    if page.next.offset > 0 { put(page.next) }
    return true
  }

  /// The frame of the farthest element was not there. False if this store removes it, or has: then
  /// look again.
  mutating func noteReplaced(after former: JournalRepair) -> Bool {
    guard repair == former, own == nil else { return false }
    isReplaced = true
    return true
  }

  /// Elements of a frame were given, or stored.
  mutating func note(_ frame: GivenFrame, upTo position: Int) {
    if position < farthest { return }
    (farthest, given) = (position, frame)
  }

  private mutating func put(_ place: JournalPlace) {
    if places.last == place { return }
    places.removeAll { $0.position == place.position }
    if places.count == Self.mostPlaces { places.removeFirst() }
    places.append(place)
  }

  /// The pause before checking again without a notification: short at first, because the lock ends
  /// only after its file was closed, which is the event notified.
  mutating func nextPause() -> Duration {
    quietWaits = min(quietWaits + 1, 9)
    return .milliseconds(1 << (quietWaits + 1))
  }
}
