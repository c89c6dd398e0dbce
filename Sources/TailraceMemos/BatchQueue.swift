/// Which keys leave in which batch, as a value.
///
/// ```
///   joins                 the batch before it is back
///   ─────▶ gathering ───────────────────────────────────▶ out ─────▶ back
/// ```
///
/// A batch that is opened while none is out leaves at once. The others wait for the one that was the
/// last to leave when they were opened, so batches that are full leave together with the next one.
@usableFromInline
struct BatchQueue<Passenger: Sendable, Batch: AnyObject & Sendable>: Sendable {
  @usableFromInline let limit: Int
  /// Those that have not left. Only the last one may have room.
  @usableFromInline var gathering: [(batch: Batch, passengers: [Passenger])] = []
  /// The last one that has left, if it is not back, and somebody waits for it.
  @usableFromInline weak var out: Batch?
  /// How many have left. The number of the last one.
  @usableFromInline var departures = 0
  /// How many of them were sent: the others were cancelled.
  @usableFromInline var calls = 0

  @_alwaysEmitIntoClient
  init(limit: Int) { self.limit = limit }

  /// A key travels with the batch that gathers, or with a new one. Returns its place there, too.
  ///
  /// - Parameter make: makes a batch, given the one that it waits for.
  @_alwaysEmitIntoClient
  mutating func join(
    _ passenger: Passenger, _ make: (Batch?) -> Batch
  ) -> (batch: Batch, seat: Int) {
    if let last = gathering.indices.last, gathering[last].passengers.count < limit {
      gathering[last].passengers.append(passenger)
      return (gathering[last].batch, gathering[last].passengers.count - 1)
    }
    let batch = make(out ?? gathering.first?.batch)
    gathering.append((batch, [passenger]))
    return (batch, 0)
  }

  /// A batch leaves, with its keys and a number.
  @_alwaysEmitIntoClient
  mutating func leave(_ batch: Batch) -> (passengers: [Passenger], number: Int)? {
    guard let place = gathering.firstIndex(where: { $0.batch === batch }) else { return nil }
    departures += 1
    out = batch
    return (gathering.remove(at: place).passengers, departures)
  }

  /// A batch is back, with or without values. It may be gone, so it is known by its number.
  @_alwaysEmitIntoClient
  mutating func comeBack(_ number: Int) {
    if number == departures { out = nil }
  }
}
