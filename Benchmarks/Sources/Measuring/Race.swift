/// The times of a row's contenders, by size.
public struct Race: Sendable {
  public let row: Row
  private var timings: [String: [Int: Timing]] = [:]

  /// Times contenders in turn, round by round: a disturbance of the machine affects all of them.
  ///
  /// - Parameter goesOn: asked before each round with the number of rounds that there have been.
  public init(
    _ row: Row, contenders: [Contender]? = nil, sizes: [Int]? = nil,
    by stopwatch: Stopwatch = .clock, while goesOn: (Int) -> Bool
  ) async throws {
    self.row = row
    var entrants = try await Self.entrants(row, contenders ?? row.contenders, sizes ?? row.sizes)
    try await Self.agree(row, entrants)
    for index in entrants.indices { try await entrants[index].warm() }
    var round = 0
    while goesOn(round) {
      // Nobody is always the first.
      let shift = round % entrants.count
      for entrant in entrants[shift...] + entrants[..<shift] {
        let sample = try await entrant.sample(by: stopwatch)
        timings[entrant.contender.who, default: [:]][entrant.size, default: Timing()]
          .append(sample)
      }
      round += 1
    }
  }

  public func timing(of contender: Contender, at size: Int) -> Timing? {
    timings[contender.who]?[size]
  }

  /// Our time as a multiple of a peer's.
  public func ratio(to peer: Contender, at size: Int) -> Timing? {
    guard let ours = timing(of: row.ours, at: size), let theirs = timing(of: peer, at: size)
    else { return nil }
    return ours / theirs
  }

  /// Runs everything once, at small sizes, and sees to it that all give the same result.
  public static func rehearse(_ row: Row) async throws {
    let small = row.sizes.filter { $0 <= 100 }
    try await agree(row, entrants(row, row.contenders, small.isEmpty ? [100] : small))
  }

  /// Nobody is fast by doing less.
  private static func agree(_ row: Row, _ entrants: [Entrant]) async throws {
    var first: [Int: (who: String, result: Int)] = [:]
    for entrant in entrants {
      let (who, size) = (entrant.contender.who, entrant.size)
      let result = try await entrant.result()
      let expected = first[size, default: (who, result)]
      first[size] = expected
      guard result == expected.result else {
        throw Flaw(
          "\(row.name), \(size) elements: \(who) gives \(result), "
            + "\(expected.who) \(expected.result)")
      }
    }
  }

  private static func entrants(
    _ row: Row, _ contenders: [Contender], _ sizes: [Int]
  ) async throws -> [Entrant] {
    var entrants: [Entrant] = []
    for size in sizes.sorted() {
      for contender in contenders where size <= contender.largest {
        entrants.append(try await Entrant(contender, of: row, at: size))
      }
    }
    return entrants
  }
}
