import Works

/// What one run of the comparison has found.
struct Results {
  let surroundings: String
  var races: [(topic: Topic, race: Race)] = []
  var counts: [(topic: Topic, quantity: Quantity, count: Double?)] = []
}

// MARK: Tables

extension Results {
  /// The one table of ratios.
  var ratios: Table {
    var table = Table(header: [
      "work", "elements", "ours, ns", "peer", "peer's, ns", "median", "minimum", "maximum", "floor",
    ])
    for (topic, race) in races where race.work.steadiness == nil {
      table.rows += Self.rows(topic, race)
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
        "**\(ratio(speed.median))**", ratio(speed.minimum), ratio(speed.maximum),
        work.floors.first { $0.peer == peer.who }.map { verdict($0, speed.median) } ?? "",
      ]
    }
  }

  private static func ratio(_ speed: Double) -> String {
    speed >= 1 ? "\(decimal(speed)) × faster" : "\(decimal(1 / speed)) × slower"
  }

  private static func verdict(_ floor: Floor, _ speed: Double) -> String {
    let bound =
      switch floor.bound {
      case .atMostTimesSlower(let times): "at most \(decimal(times)) × slower"
      case .atLeastTimesFaster(let times): "at least \(decimal(times)) × faster"
      }
    return bound + (floor.isReached(by: speed) ? ": reached" : ": **missed**")
  }

  /// How the cost of an element depends on the number of elements.
  var growth: Table? {
    let steady = races.filter { $0.race.work.steadiness != nil }
    guard let sizes = steady.first?.race.work.ours.sizes else { return nil }
    var table = Table(
      header: ["work", "who"] + sizes.map { "\(grouped($0)), ns" } + ["most by least", "limit"])
    for (_, race) in steady {
      for (index, contender) in race.work.contenders.enumerated() {
        let costs = sizes.map { race.timing(of: contender, at: $0)?.median ?? .nan }
        let spread = (costs.max() ?? .nan) / (costs.min() ?? .nan)
        // The limit is ours; a peer stands there to be looked at.
        let verdict = (index == 0 ? race.work.steadiness : nil)
          .map { "at most \(decimal($0))\(reached(spread <= $0))" }
        table.rows.append(
          [race.work.name, contender.who] + costs.map(decimal)
            + ["**\(decimal(spread))**", verdict ?? ""])
      }
    }
    return table
  }

  /// What was counted instead of timed.
  var quantities: Table? {
    if counts.isEmpty { return nil }
    var table = Table(header: ["what", "who", "elements", "count", "limit"])
    for (topic, quantity, count) in counts {
      table.rows.append([
        "\(topic.name) · \(quantity.name)", quantity.who, grouped(quantity.size),
        count.map { "**\(decimal($0))** \(quantity.unit)" } ?? "cannot be told here",
        quantity.limit.map { limit in
          "at most \(decimal(limit))" + (count.map { reached($0 <= limit) } ?? "")
        } ?? "",
      ])
    }
    return table
  }

  private func reached(_ isReached: Bool) -> String { isReached ? ": reached" : ": **missed**" }

  /// Every time that was taken.
  var times: Table {
    let sizes = Set(races.flatMap { $0.race.work.contenders.flatMap(\.sizes) }).sorted()
    var table = Table(header: ["work", "who"] + sizes.map(grouped))
    for (topic, race) in races {
      for contender in race.work.contenders {
        table.rows.append(
          ["\(topic.name) · \(race.work.name)", contender.who]
            + sizes.map { race.timing(of: contender, at: $0).map { decimal($0.median) } ?? "" })
      }
    }
    return table
  }
}

// MARK: Pictures

extension Results {
  private static let axis = "nanoseconds per element and reader, logarithmic scale; less is better"

  /// The one picture that says it all.
  var costs: Chart {
    let headlines = races.filter { $0.race.work.isHeadline }
    return Chart(
      title: "What an element costs", axis: Self.axis,
      groups: headlines.compactMap { topic, race in
        race.commonSize.flatMap { size in
          race.bars(
            at: size, label: "\(topic.name) · \(race.work.name) (\(grouped(size)) elements)")
        }
      })
  }

  /// The first pass at every size.
  var sizes: Chart? {
    guard let race = races.first(where: { $0.topic.name == Topic.firstPass.name })?.race else {
      return nil
    }
    return Chart(
      title: "Cost against size: first pass, \(race.work.name)", axis: Self.axis,
      groups: race.work.ours.sizes.compactMap { size in
        race.bars(at: size, label: size == 1 ? "1 element" : "\(grouped(size)) elements")
      })
  }

  /// The same computation for more and more readers.
  var readers: Chart? {
    let shared = races.filter { $0.topic.name == Topic.fanOut.name }
    if shared.isEmpty { return nil }
    return Chart(
      title: "Cost against readers: one map, read by several tasks at once", axis: Self.axis,
      groups: shared.compactMap { _, race in
        race.commonSize.flatMap { size in
          race.bars(at: size, label: "\(race.work.name) (\(grouped(size)) elements)")
        }
      })
  }
}

extension Race {
  /// The largest size that all contenders do.
  fileprivate var commonSize: Int? {
    work.contenders.map { Set($0.sizes) }.reduce(Set(work.ours.sizes)) { $0.intersection($1) }.max()
  }

  fileprivate func bars(at size: Int, label: String) -> Chart.Group? {
    let bars = work.contenders.enumerated().compactMap { index, contender in
      timing(of: contender, at: size).map {
        Chart.Bar(label: contender.who, value: $0.median, isOurs: index == 0)
      }
    }
    return bars.isEmpty ? nil : Chart.Group(label: label, bars: bars)
  }
}
