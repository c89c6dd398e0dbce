import Foundation
import Measuring

/// Times Tailrace beside its peers, and writes down what came out.
///
/// ```
/// swift run -c release --package-path Benchmarks compare
/// ```
@main
struct Compare {
  static func main() async throws {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      if options.isQuick { try await rehearse(options) } else { try await compare(options) }
    } catch let misuse as Misuse {
      report("\(misuse)\n\n\(Options.usage)")
      exit(2)
    } catch let flaw as Flaw {
      report("\(flaw)")
      exit(1)
    }
  }

  private static func rehearse(_ options: Options) async throws {
    let rows = Topic.all.flatMap { topic in
      topic.rows.flatMap { row in row.peers.map { "\(topic.name) · \(row.name), \($0.who)" } }
    }
    for (name, peer) in Comparison.summarized where !rows.contains("\(name), \(peer)") {
      throw Flaw("the summary has a row that there is not: \(name), \(peer)")
    }
    for topic in options.topics {
      for row in topic.rows {
        try await Race.rehearse(row)
        print("\(topic.name) · \(row.name): \(row.contenders.count) contenders agree")
      }
      for quantity in topic.quantities {
        let count = try await quantity.count(min(1_000, quantity.size))
        print("\(topic.name) · \(quantity.name) · \(quantity.who): \(count.map(decimal) ?? "–")")
      }
    }
  }

  private static func compare(_ options: Options) async throws {
    var comparison = Comparison(surroundings: Surroundings.line)
    // Counting comes first: it is done best in a heap that little else has used.
    for topic in options.topics {
      for quantity in topic.quantities {
        report("\(topic.name) · \(quantity.name) · \(quantity.who)")
        comparison.results.counts.append((topic, quantity, try await quantity.count(quantity.size)))
      }
    }
    for topic in options.topics {
      for row in topic.rows {
        report("\(topic.name) · \(row.name)")
        comparison.results.races.append(
          (topic, try await Race(row, by: options.stopwatch) { $0 < options.rounds }))
      }
    }
    if options.isInside { comparison.insides = try await timeInside(options) }
    for (_, table) in comparison.tables { print(table.lines.joined(separator: "\n") + "\n") }
    if options.writes { try Readme.write(comparison) }
    let limits = comparison.limits
    let missed = limits.filter { !$0.isReached }
    report("\(limits.count) limits, \(missed.count) missed")
    for limit in missed { report("  \(limit.name)") }
    if options.isCheck && !missed.isEmpty { exit(1) }
  }

  private static func timeInside(_ options: Options) async throws -> [(Topic, Inside)] {
    let outpost = try Outpost()
    defer { outpost.close() }
    var insides: [(Topic, Inside)] = []
    for topic in options.topics {
      for row in topic.rows {
        report("inside a test: \(topic.name) · \(row.name)")
        insides.append((topic, try await Inside(topic, row, at: outpost, options)))
      }
    }
    return insides
  }

  private static func report(_ progress: String) {
    FileHandle.standardError.write(Data("\(progress)\n".utf8))
  }
}
