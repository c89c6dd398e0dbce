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

  /// What stands first: five rows of the first table in which Tailrace costs less, and five in which it
  /// costs more, in turn.
  var summary: Table {
    var table = Table(header: ["what", "ours, ns", "peer", "peer's, ns", "ours by peer's"])
    for (name, peer) in Self.summarized {
      for row in results.ratios.rows where row[0] == name && row[4] == peer {
        table.rows.append([name, row[2], peer, row[5], row[6]])
      }
    }
    return table
  }

  /// The rows of the summary, and the peer that each is compared with.
  static let summarized = [
    ("First pass · map and filter Ints", "`.async.map.filter`"),
    ("Operators · none, the source alone", "AsyncSequence"),
    ("Iteration · read Ints again", "`array.async`"),
    ("Collecting · an array of Ints", "`Array(lazy.map.filter)`"),
    ("Fan-out · 8 readers, a step that leaves its thread", "`.async.map.share()`"),
    ("Async steps · a step that does not suspend", "`.async.map`"),
    ("Async steps · a step that asks an actor", "`.async.map`"),
    ("Async steps · a step that leaves its thread", "`.async.map`"),
    ("Memos · ask for keys that are there", "an actor that keeps tasks"),
    ("Streams · a buffered stream, first pass", "`AsyncStream`"),
  ]

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
