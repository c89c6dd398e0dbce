import AsyncHTTPClient
import Foundation
import Tailrace
import TailraceFoundation
import TailraceStored

/// Prints a list of a server as it grows: a JSON value for each line.
///
/// It survives whatever happens to the connection and to the server. With `--mirror FILE` it survives
/// its own death, too: what it has read is in the file, and it reads on from there.
@main
struct Watch {
  static func main() async throws {
    let options: WatchOptions
    do throws(WatchUsageError) {
      options = try WatchOptions(CommandLine.arguments.dropFirst())
    } catch {
      try? FileHandle.standardError.write(contentsOf: Data("\(error)\n".utf8))
      exit(64)
    }
    do {
      for try await element in options.list() {
        try FileHandle.standardOutput.write(contentsOf: Data("\(element)\n".utf8))
      }
    } catch {
      try? FileHandle.standardError.write(
        contentsOf: Data("watch: \("\(error)".withoutControls)\n".utf8))
      exit(error is RemoteListError ? 3 : 1)
    }
  }
}

/// The arguments of the program.
struct WatchOptions: Sendable {
  static let usage = """
    usage: watch URL [options]

    Prints the list at URL, an element on each line, and waits for more until the list ends.

      --mirror FILE          keeps what was read in FILE, and reads on from there the next time
      --from N               begins at element N; not with --mirror (0)
      --header NAME:VALUE    a field of each request; may be repeated
      --patience SECONDS     how long a server that does not answer is asked again (for ever)
    """

  var server = ""
  var path = "/"
  var mirror: URL?
  var from = 0
  var headers: [(String, String)] = []
  var patience: Duration?

  init(_ arguments: some Sequence<String>) throws(WatchUsageError) {
    var arguments = Array(arguments)
    var addresses: [String] = []
    while !arguments.isEmpty {
      let name = arguments.removeFirst()
      guard name.hasPrefix("-") else {
        addresses.append(name)
        continue
      }
      guard !arguments.isEmpty else {
        throw WatchUsageError("\(name) takes a value, or is unknown")
      }
      let value = arguments.removeFirst()
      switch name {
      case "--mirror": mirror = URL(filePath: value)
      case "--from": from = try Self.number(value, for: name)
      case "--patience": patience = .seconds(try Self.number(value, for: name))
      case "--header":
        guard let colon = value.firstIndex(of: ":") else {
          throw WatchUsageError("--header takes NAME:VALUE, not \(value)")
        }
        let text = value[value.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        headers.append((String(value[..<colon]), text))
      default: throw WatchUsageError("\(name) is unknown")
      }
    }
    guard addresses.count == 1, let url = URLComponents(string: addresses[0]),
      let scheme = url.scheme, ["http", "https"].contains(scheme), let host = url.percentEncodedHost
    else { throw WatchUsageError("one URL is required, such as http://127.0.0.1:8080/stream") }
    if mirror != nil, from > 0 { throw WatchUsageError("--from cannot be had with --mirror") }
    server = "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
    path = url.percentEncodedPath.isEmpty ? "/" : url.percentEncodedPath
    if let query = url.percentEncodedQuery { path += "?" + query }
  }

  /// The list of the server, or its mirror.
  func list() -> LazyList<String, any Error> {
    let remote = RemoteList(
      HTTPClient.shared.transport(to: server) { [headers] in headers }, path: path,
      element: .jsonText, patience: patience)
    guard let mirror else { return LazyList(reading: remote, from: from) }
    return LazyList(
      mirroring: remote, in: FileStore(mirror, element: .jsonText, state: .json))
  }

  private static func number(
    _ text: String, for name: String
  ) throws(WatchUsageError) -> Int {
    guard let number = Int(text), (0...1_000_000_000).contains(number) else {
      throw WatchUsageError("\(name) takes a number of 0 or more, not \(text)")
    }
    return number
  }
}

extension ByteCoding<String> {
  /// A JSON value as it is, but in one line, and without characters that a terminal obeys.
  static var jsonText: ByteCoding {
    ByteCoding(name: "JSON text") { text, bytes in
      bytes += text.utf8
    } decode: { bytes, _ in
      String(decoding: bytes, as: UTF8.self).withoutControls
    }
  }
}

extension String {
  /// The same JSON value: white space of each kind is a space, and other control characters are escaped.
  var withoutControls: String {
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n", "\r", "\t": text.unicodeScalars.append(" ")
      case _ where scalar.properties.generalCategory == .control:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

/// The arguments are wrong.
struct WatchUsageError: Error, CustomStringConvertible {
  let problem: String

  init(_ problem: String) { self.problem = problem }

  var description: String { "watch: \(problem)\n\n\(WatchOptions.usage)" }
}
