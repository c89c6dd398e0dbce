import Foundation
import Tailrace
import TailraceFoundation
import Testing

@testable import crashwalk

/// Processes that are killed while they write, and go on.
@Suite("Crashes: elements that were given out are there", .serialized, .timeLimit(.minutes(30)))
struct CrashTests {
  static let isFull = ProcessInfo.processInfo.environment["FULL"] != nil

  @Test(
    "a writer is killed again and again, and three follow it",
    arguments: [
      ("process", "one"), ("machine", "one"), ("process", "array"), ("machine", "array"),
    ])
  func kills(_ durability: String, _ mode: String) async throws {
    let kills = Self.isFull ? 200 : 10
    let report = try await onThread { try CrashLoop(durability, mode).run(kills: kills) }
    #expect(report.length > 0, "\(report.ends)")
    #expect(report.lost == 0, "elements that were given out are not there")
    #expect(report.neverRun == 0, "elements are there that nobody computed")
    #expect(report.ends.count == 4 && Set(report.ends).count == 1, "\(report.ends)")
    // A step that was not stored runs again: one for each kill, or what was gathered meanwhile.
    #expect(report.runAgain <= kills * (mode == "one" ? 1 : 128))
    print(
      "\(durability), \(mode): \(kills) kills, \(report.length) elements, lost \(report.lost), "
        + "steps run again \(report.runAgain), never run \(report.neverRun), followers alike")
  }

  @Test(
    "three contend, and one after the other is killed; three follow",
    arguments: ["process", "machine"])
  func contenders(_ durability: String) async throws {
    let kills = Self.isFull ? 200 : 10
    let report = try await onThread { try CrashLoop(durability, "contend").contend(kills: kills) }
    #expect(report.length > 0, "\(report.ends)")
    #expect(report.lost == 0)
    #expect(report.neverRun == 0)
    #expect(report.runAgain <= kills)
    #expect(report.ends.count == 4 && Set(report.ends).count == 1, "\(report.ends)")
    print(
      "three contenders, \(durability): \(kills) kills, \(report.length) elements, "
        + "steps run again \(report.runAgain), never run \(report.neverRun)")
  }

  @Test(
    "a program with a thousand runs is killed again and again: none is lost, and none that was stopped goes on"
  )
  func runs() async throws {
    let (kills, count) = Self.isFull ? (100, 1000) : (10, 60)
    let folder = URL.temporaryDirectory.appending(path: "runs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (lists, log) = (folder.appending(path: "lists").path, folder.appending(path: "log").path)
    let known = try await onThread { () throws -> RunsLog in
      var random = SystemRandomNumberGenerator()
      for kill in 0..<kills {
        let first = try RunsLog(log).next
        // So that the last life has something left to begin.
        let child = try Child(["runs", lists, log, "\(first)", "\(count)"])
        child.read(upTo: Int.random(in: 0...(2 * count * 3 / 2 / kills), using: &random))
        child.kill()
        if kill.isMultiple(of: 20) { print("\(kill) kills, \(first) runs") }
      }
      let first = try RunsLog(log).next
      let last = try Child(["runs", lists, log, "\(first)", "\(count)"])
      _ = last.lastLine()
      return try RunsLog(log)
    }
    #expect(known.started == Set(0..<count))
    let runs = CrashRuns.lists(lists)
    let entries = try await runs.all()
    #expect(entries.count == count && entries.allSatisfy { $0.status == .ended })
    var (lost, goneOn, cut) = (0, 0, 0)
    for number in 0..<count {
      let elements = try await runs.list(CrashRuns.key(number))?.array() ?? []
      let all = CrashRuns.elements(number)
      if known.stopping.contains(number) {
        if elements != Array(all.prefix(elements.count)) { lost += 1 }
        if let stopped = known.stopped[number], stopped != elements.count { goneOn += 1 }
        if elements.count < all.count { cut += 1 }
      } else if elements != all {
        lost += 1
      }
    }
    #expect(lost == 0 && goneOn == 0)
    print(
      "\(count) runs, \(kills) kills: lost \(lost), \(known.stopped.count) stopped, \(cut) of them before "
        + "their end, gone on \(goneOn)")
    let times = known.stopTimes.sorted()
    if let longest = times.last {
      print("a stop took \(times[times.count / 2]) µs in the middle, \(longest) µs at most")
    }
    await runs.close()
  }

  /// Runs what waits for processes on a thread that nobody else needs.
  private func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
    }
  }
}

/// The findings after all kills.
struct CrashReport: Sendable {
  var length = 0
  var lost = 0
  var runAgain = 0
  var neverRun = 0
  /// The last lines of followers and of the last writer.
  var ends: [String] = []
}

/// What a program with runs has acknowledged.
struct RunsLog: Sendable {
  private(set) var started: Set<Int> = []
  private(set) var stopping: Set<Int> = []
  /// How many elements a stopped run had.
  private(set) var stopped: [Int: Int] = [:]
  /// How long each stop took, in microseconds.
  private(set) var stopTimes: [Int] = []

  /// The first run that was not acknowledged.
  var next: Int { (started.max() ?? -1) + 1 }

  init(_ path: String) throws {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return }
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 1, let number = Int(words[1]) else { continue }
      switch words[0] {
      case "started": started.insert(number)
      case "stopping": stopping.insert(number)
      case "stopped" where words.count == 4:
        stopped[number] = Int(words[2])
        stopTimes.append(Int(words[3]) ?? .max)
      default: break
      }
    }
  }
}

/// A folder, and the processes that work in it.
final class CrashLoop {
  private let folder = URL.temporaryDirectory.appending(path: "crash-\(UUID().uuidString)")
  private let durability: String
  private let mode: String
  private var list: String { folder.appending(path: "list").path }
  private var steps: String { folder.appending(path: "steps").path }
  private var random = SystemRandomNumberGenerator()

  init(_ durability: String, _ mode: String) throws {
    (self.durability, self.mode) = (durability, mode)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func run(kills: Int) throws -> CrashReport {
    var report = CrashReport()
    var followers: [Child] = []
    defer { for follower in followers { follower.kill() } }
    var count = 0
    for kill in 0..<kills {
      let writer = try writer()
      if kill == 0 { followers = try (0..<3).map { _ in try Child(["follow", list]) } }
      // Somewhere: before the file is opened, in the middle of the first element, or later.
      let more = Int.random(in: -1...40, using: &random)
      if more >= 0 { writer.read(upTo: count + more) }
      writer.kill()
      let last = writer.readRest()
      count = try stored()
      report.lost += max(0, last - count)
    }
    try finish(&report, followers)
    return report
  }

  func contend(kills: Int) throws -> CrashReport {
    var report = CrashReport()
    var contenders = try (0..<3).map { _ in try writer() }
    defer { for contender in contenders { contender.kill() } }
    let followers = try (0..<3).map { _ in try Child(["follow", list]) }
    defer { for follower in followers { follower.kill() } }
    var last = 0
    for _ in 0..<kills {
      let index = Int.random(in: 0..<3, using: &random)
      contenders[index].read(upTo: last + Int.random(in: 0...40, using: &random))
      contenders[index].kill()
      last = max(last, contenders[index].readRest())
      contenders[index] = try writer()
    }
    for contender in contenders {
      contender.kill()
      last = max(last, contender.readRest())
    }
    report.lost = max(0, last - (try stored()))
    try finish(&report, followers)
    return report
  }

  private func writer(upTo length: Int? = nil) throws -> Child {
    try Child(["write", list, durability, mode, steps] + (length.map { ["\($0)"] } ?? []))
  }

  /// How many elements are there; the chain is checked.
  private func stored() throws -> Int {
    let result = Answer<Result<Int, any Error>>()
    let list = list
    Task {
      result.give(
        await Result.catching {
          var check = ChainCheck()
          let store = Chain.store(list, .survivesProcess)
          while true {
            let page = try await store.read(from: check.count, upTo: 1024)
            if page.elements.isEmpty { return check.count }
            for element in page.elements { check.pass(element) }
          }
        })
    }
    return try result.wait().get()
  }

  /// The number in "end NUMBER HASH".
  private static func length(in line: String) -> Int {
    let words = line.split(separator: " ")
    return words.count == 3 ? Int(words[1]) ?? 0 : 0
  }

  /// One life more that ends, so that those who follow end, too.
  private func finish(_ report: inout CrashReport, _ followers: [Child]) throws {
    let last = try writer(upTo: try stored() + 50)
    report.ends = ([last] + followers).map { $0.lastLine() }
    report.length = Self.length(in: report.ends[0])
    var counts = [Int](repeating: 0, count: report.length)
    for line in try String(contentsOfFile: steps, encoding: .utf8).split(separator: "\n") {
      if let number = Int(line), number < counts.count { counts[number] += 1 }
    }
    report.runAgain = counts.reduce(0) { $0 + max(0, $1 - 1) }
    report.neverRun = counts.count { $0 == 0 }
  }
}

/// A running program, and what it says.
final class Child: Sendable {
  private let process = Process()
  private let output = ChildOutput()

  init(_ arguments: [String]) throws {
    let pipe = Pipe()
    // Beside the tests.
    process.executableURL = URL(filePath: CommandLine.arguments[0])
      .deletingLastPathComponent().appending(path: "crashwalk")
    process.arguments = arguments
    process.standardOutput = pipe
    try process.run()
    // Our copy of its end: otherwise there would be no end to read.
    try pipe.fileHandleForWriting.close()
    // Read all the time: a program whose pipe is full waits, and keeps its lock.
    let (output, handle) = (output, pipe.fileHandleForReading)
    Thread.detachNewThread { while output.take(handle.availableData) {} }
  }

  /// Waits until a number has been said, or for the end.
  func read(upTo number: Int) { output.wait { $0.lastNumber >= number } }

  /// Waits for the end. Returns the last number that was said.
  func readRest() -> Int {
    output.wait { _ in false }
    return output.lastNumber
  }

  /// The last line, when it has ended by itself.
  func lastLine() -> String {
    _ = readRest()
    process.waitUntilExit()
    return process.terminationStatus == 0
      ? output.lastLine : "status \(process.terminationStatus)"
  }

  func kill() {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}

/// The lines of a program: of the last whole one, its text and its number.
// Guard: the condition. May touch it: whoever has locked that.
final class ChildOutput: @unchecked Sendable {
  struct Last {
    var line = ""
    var lastNumber = 0
  }

  private let condition = NSCondition()
  private var last = Last()
  private var part: [UInt8] = []
  private var hasEnded = false

  var lastLine: String { condition.withLock { last.line } }
  var lastNumber: Int { condition.withLock { last.lastNumber } }

  /// Some bytes were said; none at the end. False then.
  func take(_ data: Data) -> Bool {
    condition.withLock {
      part += data
      if let end = part.lastIndex(of: UInt8(ascii: "\n")) {
        let start = part[..<end].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        last.line = String(decoding: part[start..<end], as: UTF8.self)
        last.lastNumber = Int(last.line) ?? last.lastNumber
        part.removeFirst(end + 1)
      }
      hasEnded = data.isEmpty
      condition.broadcast()
      return !hasEnded
    }
  }

  /// Waits until something is true of what was said, or for the end.
  func wait(until isEnough: (Last) -> Bool) {
    condition.withLock { while !hasEnded, !isEnough(last) { condition.wait() } }
  }
}

/// The result of a task, for a thread that waits.
final class Answer<Value: Sendable>: @unchecked Sendable {
  // Guard: the semaphore. May touch it: the task, before it signals; the thread, after it has
  // waited.
  private var value: Value?
  private let semaphore = DispatchSemaphore(value: 0)

  func give(_ value: Value) {
    self.value = value
    semaphore.signal()
  }

  func wait() -> Value {
    semaphore.wait()
    guard let value else { preconditionFailure("there is no answer") }
    return value
  }
}

extension Result where Failure == any Error {
  static func catching(_ body: () async throws -> Success) async -> Self {
    do { return .success(try await body()) } catch { return .failure(error) }
  }
}
