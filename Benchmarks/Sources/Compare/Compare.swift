import Foundation
import Works

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
    for topic in options.topics {
      for work in topic.works {
        try await Race.rehearse(work)
        print("\(topic.name) · \(work.name): \(work.contenders.count) contenders agree")
      }
      for quantity in topic.quantities {
        let count = try await quantity.count(1_000)
        print("\(topic.name) · \(quantity.name) · \(quantity.who): \(count.map(decimal) ?? "–")")
      }
    }
  }

  private static func compare(_ options: Options) async throws {
    var results = Results(surroundings: Surroundings.line)
    // Counting comes first: it is done best in a heap that little else has used.
    for topic in options.topics {
      for quantity in topic.quantities {
        report("\(topic.name) · \(quantity.name) · \(quantity.who)")
        results.counts.append((topic, quantity, try await quantity.count(quantity.size)))
      }
    }
    for topic in options.topics {
      for work in topic.works {
        report("\(topic.name) · \(work.name)")
        results.races.append((topic, try await Race(work, rounds: options.rounds)))
      }
    }
    for table in [results.ratios, results.growth, results.quantities].compactMap(\.self) {
      print(table.lines.joined(separator: "\n") + "\n")
    }
    if options.writes { try Readme.write(results) }
  }

  private static func report(_ progress: String) {
    FileHandle.standardError.write(Data("\(progress)\n".utf8))
  }
}
