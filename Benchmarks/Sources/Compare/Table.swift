import Foundation
import Works

/// Lines of a Markdown table, its columns aligned so that it also reads in a terminal.
struct Table {
  let header: [String]
  var rows: [[String]] = []

  var lines: [String] {
    let widths = header.indices.map { column in
      ([header] + rows).map { $0[column].count }.max() ?? 0
    }
    let rule = widths.map { String(repeating: "-", count: max(3, $0)) }
    return ([header, rule] + rows).map { row in
      let cells = zip(row, widths).map { cell, width in
        cell + String(repeating: " ", count: max(0, width - cell.count))
      }
      return "| " + cells.joined(separator: " | ") + " |"
    }
  }
}

/// Three digits that count.
func decimal(_ value: Double) -> String {
  guard value.isFinite else { return "–" }
  let places = value < 0.095 ? 3 : value < 9.95 ? 2 : value < 99.5 ? 1 : 0
  return String(format: "%.\(value == 0 ? 0 : places)f", value)
}

/// A number with its thousands apart.
func grouped(_ number: Int) -> String {
  var digits = String(number)
  var groups: [String] = []
  while digits.count > 3 {
    groups.insert(String(digits.suffix(3)), at: 0)
    digits.removeLast(3)
  }
  return ([digits] + groups).joined(separator: " ")
}

extension Table {
  /// The one table of ratios.
  static func ratios(_ results: [(Topic, [Race])]) -> Table {
    var table = Table(header: [
      "work", "elements", "ours, ns", "peer", "peer's, ns", "median", "minimum", "maximum", "floor",
    ])
    for (topic, races) in results {
      for race in races { table.rows += rows(topic, race) }
    }
    return table
  }

  private static func rows(_ topic: Topic, _ race: Race) -> [[String]] {
    let work = race.work
    return work.peers.compactMap { peer in
      guard let (size, speed) = race.speed(against: peer) else { return nil }
      return [
        "\(topic.name) · \(work.name)", grouped(size),
        decimal(race.timing(of: work.ours, at: size)?.median ?? .nan), peer.who,
        decimal(race.timing(of: peer, at: size)?.median ?? .nan),
        ratio(speed.median, isBold: true), ratio(speed.minimum), ratio(speed.maximum),
        work.floors.first { $0.peer == peer.who }.map { verdict($0, speed.median) } ?? "",
      ]
    }
  }

  private static func ratio(_ speed: Double, isBold: Bool = false) -> String {
    let text =
      speed >= 1 ? "\(decimal(speed)) × faster" : "\(decimal(1 / speed)) × slower"
    return isBold ? "**\(text)**" : text
  }

  private static func verdict(_ floor: Floor, _ speed: Double) -> String {
    let bound =
      switch floor.bound {
      case .atMostTimesSlower(let times): "at most \(decimal(times)) × slower"
      case .atLeastTimesFaster(let times): "at least \(decimal(times)) × faster"
      }
    return bound + (floor.isReached(by: speed) ? ": reached" : ": **missed**")
  }
}
