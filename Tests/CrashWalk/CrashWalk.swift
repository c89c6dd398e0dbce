import Foundation
import Tailrace
import TailraceFoundation
import TailraceStored

/// A program to be killed: it writes a stored list, or follows one.
///
/// ```
/// crashwalk write FILE DURABILITY one|array|contend STEPS [LENGTH]
/// crashwalk follow FILE
/// crashwalk runs FOLDER LOG FIRST LIMIT
/// ```
///
/// It prints the number of each element that it has been given, when it has been given it, and the
/// hash of all at the end. Each step that runs is a line in STEPS.
@main
struct CrashWalk {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let command = arguments.first, arguments.count >= 2 else {
      print(
        "usage: crashwalk write FILE DURABILITY one|array|contend STEPS [LENGTH] | follow FILE | runs FOLDER LOG FIRST LIMIT"
      )
      exit(2)
    }
    let rest = Array(arguments.dropFirst())
    var walk = ChainCheck()
    switch command {
    case "write":
      let length = rest.count > 4 ? Int(rest[4]) ?? .max : .max
      // Slow enough for those that have just begun, and read what is there, to catch up with the writer.
      let contends = rest[2] == "contend"
      let list = Chain.list(
        rest[0], durability(rest[1]), contends ? .computeOrFollow : .compute,
        steps: rest[3], isSlow: contends, upTo: length)
      if rest[2] == "array" {
        // A fold, which wants everything.
        walk = try await list.reduce(into: walk) { walk, element in
          walk.pass(element)
          say("\(walk.count)")
        }
      } else {
        for try await element in list {
          walk.pass(element)
          say("\(walk.count)")
        }
      }
    case "runs": try await CrashRuns.main(rest)
    default:
      for try await element in LazyList(reading: Chain.store(rest[0], .survivesProcess)) {
        walk.pass(element)
      }
    }
    say("end \(walk.count) \(walk.link.hash)")
  }

  static func durability(_ name: String) -> Durability {
    name == "process" ? .survivesProcess : .survivesPowerLoss
  }

  /// At once, and whole: the reader at the other end counts lines.
  static func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
  }
}

/// The state that the next element is made from: it depends on all elements before it.
struct Link: BitwiseCopyable, Sendable {
  var number = 0
  var hash: UInt64 = 1_469_598_103_934_665_603

  mutating func next() -> String {
    hash = (hash ^ UInt64(number)) &* 1_099_511_628_211
    defer { number += 1 }
    return "\(number):\(hash):" + String(repeating: "x", count: number % 37)
  }
}

/// Follows a chain, and stops the program where it breaks.
struct ChainCheck: Sendable {
  var link = Link()
  var count: Int { link.number }

  mutating func pass(_ element: String) {
    let expected = link.next()
    if element != expected { fatalError("BROKEN at \(count - 1): \(element), not \(expected)") }
  }
}

enum Chain {
  static func store(_ path: String, _ durability: Durability) -> FileStore<String, Link> {
    FileStore(URL(filePath: path), element: .text, state: .raw, durability: durability)
  }

  static func list(
    _ path: String, _ durability: Durability, _ policy: TailPolicy, steps: String, isSlow: Bool,
    upTo length: Int
  ) -> LazyList<String, any Error> {
    let log = open(steps, O_WRONLY | O_CREAT | O_APPEND, 0o644)
    return LazyList(storedIn: store(path, durability), state: Link(), atTail: policy) { link in
      // A writer may find more than followers were shown: a commit that was being synced.
      if link.number >= length { return nil }
      // Of eight bytes, so that none lies in two pages, of which a kill may leave the first one only.
      let digits = "\(link.number)"
      let line = Array((String(repeating: "0", count: 7 - digits.utf8.count) + digits + "\n").utf8)
      _ = line.withUnsafeBytes { write(log, $0.baseAddress, $0.count) }
      if isSlow { fsync(log) }
      return link.next()
    }
  }
}
