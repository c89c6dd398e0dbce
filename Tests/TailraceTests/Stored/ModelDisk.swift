import FileReading
import Foundation
import Tailrace
import TailraceSupport

@testable import TailraceStored

/// A disk as a value: files, their names in one folder, and all that has been done to them.
final class ModelDisk: Disk {
  static let sector = 512

  /// What is on a disk.
  struct Image: Sendable {
    var files: [Int: [UInt8]] = [:]
    var names: [[CChar]: Int] = [:]
  }

  enum Event: Sendable {
    case write(Int, offset: Int, bytes: [UInt8])
    case truncate(Int, to: Int)
    case sync(Int)
    /// Names, and their files: `nil` for a name that is gone.
    case names([(name: [CChar], file: Int?)])
    case syncFolder
    /// So many elements of a list with this identity were given to a reader. They are promised if they
    /// are on the disk.
    case given(Int, identity: String?)
    /// So many elements must be there after a loss of power.
    case promised(Int)
    /// The lease was given up, in order.
    case released
    /// A sync that failed: what was not on the disk may never get there, whatever syncs succeed later.
    case failedSync(Int)
    /// A repair has told that it is done.
    case repaired
  }

  enum Call: String, Sendable, CaseIterable {
    case read, write, sync, extend, truncate, open, lock, status, make, link, rename, syncFolder
    /// A write that has been done when it fails.
    case lateWrite
  }

  struct Contents: Sendable {
    var image: Image
    var boot: JournalID
    /// What was on the disk at first.
    var initial: Image
    var log: [Event] = []
    /// The holders of the files' locks.
    var holders: [Int: ObjectIdentifier] = [:]
    /// The call of a kind that fails, counted down; and how many calls of any kind fail from it on.
    var failing: (call: Call?, number: Int, times: Int)?
    var hasFailed = false

    mutating func pass(_ event: Event) {
      image.apply(event)
      log.append(event)
    }
  }

  let contents: Locked<Contents>
  var boot: JournalID { contents.withLock { $0.boot } }

  /// - Parameter boot: the start of the machine; without one it has been started anew.
  init(_ image: Image = Image(), boot: JournalID? = nil) {
    let boot = boot ?? JournalID(1, .random(in: 1...(.max)))
    contents = Locked(Contents(image: image, boot: boot, initial: image))
  }

  /// The same files after the end of all processes: nothing is lost.
  func killed() -> ModelDisk {
    contents.withLock { ModelDisk($0.image, boot: $0.boot) }
  }

  func log(_ event: Event) { contents.withLock { $0.pass(event) } }

  func fail(_ call: Call, number: Int, times: Int = 1) {
    contents.withLock { ($0.failing, $0.hasFailed) = ((call, number, times), false) }
  }

  func check(_ call: Call) throws(SystemError) {
    let fails = contents.withLock { contents in
      guard let failing = contents.failing, failing.call ?? call == call else { return false }
      guard failing.number <= 1 else {
        contents.failing?.number -= 1
        return false
      }
      contents.failing = failing.times > 1 ? (nil, 1, failing.times - 1) : nil
      contents.hasFailed = true
      return true
    }
    let isFull = [Call.write, .extend, .make, .link].contains(call)
    if fails { throw SystemError(code: isFull ? ENOSPC : EIO) }
  }

  func open(_ path: [CChar], writes: Bool) throws(SystemError) -> any DiskFile {
    try check(.open)
    return ModelFile(self, try number(path))
  }

  private func number(_ path: [CChar]) throws(SystemError) -> Int {
    guard let number = contents.withLock({ $0.image.names[path] }) else {
      throw SystemError(code: ENOENT)
    }
    return number
  }

  func make(beside path: [CChar]) throws(SystemError) -> (file: any DiskFile, path: [CChar]) {
    try check(.make)
    let name = path.beside(.new)
    let number = contents.withLock { contents in
      let number = contents.image.files.count
      contents.image.files[number] = []
      contents.pass(.names([(name, number)]))
      return number
    }
    return (ModelFile(self, number), name)
  }

  func link(_ path: [CChar], to other: [CChar]) throws(SystemError) {
    try check(.link)
    let number = try number(path)
    let isTaken = contents.withLock { contents in
      if contents.image.names[other] != nil { return true }
      contents.pass(.names([(other, number)]))
      return false
    }
    if isTaken { throw SystemError(code: EEXIST) }
  }

  func name(_ path: [CChar], as other: [CChar]) throws(SystemError) {
    try check(.rename)
    let number = try number(path)
    let isTaken = contents.withLock { contents in
      if contents.image.names[other] != nil { return true }
      contents.pass(.names([(other, number), (path, nil)]))
      return false
    }
    if isTaken { throw SystemError(code: EEXIST) }
  }

  func rename(_ path: [CChar], to other: [CChar]) throws(SystemError) {
    try check(.rename)
    let number = try number(path)
    log(.names([(other, number), (path, nil)]))
  }

  func remove(_ path: [CChar]) { log(.names([(path, nil)])) }

  func synchronizeFolder(of path: [CChar]) throws(SystemError) {
    try check(.syncFolder)
    log(.syncFolder)
  }

  func status(of path: [CChar]) throws(SystemError) -> FileStatus? {
    try check(.status)
    return contents.withLock { contents in
      contents.image.names[path].map { contents.image.status(of: $0) }
    }
  }

  func remoteFileSystem(of status: FileStatus) -> String? { nil }
}

final class ModelFile: DiskFile {
  let disk: ModelDisk
  let number: Int

  init(_ disk: ModelDisk, _ number: Int) { (self.disk, self.number) = (disk, number) }

  deinit { unlock() }

  func unlock() {
    let (key, number) = (ObjectIdentifier(self), number)
    disk.contents.withLock { if $0.holders[number] == key { $0.holders[number] = nil } }
  }

  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    try disk.check(.read)
    nonisolated(unsafe) let bytes = bytes
    return disk.contents.withLock { contents in
      (contents.image.files[number] ?? []).withUnsafeBytes { all in
        let count = max(0, min(bytes.count, all.count - offset))
        if count > 0 { memcpy(bytes.baseAddress!, all.baseAddress! + offset, count) }
        return count
      }
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    try disk.check(.write)
    disk.log(.write(number, offset: offset, bytes: Array(bytes)))
    try disk.check(.lateWrite)
    return bytes.count
  }

  func synchronize() throws(SystemError) {
    do throws(SystemError) { try disk.check(.sync) } catch {
      disk.log(.failedSync(number))
      throw error
    }
    disk.log(.sync(number))
  }

  func extend(_ range: Range<Int>) throws(SystemError) {
    try disk.check(.extend)
    punch(range)
  }

  func truncate(to size: Int) throws(SystemError) {
    try disk.check(.truncate)
    disk.log(.truncate(number, to: size))
  }

  func punch(_ range: Range<Int>) {
    let zeros = [UInt8](repeating: 0, count: range.count)
    disk.log(.write(number, offset: range.lowerBound, bytes: zeros))
  }

  func status() throws(SystemError) -> FileStatus {
    try disk.check(.status)
    return disk.contents.withLock { $0.image.status(of: number) }
  }

  func lock() throws(SystemError) -> Bool {
    try disk.check(.lock)
    let (key, number) = (ObjectIdentifier(self), number)
    return disk.contents.withLock { contents in
      if contents.holders[number] == nil { contents.holders[number] = key }
      return contents.holders[number] == key
    }
  }
}

extension ModelDisk.Image {
  mutating func apply(_ event: ModelDisk.Event) {
    switch event {
    case .write(let file, let offset, let bytes): files[file, default: []].put(bytes, at: offset)
    case .truncate(let file, let size): files[file, default: []].resize(to: size)
    case .names(let changes): for (name, file) in changes { names[name] = file }
    case .sync, .syncFolder, .given, .promised, .released, .failedSync, .repaired: break
    }
  }

  func status(of file: Int) -> FileStatus {
    var status = FileStatus()
    status.node = UInt64(file)
    status.links = names.values.count { $0 == file }
    status.size = files[file]?.count ?? 0
    return status
  }
}

// By whole blocks, because the standard library's collections go byte by byte in a debug build.
extension [UInt8] {
  mutating func put(_ bytes: [UInt8], at offset: Int) {
    if count < offset + bytes.count { resize(to: offset + bytes.count) }
    if bytes.isEmpty { return }
    _ = withUnsafeMutableBytes { memcpy($0.baseAddress! + offset, bytes, bytes.count) }
  }

  mutating func resize(to size: Int) {
    let old = self
    self = [UInt8](unsafeUninitializedCapacity: size) { buffer, initializedCount in
      let kept = Swift.min(size, old.count)
      if kept > 0 { memcpy(buffer.baseAddress!, old, kept) }
      if size > kept { memset(buffer.baseAddress! + kept, 0, size - kept) }
      initializedCount = size
    }
  }

  /// Some bytes; zeros behind the end.
  func block(at offset: Int, _ size: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: size) { buffer, initializedCount in
      let kept = Swift.max(0, Swift.min(size, count - offset))
      withUnsafeBytes {
        if kept > 0 { memcpy(buffer.baseAddress!, $0.baseAddress! + offset, kept) }
      }
      if size > kept { memset(buffer.baseAddress! + kept, 0, size - kept) }
      initializedCount = size
    }
  }
}
