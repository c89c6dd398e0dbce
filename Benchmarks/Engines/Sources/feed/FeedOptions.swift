import Foundation
import TailraceStored

/// The arguments of the program.
struct FeedOptions: Sendable {
  static let usage = """
    usage: feed FILE [options]

    Serves the list stored in FILE at http://HOST:PORT/stream, and a page that shows it at /.

      --host HOST            the address to listen on (127.0.0.1)
      --port N               the port; 0 takes a free one (8080)
      --every MILLISECONDS   the time between two elements (1000)
      --count N              ends the list after N elements
      --keep N               discards old elements; keeps N or more
      --caches private|public   who may keep pages: one client, or caches on the way, too (private)
      --origins ORIGIN|all   the other sites whose pages may read the list in a browser (none)
    """

  var file = URL(filePath: "")
  var host = "127.0.0.1"
  var port = 8080
  var every = Duration.seconds(1)
  var count: Int?
  var keep: Int?
  var isShared = false
  var origins = AllowedOrigins.sameOrigin

  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var arguments = Array(arguments)
    var files: [String] = []
    while !arguments.isEmpty {
      let name = arguments.removeFirst()
      guard name.hasPrefix("-") else {
        files.append(name)
        continue
      }
      guard !arguments.isEmpty else { throw UsageError("\(name) takes a value, or is unknown") }
      let value = arguments.removeFirst()
      switch name {
      case "--host": host = value
      case "--port": port = try Self.number(value, for: name, in: 0...65535)
      case "--every": every = .milliseconds(try Self.number(value, for: name, in: 0...86_400_000))
      case "--count": count = try Self.number(value, for: name, in: 0...Int.max)
      case "--keep": keep = try Self.number(value, for: name, in: 1...Int.max)
      case "--caches":
        guard ["private", "public"].contains(value) else {
          throw UsageError("--caches takes private or public, not \(value)")
        }
        isShared = value == "public"
      case "--origins": origins = value == "all" ? .all : .only([value])
      default: throw UsageError("\(name) is unknown")
      }
    }
    guard files.count == 1 else { throw UsageError("one FILE is required, not \(files.count)") }
    file = URL(filePath: files[0])
  }

  private static func number(
    _ text: String, for name: String, in range: ClosedRange<Int>
  ) throws(UsageError) -> Int {
    guard let number = Int(text), range.contains(number) else {
      throw UsageError("\(name) takes a number of \(range), not \(text)")
    }
    return number
  }
}

/// The arguments are wrong.
struct UsageError: Error, CustomStringConvertible {
  let problem: String

  init(_ problem: String) { self.problem = problem }

  var description: String { "feed: \(problem)\n\n\(FeedOptions.usage)" }
}
