import Works

/// What the command line asks for.
struct Options {
  var topics = Topic.all
  var rounds = 7
  var isQuick = false
  var writes = true

  static let usage = """
    usage: compare [--topics <name>,…] [--rounds <n>] [--quick] [--no-write]

      --topics    only these: \(Topic.all.map(\.name).joined(separator: ", "))
      --rounds    how often each contender has its turn (7)
      --quick     every work once, at its small sizes: whether it runs, not how fast it is
      --no-write  leaves README.md and the pictures alone; so do --topics and --quick
    """

  init(_ arguments: some Sequence<String>) throws {
    var arguments = Array(arguments)[...]
    while let argument = arguments.popFirst() {
      switch argument {
      case "--topics":
        topics = try (arguments.popFirst() ?? "").split(separator: ",").map(Options.topic)
        writes = false
      case "--rounds":
        guard let rounds = arguments.popFirst().flatMap({ Int($0) }), rounds > 0 else {
          throw Misuse("--rounds needs a number")
        }
        self.rounds = rounds
      case "--quick":
        isQuick = true
        writes = false
      case "--no-write": writes = false
      default: throw Misuse("unknown option \(argument)")
      }
    }
  }

  private static func topic(named name: Substring) throws -> Topic {
    guard let topic = Topic.all.first(where: { $0.name.lowercased() == name.lowercased() }) else {
      throw Misuse("no topic is called \(name)")
    }
    return topic
  }
}

struct Misuse: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
