import Foundation
import Synchronization

/// A running program, and its output.
///
/// The output is read all the time: a program whose pipe is full would wait, and hold its lease.
public final class Child: Sendable {
  private let process = Process()
  private let life = Mutex(ChildLife())

  /// Starts a program that was built beside the tests.
  public init(_ program: String, _ arguments: [String]) throws {
    let pipe = Pipe()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
      .deletingLastPathComponent().appending(path: program)
    process.arguments = arguments
    process.standardOutput = pipe
    try process.run()
    // This process's copy of the writing end: with it the output would never end.
    try pipe.fileHandleForWriting.close()
    let reading = pipe.fileHandleForReading
    Thread.detachNewThread { [self] in
      var data = reading.availableData
      while !data.isEmpty {
        life.withLock { $0.said(data) }?.resume()
        data = reading.availableData
      }
      process.waitUntilExit()
      let status = process.terminationStatus
      life.withLock { $0.ended(status) }?.resume()
    }
  }

  /// The identifier of the process.
  public var id: CInt { process.processIdentifier }

  /// Waits until the program has printed a number as large as this, or has ended. One task waits
  /// at a time.
  public func printed(_ number: Int) async {
    await withCheckedContinuation { continuation in
      life.withLock { $0.wait(for: number, continuation) }?.resume()
    }
  }

  /// Waits for the end. Returns the last number printed.
  public func lastNumber() async -> Int {
    await printed(.max)
    return life.withLock(\.lastNumber)
  }

  /// Waits for the end. Returns the last line, or the status of a program that has failed.
  public func lastLine() async -> String {
    await printed(.max)
    return life.withLock { $0.status == 0 ? $0.lastLine : "status \($0.status ?? -1)" }
  }

  /// Kills the program, and waits for its end. Returns the last number printed.
  @discardableResult
  public func kill() async -> Int {
    signal(SIGKILL)
    return await lastNumber()
  }

  /// Stops the program until `SIGCONT`, unless it has ended. Returns when it has stopped: it runs on
  /// for a moment after the signal was sent, and could begin a transaction.
  public func stop() {
    signal(SIGSTOP)
    var info = siginfo_t()
    waitid(P_PID, id_t(id), &info, WSTOPPED | WEXITED | WNOWAIT)
  }

  /// Sends a signal, unless the program has ended.
  public func signal(_ signal: CInt) {
    if process.isRunning { Foundation.kill(process.processIdentifier, signal) }
  }
}

/// The output and the end of a program: a value with one method for each event. The methods return
/// the waiting task that is to be resumed.
struct ChildLife {
  typealias Waiter = CheckedContinuation<Void, Never>

  private(set) var lastLine = ""
  private(set) var lastNumber = 0
  private(set) var status: CInt?
  private var part: [UInt8] = []
  private var awaited = 0
  private var waiter: Waiter?

  mutating func said(_ data: Data) -> Waiter? {
    part += data
    guard let end = part.lastIndex(of: UInt8(ascii: "\n")) else { return nil }
    for line in part[..<end].split(separator: UInt8(ascii: "\n")) {
      lastLine = String(decoding: line, as: UTF8.self)
      lastNumber = Int(lastLine) ?? lastNumber
    }
    part.removeFirst(end + 1)
    return lastNumber >= awaited ? waiter.take() : nil
  }

  mutating func ended(_ status: CInt) -> Waiter? {
    self.status = status
    return waiter.take()
  }

  mutating func wait(for number: Int, _ waiter: Waiter) -> Waiter? {
    if status != nil || lastNumber >= number { return waiter }
    precondition(self.waiter == nil, "two tasks wait for a Child; one may wait at a time")
    (awaited, self.waiter) = (number, waiter)
    return nil
  }
}
