import Measuring
import Works

/// What one run of the comparison has found.
struct Results {
  let surroundings: String
  var races: [(topic: Topic, race: Race)] = []
  var counts: [(topic: Topic, quantity: Quantity, count: Double?)] = []
  var insides: [(topic: Topic, inside: Inside)] = []

  /// The tables that are looked at, with their headings.
  var tables: [(heading: String, table: Table)] {
    [
      ("Against the peers", ratios), ("Inside a test", inside), ("How cost grows", growth),
      ("Memory and allocations", quantities),
    ].filter { !$0.1.rows.isEmpty }
  }
}

// MARK: What has to be reached

/// A ratio, or a count, and the most that it may be.
struct Limit {
  let name: String
  let isReached: Bool
  let verdict: String

  init(_ name: String, _ value: Double, atMost limit: Double) {
    self.name = "\(name): \(decimal(value)), at most \(decimal(limit))"
    isReached = value <= limit
    verdict = "\(decimal(limit))" + (isReached ? "" : " **missed**")
  }
}

extension Results {
  var limits: [Limit] {
    races.flatMap { topic, race in
      race.row.peers.compactMap { race.limit(topic, to: $0) }
        + (race.spread(of: race.row.ours).flatMap { race.steadiness(topic, $0) }.map { [$0] } ?? [])
    }
      + insides.map { $1.limit($0) }
      + counts.compactMap(Self.limit)
  }

  static func limit(_ topic: Topic, _ quantity: Quantity, _ count: Double?) -> Limit? {
    guard let limit = quantity.limit, let count else { return nil }
    return Limit("\(topic.name) · \(quantity.name) · \(quantity.who)", count, atMost: limit)
  }
}

extension Race {
  func limit(_ topic: Topic, to peer: Contender) -> Limit? {
    guard let limit = peer.limit, let size = row.commonSize(with: peer),
      let ratio = ratio(to: peer, at: size)
    else { return nil }
    return Limit("\(topic.name) · \(row.name) / \(peer.who)", ratio.median, atMost: limit)
  }

  /// The dearest size by the cheapest.
  func spread(of contender: Contender) -> Double? {
    let costs = row.sizes(of: contender).compactMap { timing(of: contender, at: $0)?.median }
    guard let most = costs.max(), let least = costs.min() else { return nil }
    return most / least
  }

  func steadiness(_ topic: Topic, _ spread: Double) -> Limit? {
    row.steadiness.map { Limit("\(topic.name) · \(row.name)", spread, atMost: $0) }
  }
}

// MARK: Tables

extension Results {
  /// The one table of ratios.
  private var ratios: Table {
    var table = Table(header: [
      "what", "elements", "ours, ns", "per", "peer", "peer's, ns",
      "ours by peer's: median", "minimum", "maximum", "at most",
    ])
    for (topic, race) in races { table.rows += Self.rows(topic, race) }
    return table
  }

  private static func rows(_ topic: Topic, _ race: Race) -> [[String]] {
    let row = race.row
    return row.peers.compactMap { peer in
      guard row.steadiness == nil, let size = row.commonSize(with: peer),
        let ratio = race.ratio(to: peer, at: size)
      else { return nil }
      return [
        "\(topic.name) · \(row.name)", grouped(size),
        decimal(race.timing(of: row.ours, at: size)?.median ?? .nan), row.unit, peer.who,
        decimal(race.timing(of: peer, at: size)?.median ?? .nan),
        "**\(decimal(ratio.median))**", decimal(ratio.minimum), decimal(ratio.maximum),
        race.limit(topic, to: peer)?.verdict ?? "",
      ]
    }
  }

  /// What a test adds.
  private var inside: Table {
    var table = Table(header: [
      "what", "elements", "outside, ns", "inside, ns", "per",
      "inside by outside: median", "minimum", "maximum", "at most",
    ])
    for (topic, inside) in insides {
      let ratio = inside.ratio
      table.rows.append([
        "\(topic.name) · \(inside.row.name)", grouped(inside.size),
        decimal(inside.outside.median), decimal(inside.inside.median), inside.row.unit,
        "**\(decimal(ratio.median))**", decimal(ratio.minimum), decimal(ratio.maximum),
        inside.limit(topic).verdict,
      ])
    }
    return table
  }

  /// How the cost of an element depends on the number of elements.
  private var growth: Table {
    let steady = races.filter { $0.race.row.steadiness != nil }
    let sizes = steady.first?.race.row.sizes ?? []
    var table = Table(
      header: ["what", "who"] + sizes.map { "\(grouped($0)), ns" } + ["most by least", "at most"])
    for (topic, race) in steady {
      for (index, contender) in race.row.contenders.enumerated() {
        let costs = sizes.map { race.timing(of: contender, at: $0)?.median ?? .nan }
        let spread = race.spread(of: contender) ?? .nan
        // The limit is ours; a peer stands there to be looked at.
        let limit = index == 0 ? race.steadiness(topic, spread) : nil
        table.rows.append(
          [race.row.name, contender.who] + costs.map(decimal)
            + ["**\(decimal(spread))**", limit?.verdict ?? ""])
      }
    }
    return table
  }

  /// What was counted instead of timed.
  private var quantities: Table {
    var table = Table(header: ["what", "who", "elements", "count", "at most"])
    for (topic, quantity, count) in counts {
      table.rows.append([
        "\(topic.name) · \(quantity.name)", quantity.who, grouped(quantity.size),
        count.map { "**\(decimal($0))** \(quantity.unit)" } ?? "cannot be told here",
        Self.limit(topic, quantity, count)?.verdict ?? "",
      ])
    }
    return table
  }

  /// Every time that was taken.
  var times: Table {
    let sizes = Set(races.flatMap { $0.race.row.sizes }).sorted()
    var table = Table(header: ["what", "who"] + sizes.map(grouped))
    for (topic, race) in races {
      for contender in race.row.contenders {
        table.rows.append(
          ["\(topic.name) · \(race.row.name)", contender.who]
            + sizes.map { race.timing(of: contender, at: $0).map { decimal($0.median) } ?? "" })
      }
    }
    return table
  }
}
