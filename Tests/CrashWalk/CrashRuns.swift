import Foundation
import Tailrace
import TailraceStored

/// Lists by key that are begun and stopped by a program which is killed.
enum CrashRuns {
  /// What the next element of a run is made from.
  struct Step: BitwiseCopyable, Sendable {
    var number = 0
    let length: Int
  }

  static func key(_ number: Int) -> String { "Run \(number)" }
  static func length(_ number: Int) -> Int { 5 + number % 40 }

  static func elements(_ number: Int) -> [String] {
    (0..<length(number)).map { "\(key(number)): \($0)" }
  }

  static func lists(_ folder: String) -> StoredLists<String, Step> {
    StoredLists(in: URL(filePath: folder), element: .text, state: .raw) { key, step in
      guard step.number < step.length else { return nil }
      defer { step.number += 1 }
      return "\(key): \(step.number)"
    }
  }

  /// Begins the runs from a number on, and stops every fourth one. Each line of the log is written before
  /// the next thing happens: what was acknowledged is there.
  static func main(_ arguments: [String]) async throws {
    let log = open(arguments[1], O_WRONLY | O_CREAT | O_APPEND, 0o644)
    var lines = 0
    func note(_ line: String) {
      let bytes = Array((line + "\n").utf8)
      _ = bytes.withUnsafeBytes { write(log, $0.baseAddress, $0.count) }
      lines += 1
      CrashWalk.say("\(lines)")
    }
    let lists = lists(arguments[0])
    try await lists.open()
    for number in (Int(arguments[2]) ?? 0)..<(Int(arguments[3]) ?? 0) {
      try await lists.start(key(number), state: Step(length: length(number)))
      note("started \(number)")
      guard number.isMultiple(of: 4) else { continue }
      note("stopping \(number)")
      let start = ContinuousClock.now
      try await lists.stop(key(number))
      let micros = start.duration(to: .now) / .microseconds(1)
      let count = try await lists.store(key(number))?.extent().count ?? -1
      note("stopped \(number) \(count) \(Int(micros))")
    }
    for entry in try await lists.all() {
      guard let list = try await lists.list(entry.key) else { continue }
      for try await _ in list {}
    }
    await lists.close()
  }
}
