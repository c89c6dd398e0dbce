import FileReading
import Foundation
import Tailrace

@testable import TailraceStored

/// Decides which of several stores makes its next disk call: a walk over all orders, depth first.
///
/// Each store runs until its next call, and waits there. When all wait, or have finished, one goes
/// on. The first order changes stores only when one has finished; a later one takes another choice at
/// the last place that has one.
// Guard: the condition. May touch the fields: its holder.
final class DiskTurns: @unchecked Sendable {
  private let condition = NSCondition()
  /// The choices that are given, and then those that were made, with their number.
  private let given: [Int]
  private(set) var made: [(choice: Int, of: Int)] = []
  private var waiting: Set<Int> = []
  private var running: Int
  private var next: Int?
  private var last = 0
  private var interruptions: Int

  /// - Parameter interruptions: how often another store may go on before the last one has finished.
  init(stores: Int, interruptions: Int, choices: [Int]) {
    (running, self.interruptions, given) = (stores, interruptions, choices)
  }

  /// Waits until it is this store's turn.
  func wait(_ store: Int) {
    condition.withLock {
      waiting.insert(store)
      running -= 1
      choose()
      while next != store { condition.wait() }
      next = nil
    }
  }

  func finish() {
    condition.withLock {
      running -= 1
      choose()
    }
  }

  private func choose() {
    guard running == 0, !waiting.isEmpty else { return }
    let canGoOn = waiting.contains(last)
    let others = waiting.subtracting([last]).sorted()
    let choices =
      canGoOn ? (interruptions > 0 ? [last] + others : [last]) : others
    let choice = min(made.count < given.count ? given[made.count] : 0, choices.count - 1)
    made.append((choice, choices.count))
    if canGoOn, choice > 0 { interruptions -= 1 }
    last = choices[choice]
    waiting.remove(last)
    (next, running) = (last, 1)
    condition.broadcast()
  }

  /// The choices of the next order; `nil` after the last one.
  var following: [Int]? {
    var choices = made
    while let last = choices.popLast() {
      if last.choice + 1 < last.of { return choices.map(\.choice) + [last.choice + 1] }
    }
    return nil
  }
}

/// A disk as one of several stores sees it: each call waits for the store's turn.
struct TurnDisk: Disk {
  let disk: ModelDisk
  let store: Int
  let turns: DiskTurns

  var boot: JournalID { disk.boot }

  func open(_ path: [CChar], writes: Bool) throws(SystemError) -> any DiskFile {
    turns.wait(store)
    return TurnFile(try disk.open(path, writes: writes), self)
  }

  func make(beside path: [CChar]) throws(SystemError) -> (file: any DiskFile, path: [CChar]) {
    turns.wait(store)
    let made = try disk.make(beside: path)
    return (TurnFile(made.file, self), made.path)
  }

  func link(_ path: [CChar], to other: [CChar]) throws(SystemError) {
    turns.wait(store)
    try disk.link(path, to: other)
  }

  func name(_ path: [CChar], as other: [CChar]) throws(SystemError) {
    turns.wait(store)
    try disk.name(path, as: other)
  }

  func rename(_ path: [CChar], to other: [CChar]) throws(SystemError) {
    turns.wait(store)
    try disk.rename(path, to: other)
  }

  func remove(_ path: [CChar]) {
    turns.wait(store)
    disk.remove(path)
  }

  func synchronizeFolder(of path: [CChar]) throws(SystemError) {
    turns.wait(store)
    try disk.synchronizeFolder(of: path)
  }

  func status(of path: [CChar]) throws(SystemError) -> FileStatus? {
    turns.wait(store)
    return try disk.status(of: path)
  }

  func remoteFileSystem(of status: FileStatus) -> String? { nil }
}

private final class TurnFile: DiskFile {
  let file: any DiskFile
  let disk: TurnDisk

  init(_ file: any DiskFile, _ disk: TurnDisk) { (self.file, self.disk) = (file, disk) }

  private var turn: Void { disk.turns.wait(disk.store) }

  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    turn
    return try file.read(into: bytes, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    turn
    return try file.write(bytes, at: offset)
  }

  func synchronize() throws(SystemError) {
    turn
    try file.synchronize()
  }

  func extend(_ range: Range<Int>) throws(SystemError) {
    turn
    try file.extend(range)
  }

  func truncate(to size: Int) throws(SystemError) {
    turn
    try file.truncate(to: size)
  }

  func punch(_ range: Range<Int>) {
    turn
    file.punch(range)
  }

  func status() throws(SystemError) -> FileStatus {
    turn
    return try file.status()
  }

  func lock() throws(SystemError) -> Bool {
    turn
    return try file.lock()
  }

  func unlock() { file.unlock() }
}

/// Runs one store's calls on a queue of its own, because they wait for their turn on its thread.
final class StoreQueue: TaskExecutor {
  private let queue = DispatchQueue(label: "store")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
