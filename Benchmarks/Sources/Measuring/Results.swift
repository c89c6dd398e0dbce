/// The times and counts of one run of the comparison.
public struct Results: Sendable {
  /// Times of rows.
  public var races: [(topic: Topic, race: Race)] = []
  /// The counts of quantities; `nil` where the platform does not tell.
  public var counts: [(topic: Topic, quantity: Quantity, count: Double?)] = []

  /// Creates results of nothing.
  public init() {}
}

// MARK: Limits

/// A ratio, or a count, and the most that it may be.
public struct Limit: Sendable {
  /// Of what it is the limit, and by how much it is reached or missed.
  public let name: String
  /// Whether the value is not larger.
  public let isReached: Bool
  /// The text in a table: the limit, and whether it is missed.
  public let verdict: String

  /// Compares a value with its limit.
  public init(_ name: String, _ value: Double, atMost limit: Double) {
    self.name = "\(name): \(decimal(value)), at most \(decimal(limit))"
    isReached = value <= limit
    verdict = "\(decimal(limit))" + (isReached ? "" : " **missed**")
  }
}

extension Results {
  /// All that there are.
  public var limits: [Limit] {
    races.flatMap { topic, race in
      race.row.peers.compactMap { race.limit(topic, to: $0) }
        + (race.spread(of: race.row.ours).flatMap { race.steadiness(topic, $0) }.map { [$0] } ?? [])
    }
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
  public var ratios: Table {
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

  /// How the cost of an element depends on the number of elements.
  public var growth: Table {
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

  /// The table of counts.
  public var quantities: Table {
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
  public var times: Table {
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
