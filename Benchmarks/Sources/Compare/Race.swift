import Works

/// Nanoseconds per element and reader, one for each round.
struct Timing {
  var rounds: [Double] = []

  var minimum: Double { rounds.min() ?? .nan }
  var maximum: Double { rounds.max() ?? .nan }
  var median: Double {
    let sorted = rounds.sorted()
    return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
  }
}

/// The times of a work's contenders, by size.
struct Race {
  let work: Work
  private var timings: [Entry: Timing] = [:]

  private struct Entry: Hashable {
    let who: String
    let size: Int
  }

  private struct Entrant {
    let entry: Entry
    let body: Contender.Body
    /// How often the body runs for one sample, so that the clock has something to measure.
    var repetitions = 1
  }

  /// Times contenders in turn, round by round: what disturbs the machine disturbs all of them.
  init(_ work: Work, rounds: Int) async throws {
    self.work = work
    var entrants = try await Self.entrants(work, sizes: \.sizes)
    try await Self.agree(work, entrants)
    for index in entrants.indices {
      entrants[index].repetitions = try await Self.warm(entrants[index])
    }
    for round in 0..<rounds {
      // Nobody is always the first.
      let shift = round % entrants.count
      for entrant in entrants[shift...] + entrants[..<shift] {
        let sample = try await Self.sample(entrant)
        timings[entrant.entry, default: Timing()].rounds.append(sample)
      }
    }
  }

  func timing(of contender: Contender, at size: Int) -> Timing? {
    timings[Entry(who: contender.who, size: size)]
  }

  /// By how much we are faster than a peer, one number for each round.
  func speed(against peer: Contender) -> (size: Int, ratios: Timing)? {
    guard let size = work.commonSize(with: peer), let ours = timing(of: work.ours, at: size),
      let theirs = timing(of: peer, at: size)
    else { return nil }
    return (size, Timing(rounds: zip(ours.rounds, theirs.rounds).map { $1 / $0 }))
  }

  /// Runs everything once, at the small sizes, and sees to it that all give the same result.
  static func rehearse(_ work: Work) async throws {
    try await agree(work, entrants(work) { $0.sizes.filter { $0 <= 100 } })
  }

  /// Nobody is fast by doing less.
  private static func agree(_ work: Work, _ entrants: [Entrant]) async throws {
    var first: [Int: (who: String, tally: Tally)] = [:]
    for entrant in entrants {
      let (who, size) = (entrant.entry.who, entrant.entry.size)
      let tally = try await entrant.body()
      let expected = first[size, default: (who, tally)]
      first[size] = expected
      if (tally.elements, tally.result) == (expected.tally.elements, expected.tally.result) {
        continue
      }
      throw Flaw(
        "\(work.name), \(size) elements: \(who) gives \(tally.result) of \(tally.elements), "
          + "\(expected.who) \(expected.tally.result) of \(expected.tally.elements)")
    }
  }

  private static func entrants(
    _ work: Work, sizes: (Contender) -> [Int]
  ) async throws -> [Entrant] {
    var entrants: [Entrant] = []
    for contender in work.contenders {
      for size in sizes(contender) {
        let entry = Entry(who: contender.who, size: size)
        entrants.append(Entrant(entry: entry, body: try await contender.prepare(size)))
      }
    }
    return entrants.sorted { $0.entry.size < $1.entry.size }
  }

  /// How often the body has to run to take a few milliseconds.
  private static func warm(_ entrant: Entrant) async throws -> Int {
    var repetitions = 1
    while true {
      var entrant = entrant
      entrant.repetitions = repetitions
      let (time, _) = try await run(entrant)
      if time >= 2e6 || repetitions >= 1 << 20 { return repetitions }
      repetitions *= 2
    }
  }

  private static func sample(_ entrant: Entrant) async throws -> Double {
    // What a large run before it has left behind, in the caches and in the allocator, is not charged
    // to a small one.
    if entrant.repetitions > 1 { blackHole(try await entrant.body()) }
    let (time, elements) = try await run(entrant)
    return time / Double(elements)
  }

  private static func run(_ entrant: Entrant) async throws -> (time: Double, elements: Int) {
    let clock = ContinuousClock()
    var elements = 0
    let start = clock.now
    for _ in 0..<entrant.repetitions {
      let tally = try await entrant.body()
      blackHole(tally)
      elements += tally.elements
    }
    return ((clock.now - start) / .nanoseconds(1), elements)
  }
}
