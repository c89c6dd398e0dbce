import Measuring

/// The findings of one run of the comparison.
struct Comparison {
  let surroundings: String
  var results = Results()
  var insides: [(topic: Topic, inside: Inside)] = []

  /// The tables that are looked at, with their headings.
  var tables: [(heading: String, table: Table)] {
    [
      ("Against the peers", results.ratios), ("Inside a test", inside),
      ("How cost grows", results.growth), ("Memory and allocations", results.quantities),
    ].filter { !$0.1.rows.isEmpty }
  }

  var limits: [Limit] { results.limits + insides.map { $1.limit($0) } }

  /// The cost of running inside a test.
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
}
