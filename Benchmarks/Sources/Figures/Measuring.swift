import Foundation
import Synchronization

/// Every result ends up here, so that no work can be optimised away.
let checksum = Atomic(0)

@inline(never)
func blackHole(_ result: Int) { checksum.wrappingAdd(result, ordering: .relaxed) }

/// One way to do a piece of work.
struct Contestant: Sendable {
  let name: String
  /// Does the work once. Returns how many elements it has handled, counted once per reader.
  let run: @Sendable () async -> Int
}

/// The time of one contestant: nanoseconds per element and reader, one for each round.
struct Timing: Sendable {
  var rounds: [Double] = []

  var minimum: Double { rounds.min() ?? .nan }
  var median: Double { rounds.sorted()[rounds.count / 2] }

  /// Minimum (median).
  var cell: String { "\(decimal(minimum)) (\(decimal(median)))" }
  /// For what depends on luck more than on load.
  var span: String { "\(decimal(minimum)) to \(decimal(rounds.max() ?? .nan))" }
}

/// Times contestants in turn, round by round: what disturbs the machine disturbs all of them.
func race(_ contestants: [Contestant], rounds: Int) async -> [Timing] {
  var timings = [Timing](repeating: Timing(), count: contestants.count)
  for round in 0...rounds {
    for (index, contestant) in contestants.enumerated() {
      let clock = ContinuousClock()
      let start = clock.now
      let handled = await contestant.run()
      let time = (clock.now - start) / .nanoseconds(1)
      // The first round warms up.
      if round > 0 { timings[index].rounds.append(time / Double(handled)) }
    }
  }
  return timings
}

/// What the ratio of a row has to reach.
enum Floor: Sendable {
  case atMostTimesSlower(Double)
  case atLeastTimesFaster(Double)
}

/// One line of the comparison with the alternatives.
struct Row: Sendable {
  let work: String
  let floor: Floor
  var rounds = 9
  let ours: Contestant
  let peer: Contestant

  /// The row as a line of a Markdown table. The ratio is that of the minima, then the median of the
  /// rounds' own ratios.
  func measured() async -> String {
    let timings = await race([ours, peer], rounds: rounds)
    let (mine, theirs) = (timings[0], timings[1])
    let ratio: (Double, Double) -> Double
    let bound: String
    let isReached: Bool
    switch floor {
    case .atMostTimesSlower(let limit):
      ratio = { $0 / $1 }
      bound = "at most \(decimal(limit, places: 0)) × slower"
      isReached = ratio(mine.minimum, theirs.minimum) <= limit
    case .atLeastTimesFaster(let limit):
      ratio = { $1 / $0 }
      bound = "at least \(decimal(limit, places: 0)) × faster"
      isReached = ratio(mine.minimum, theirs.minimum) >= limit
    }
    let ratios = Timing(rounds: zip(mine.rounds, theirs.rounds).map { ratio($0, $1) })
    let cells = [
      work, mine.cell, peer.name, theirs.cell,
      "**\(decimal(ratio(mine.minimum, theirs.minimum)))** (\(decimal(ratios.median)))",
      bound + (isReached ? "" : ", missed"),
    ]
    return "| " + cells.joined(separator: " | ") + " |"
  }
}

func decimal(_ value: Double, places: Int? = nil) -> String {
  let places = places ?? (value < 10 ? 2 : value < 100 ? 1 : 0)
  return String(format: "%.\(places)f", value)
}

// MARK: Memory

/// What Linux says of this process.
enum Memory: String {
  case resident = "VmRSS:"
  case peak = "VmHWM:"

  /// In bytes; `nil` where there is no `/proc`.
  var bytes: Double? {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else {
      return nil
    }
    let line = status.split(separator: "\n").first { $0.hasPrefix(rawValue) }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }
      .map { $0 * 1024 }
  }
}
