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
      FileHandle.standardError.write(Data("\(misuse)\n\n\(Options.usage)\n".utf8))
      exit(2)
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
    var results: [(Topic, [Race])] = []
    for topic in options.topics {
      var races: [Race] = []
      for work in topic.works {
        FileHandle.standardError.write(Data("\(topic.name) · \(work.name)\n".utf8))
        races.append(try await Race(work, rounds: options.rounds))
      }
      results.append((topic, races))
    }
    print(Table.ratios(results).lines.joined(separator: "\n"))
  }
}
