import Measuring
import Works

/// The command line, parsed.
struct Options {
  var topics: [Topic] = Topic.all
  var rounds = 7
  var stopwatch = Stopwatch.clock
  var isQuick = false
  /// Whether rows are timed inside a test, too.
  var isInside = true
  var isCheck = false
  var writes = true

  static let usage = """
    usage: compare [--topics <name>,…] [--rows <text>,…] [--rounds <n>] [--processor]
                   [--inside | --outside] [--check] [--quick] [--no-write]

      --topics    only these: \(Topic.all.map(\.name).joined(separator: ", "))
      --rows      only rows whose name contains one of these texts
      --rounds    how often each contender has its turn (7)
      --processor times of the processor, not of the clock: steadier while others use the machine
      --inside    of chosen rows, too, what they cost inside a Swift Testing test
      --outside   of no row, what it costs inside a test
      --check     fails when a limit is missed
      --quick     every row once, at its small sizes: whether it runs, not how fast it is
      --no-write  leaves README.md and the pictures alone; so does whatever leaves out a table
    """

  init(_ arguments: some Sequence<String>) throws {
    var arguments = Array(arguments)[...]
    var isInside: Bool?
    while let argument = arguments.popFirst() {
      switch argument {
      case "--topics":
        topics = try Self.list(&arguments).map(Self.topic)
        writes = false
      case "--rows":
        try choose(Self.list(&arguments))
        writes = false
      case "--rounds":
        guard let rounds = arguments.popFirst().flatMap({ Int($0) }), rounds > 0 else {
          throw Misuse("--rounds needs a number")
        }
        self.rounds = rounds
      case "--processor":
        stopwatch = .processor
        writes = false
      case "--inside": isInside = true
      case "--outside":
        isInside = false
        writes = false
      case "--check": isCheck = true
      case "--quick":
        isQuick = true
        writes = false
      case "--no-write": writes = false
      default: throw Misuse("unknown option \(argument)")
      }
    }
    // It takes a build of the tests: few who want to see one row want that.
    self.isInside = isInside ?? writes
  }

  private mutating func choose(_ texts: [String]) throws {
    for index in topics.indices {
      topics[index].rows.removeAll { row in
        !texts.contains { row.name.lowercased().contains($0.lowercased()) }
      }
      topics[index].quantities = []
    }
    topics.removeAll { $0.rows.isEmpty }
    if topics.isEmpty { throw Misuse("no row is called \(texts.joined(separator: ", "))") }
  }

  private static func list(_ arguments: inout ArraySlice<String>) throws -> [String] {
    (arguments.popFirst() ?? "").split(separator: ",").map(String.init)
  }

  private static func topic(named name: String) throws -> Topic {
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
