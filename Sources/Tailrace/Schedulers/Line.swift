/// What stands in a scheduler's line.
enum Piece: Sendable {
  case work(ScheduledWork)
  /// A job of a task that prefers the scheduler.
  case job(UnownedJob)
  /// A job of an actor that lives on the scheduler.
  case isolatedJob(UnownedJob)
}

/// Work that waits for its scheduler, as a value.
///
/// There is a drain under way from the first piece that is added until a drain finds nothing to
/// take. So whoever is told to start one is the only one.
struct Line {
  private var pieces: [Piece] = []
  private var isDraining = false

  /// True if nobody drains the line yet, and the caller has to see to it.
  mutating func add(_ piece: Piece) -> Bool {
    pieces.append(piece)
    defer { isDraining = true }
    return !isDraining
  }

  /// All that waits; nothing if the drain is over. Leaves storage to be filled.
  mutating func take(leaving storage: consuming [Piece]) -> [Piece] {
    guard !pieces.isEmpty else {
      isDraining = false
      return []
    }
    let taken = pieces
    pieces = storage
    return taken
  }
}

/// What a drain has taken and not run yet.
struct Batch {
  private var pieces: [Piece]
  private var position = 0

  init(_ pieces: consuming [Piece] = []) { self.pieces = pieces }

  mutating func next() -> Piece? {
    guard position < pieces.count else { return nil }
    defer { position += 1 }
    return pieces[position]
  }

  /// The storage, emptied.
  mutating func takeStorage() -> [Piece] {
    var storage: [Piece] = []
    swap(&storage, &pieces)
    position = 0
    storage.removeAll(keepingCapacity: true)
    return storage
  }
}
