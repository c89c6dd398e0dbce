import Measuring

/// The command line, parsed.
struct Options {
  var rounds = 7
  var isQuick = false
  var writes = false
  private var texts: [String]?

  static let usage = """
    usage: compare-engines [--rows <text>,…] [--rounds <n>] [--quick] [--write]

      --rows    only rows whose name contains one of these texts
      --rounds  how often each contender has its turn (7)
      --quick   every row once, at its small sizes: whether it runs, not how fast it is
      --write   puts the tables into README.md
    """

  init(_ arguments: some Sequence<String>) throws {
    var arguments = Array(arguments)[...]
    while let argument = arguments.popFirst() {
      switch argument {
      case "--rows":
        texts = (arguments.popFirst() ?? "").split(separator: ",").map { $0.lowercased() }
      case "--rounds":
        guard let rounds = arguments.popFirst().flatMap({ Int($0) }), rounds > 0 else {
          throw Misuse("--rounds needs a number")
        }
        self.rounds = rounds
      case "--quick": isQuick = true
      case "--write": writes = true
      default: throw Misuse("unknown option \(argument)")
      }
    }
    if writes, isQuick || texts != nil { throw Misuse("--write is for all rows at all sizes") }
  }

  /// The rows and quantities that are wanted.
  func chosen(of topic: Topic) -> Topic {
    guard let texts else { return topic }
    func isWanted(_ name: String) -> Bool { texts.contains { name.lowercased().contains($0) } }
    var topic = topic
    topic.rows.removeAll { !isWanted($0.name) }
    topic.quantities.removeAll { !isWanted($0.name) && !isWanted($0.who) }
    return topic
  }
}

struct Misuse: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
