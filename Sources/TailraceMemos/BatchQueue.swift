/// Which keys leave in which batch, as a value.
///
/// ```
///   joins                 the batch before it is back
///   ─────▶ gathering ───────────────────────────────────▶ out ─────▶ back
/// ```
///
/// A batch that is opened while none is out leaves at once. The others wait for the one that was the
/// last to leave when they were opened, so batches that are full leave together with the next one; but
/// each also waits until one less than the most are out.
@usableFromInline
struct BatchQueue<Passenger: Sendable, Batch: AnyObject & Sendable>: Sendable {
  @usableFromInline let limit: Int
  @usableFromInline let most: Int
  /// Those that have not left. Only the last one may have room.
  @usableFromInline var gathering: [(batch: Batch, passengers: [Passenger])] = []
  /// The last one that has left, if it is not back, and somebody waits for it.
  @usableFromInline weak var out: Batch?
  /// The latest batches, as many as may be out at the same time.
  @usableFromInline var latest: [Former] = []
  /// How many have left. The number of the last one.
  @usableFromInline var departures = 0
  /// How many of them were sent: the others were cancelled.
  @usableFromInline var calls = 0

  @_alwaysEmitIntoClient
  init(limit: Int, most: Int) { (self.limit, self.most) = (limit, most) }

  /// A batch that others wait for. It is given up when nobody else does.
  @usableFromInline
  struct Former: Sendable {
    @usableFromInline weak var batch: Batch?

    @_alwaysEmitIntoClient
    init(_ batch: Batch?) { self.batch = batch }
  }

  /// A key travels with the batch that gathers, or with a new one. Returns its place there, too.
  ///
  /// - Parameter make: makes a batch, given the one that it gathers behind, and the one that has to be back
  ///   before there is room for it.
  @_alwaysEmitIntoClient
  mutating func join(
    _ passenger: Passenger, _ make: (_ former: Former, _ room: Former) -> Batch
  ) -> (batch: Batch, seat: Int) {
    if let last = gathering.indices.last, gathering[last].passengers.count < limit {
      gathering[last].passengers.append(passenger)
      return (gathering[last].batch, gathering[last].passengers.count - 1)
    }
    let room = latest.count < most ? Former(nil) : latest.removeFirst()
    let batch = make(Former(out ?? gathering.first?.batch), room)
    latest.append(Former(batch))
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
