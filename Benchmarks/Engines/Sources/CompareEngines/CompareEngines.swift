import Foundation
import Measuring

/// Times stored lists in several engines, each beside the engine by hand, and writes down what came
/// out.
///
/// ```
/// swift run -c release --package-path Benchmarks/Engines compare-engines
/// ```
@main
struct CompareEngines {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      switch arguments.first {
      case "--follow": try await Followed.follow(Array(arguments.dropFirst()))
      case "--serve": try await ServerByHand.run(arguments.last.flatMap { Int($0) } ?? 0)
      default: try await compare(try Options(arguments))
      }
    } catch let misuse as Misuse {
      report("\(misuse)\n\n\(Options.usage)")
      exit(2)
    } catch {
      report("\(error)")
      exit(1)
    }
  }

  private static func compare(_ options: Options) async throws {
    let place = try Place()
    let signals = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler {
        place.clear()
        exit(128 + number)
      }
      source.resume()
      return source
    }
    defer {
      for source in signals { source.cancel() }
      place.clear()
    }
    let ports = try await place.startValkey()
    if ports == nil { report("no valkey-server or redis-server: the rows of Valkey are left out") }
    let topic = options.chosen(of: .engines(place, ports))
    if options.isQuick { return try await rehearse(topic) }
    let surroundings = Surroundings.line
    var results = Results()
    for quantity in topic.quantities {
      report("\(quantity.name) · \(quantity.who)")
      results.counts.append((topic, quantity, try await quantity.count(quantity.size)))
    }
    for row in topic.rows {
      report(row.name)
      results.races.append((topic, try await Race(row) { $0 < options.rounds }))
    }
    let tables = [results.ratios, results.quantities].filter { !$0.rows.isEmpty }
      .map { $0.lines.joined(separator: "\n") }
    for table in tables { print(table + "\n") }
    if options.writes {
      if ports == nil { throw Flaw("README.md is not written without the rows of Valkey") }
      try MarkedFile.write([surroundings] + tables, into: readme)
    }
  }

  private static func rehearse(_ topic: Topic) async throws {
    for row in topic.rows {
      try await Race.rehearse(row)
      print("\(row.name): \(row.contenders.count) contenders agree")
    }
    for quantity in topic.quantities {
      let count = try await quantity.count(10)
      print("\(quantity.name) · \(quantity.who): \(count.map(decimal) ?? "–") \(quantity.unit)")
    }
  }

  private static let readme = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "README.md")

  private static func report(_ progress: String) {
    FileHandle.standardError.write(Data("\(progress)\n".utf8))
  }
}
