import Foundation
import Tailrace
import TailraceStored

/// The command of a program that writes a chain into a store, or follows it.
///
/// ```
/// PROGRAM write STORE ADDRESS one|array|contend STEPS [LENGTH]
/// PROGRAM follow STORE ADDRESS
/// ```
///
/// A writer prints the number of elements given out so far, at each element, and both print
/// `end NUMBER HASH` at the end. Each step that runs is a line in the file STEPS. A writer computes
/// when the store's lease is free, and follows until then: a lease may outlive a killed process.
public struct Walk: Sendable {
  /// How a writer demands elements.
  public enum Mode: String, Sendable, CaseIterable {
    /// One after the other, each stored by itself.
    case one
    /// All of them, so that several are stored at once.
    case array
    /// As `one`, with slow steps, so that other writers can catch up.
    case contend
  }

  private enum Task {
    case write(Mode, steps: String, length: Int)
    case follow
  }

  /// The name of the store's kind.
  public let store: String
  /// Where the store is: a path, or a server and a key.
  public let address: String
  private let task: Task

  /// Reads the command; ends the program with a usage line if there is none.
  public init(_ arguments: [String] = CommandLine.arguments) {
    let words = Array(arguments.dropFirst())
    guard words.count >= 3 else { Walk.refuse("a command, a store and an address are needed") }
    (store, address) = (words[1], words[2])
    switch words[0] {
    case "follow": task = .follow
    case "write":
      guard words.count >= 5, let mode = Mode(rawValue: words[3]) else {
        Walk.refuse("write takes one, array or contend, and a file for its steps")
      }
      task = .write(mode, steps: words[4], length: words.count > 5 ? Int(words[5]) ?? 0 : .max)
    default: Walk.refuse("\(words[0]) is no command")
    }
  }

  /// Ends the program: the command is wrong.
  public static func refuse(_ reason: String) -> Never {
    let usage = """
      \(reason)
      usage: write STORE ADDRESS one|array|contend STEPS [LENGTH] | follow STORE ADDRESS

      """
    FileHandle.standardError.write(Data(usage.utf8))
    exit(2)
  }

  /// Writes the store's list, or follows it, to its end.
  public func run<Store: ListStore>(over store: Store) async throws
  where Store.Element: ChainElement, Store.State == Link {
    var check = ChainCheck()
    switch task {
    case .follow:
      for try await element in LazyList(reading: store) { try check.pass(element) }
    case .write(.array, let steps, let length):
      let list = Walk.chain(in: store, steps: StepLog(steps), upTo: length)
      check = try await list.reduce(into: check) { check, element in
        try check.pass(element)
        say("\(check.count)")
      }
    case .write(let mode, let steps, let length):
      let log = StepLog(steps, isSlow: mode == .contend)
      for try await element in Walk.chain(in: store, steps: log, upTo: length) {
        try check.pass(element)
        say("\(check.count)")
      }
    }
    say("end \(check.count) \(check.link.hash)")
  }

  /// The list of a chain in a store, which ends after a number of elements.
  ///
  /// - Parameter steps: gets the number of each step that runs.
  public static func chain<Store: ListStore>(
    in store: Store, atTail policy: TailPolicy = .computeOrFollow, steps: StepLog? = nil,
    upTo length: Int = .max
  ) -> LazyList<Store.Element, any Error>
  where Store.Element: ChainElement, Store.State == Link {
    LazyList(storedIn: store, state: Link(), atTail: policy) { link in
      if link.number >= length { return nil }
      steps?.add(link.number)
      return Store.Element(text: link.next())
    }
  }

  /// Prints a line at once: readers of the other end count lines.
  private func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
  }
}

/// A file with the numbers of the steps that ran, of any number of processes.
public final class StepLog: Sendable {
  private let descriptor: CInt
  private let isSlow: Bool

  /// Opens a log; it is made if missing.
  ///
  /// - Parameter isSlow: whether each number is synced to the disk.
  public init(_ path: String, isSlow: Bool = false) {
    descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
    self.isSlow = isSlow
  }

  deinit { close(descriptor) }

  func add(_ number: Int) {
    let line = Array("\(number)\n".utf8)
    _ = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if isSlow { fsync(descriptor) }
  }

  /// How often each step below a length has run.
  static func counts(in path: String, upTo length: Int) throws -> [Int] {
    var counts = [Int](repeating: 0, count: length)
    for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
      if let number = Int(line), number < length { counts[number] += 1 }
    }
    return counts
  }
}
