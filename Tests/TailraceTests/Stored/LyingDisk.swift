import FileReading
import Foundation
import Tailrace
import TailraceFoundation
import TailraceSupport

@testable import TailraceStored

/// A disk that does not do what it is told, and counts what it does.
final class LyingDisk: Disk {
  struct Lies: Sendable {
    /// The name of the file system if it says that it is a remote one.
    var remote: String?
    /// How many bytes a write takes at most.
    var mostWritten = Int.max
    /// How many bytes can still be written; then it is full.
    var room = Int.max
    /// Whether the file can be extended ahead of the writes. On a full disk it never can.
    var extends = true
    /// How many of the next syncs fail.
    var failingSyncs = 0
    /// What the disk cannot read.
    var unreadable: Range<Int>?
    /// The start of the machine, if it is another one.
    var boot: JournalID?
    /// Called before each read, with its number.
    var beforeRead: (@Sendable (Int) -> Void)?
    var (reads, writes, syncs, extensions, bytesRead) = (0, 0, 0, 0, 0)
    /// How often the file was opened for writing.
    var writers = 0
    /// How many syncs have kept a task's thread.
    var syncsInTasks = 0
    /// All that was written, in order.
    var log: [(offset: Int, bytes: [UInt8])] = []
  }

  let lies: Locked<Lies>
  private let system = SystemDisk()

  /// - Parameter unreadable: what it cannot read, from the beginning on.
  init(unreadable: Range<Int>? = nil) {
    var lies = Lies()
    lies.unreadable = unreadable
    self.lies = Locked(lies)
  }

  func open(_ path: [CChar], writes: Bool) throws(SystemError) -> any DiskFile {
    if writes { lies.withLock { $0.writers += 1 } }
    return LyingFile(try system.open(path, writes: writes), self)
  }

  func make(beside path: [CChar]) throws(SystemError) -> (file: any DiskFile, path: [CChar]) {
    try system.make(beside: path)
  }

  func link(_ path: [CChar], to other: [CChar]) throws(SystemError) {
    try system.link(path, to: other)
  }

  func name(_ path: [CChar], as other: [CChar]) throws(SystemError) {
    try system.name(path, as: other)
  }

  func rename(_ path: [CChar], to other: [CChar]) throws(SystemError) {
    try system.rename(path, to: other)
  }

  func remove(_ path: [CChar]) { system.remove(path) }

  func synchronizeFolder(of path: [CChar]) throws(SystemError) {
    try system.synchronizeFolder(of: path)
  }

  var boot: JournalID { lies.withLock { $0.boot } ?? system.boot }

  func status(of path: [CChar]) throws(SystemError) -> FileStatus? { try system.status(of: path) }

  func remoteFileSystem(of status: FileStatus) -> String? { lies.withLock { $0.remote } }
}

private final class LyingFile: DiskFile {
  let file: any DiskFile
  let disk: LyingDisk

  init(_ file: any DiskFile, _ disk: LyingDisk) { (self.file, self.disk) = (file, disk) }

  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    let (number, beforeRead, unreadable) = disk.lies.withLock { lies in
      lies.reads += 1
      return (lies.reads, lies.beforeRead, lies.unreadable)
    }
    beforeRead?(number)
    var room = bytes
    if let unreadable, unreadable.overlaps(offset..<offset + bytes.count) {
      // As a system does: what is before it is read.
      if unreadable.contains(offset) { throw SystemError(code: EIO) }
      room = UnsafeMutableRawBufferPointer(rebasing: bytes[..<(unreadable.lowerBound - offset)])
    }
    let count = try file.read(into: room, at: offset)
    disk.lies.withLock { $0.bytesRead += count }
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    let contents = Array(bytes)
    let count = disk.lies.withLock { lies in
      let count = min(contents.count, lies.mostWritten, lies.room)
      lies.writes += 1
      if lies.room < .max { lies.room -= count }
      lies.log.append((offset, Array(contents.prefix(count))))
      return count
    }
    if count == 0 { throw SystemError(code: ENOSPC) }
    return try file.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), at: offset)
  }

  func synchronize() throws(SystemError) {
    let isInTask = withUnsafeCurrentTask { $0 != nil }
    let fails = disk.lies.withLock { lies in
      lies.syncs += 1
      if isInTask { lies.syncsInTasks += 1 }
      guard lies.failingSyncs > 0 else { return false }
      lies.failingSyncs -= 1
      return true
    }
    if fails { throw SystemError(code: EIO) }
    try file.synchronize()
  }

  func extend(_ range: Range<Int>) throws(SystemError) {
    let fits = disk.lies.withLock { lies in
      lies.extensions += 1
      return lies.extends && lies.room == .max
    }
    // Of a disk that is full, some is written.
    let written = fits ? range : range.prefix(range.count / 2)
    try file.extend(written)
    if !fits { throw SystemError(code: ENOSPC) }
  }

  func truncate(to size: Int) throws(SystemError) { try file.truncate(to: size) }

  func punch(_ range: Range<Int>) { file.punch(range) }

  func status() throws(SystemError) -> FileStatus { try file.status() }

  func lock() throws(SystemError) -> Bool { try file.lock() }

  func unlock() { file.unlock() }
}
