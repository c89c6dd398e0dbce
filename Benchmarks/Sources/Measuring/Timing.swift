/// Nanoseconds, or ratios, one for each round.
public struct Timing: Sendable {
  public private(set) var rounds: [Double] = []

  public init(_ rounds: [Double] = []) { self.rounds = rounds }

  public var minimum: Double { rounds.min() ?? .nan }
  public var maximum: Double { rounds.max() ?? .nan }
  public var median: Double {
    let sorted = rounds.sorted()
    return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
  }

  public mutating func append(_ round: Double) { rounds.append(round) }

  /// One for each round: a disturbance in a round affects both.
  public static func / (ours: Timing, theirs: Timing) -> Timing {
    Timing(zip(ours.rounds, theirs.rounds).map { $0 / $1 })
  }
}
