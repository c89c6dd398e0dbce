import FileReading
import Foundation
import Tailrace
import TailraceStored
import TailraceSupport

@testable import TailraceFoundation

/// A disk with one file, as a value: what is on it, and what was written since the last sync.
///
/// All calls are logged. A crash keeps any part of what was not synced: of each sector any of its
/// contents since the last sync, and any of the lengths that the file has had since.
final class ModelDisk: Disk {
  static let sector = 512

  enum Event: Sendable {
    case write(offset: Int, bytes: [UInt8])
    case truncate(Int)
    case sync
    /// So many elements were given to a reader. They are promised if they are on the disk.
    case given(Int)
  }

  enum Call: String, Sendable, CaseIterable {
    case read, write, sync, extend, truncate, open, lock
  }

  struct Contents: Sendable {
    var bytes: [UInt8]?
    var boot: JournalID
    /// What was on the disk at first.
    var initial: [UInt8] = []
    var log: [Event] = []
    var holder: ObjectIdentifier?
    /// The call of a kind that fails, counted down.
    var failing: (call: Call, number: Int)?
    var hasFailed = false
  }

  let contents: Locked<Contents>
  var boot: JournalID { contents.withLock { $0.boot } }

  init(_ bytes: [UInt8]? = nil) {
    contents = Locked(
      Contents(bytes: bytes, boot: JournalID(1, .random(in: 0...(.max))), initial: bytes ?? []))
  }

  /// The same file after the end of all processes: nothing is lost.
  func killed() -> ModelDisk {
    let disk = ModelDisk(contents.withLock { $0.bytes })
    let boot = boot
    disk.contents.withLock { $0.boot = boot }
    return disk
  }

  func log(_ event: Event) { contents.withLock { $0.log.append(event) } }

  func fail(_ call: Call, number: Int) {
    contents.withLock { ($0.failing, $0.hasFailed) = ((call, number), false) }
  }

  func check(_ call: Call) throws(SystemError) {
    let fails = contents.withLock { contents in
      guard let failing = contents.failing, failing.call == call else { return false }
      contents.failing?.number -= 1
      guard failing.number == 0 else { return false }
      contents.failing = nil
      contents.hasFailed = true
      return true
    }
    if fails { throw SystemError(code: call == .write || call == .extend ? ENOSPC : EIO) }
  }

  func open(_ path: [CChar], writes: Bool) throws(SystemError) -> any DiskFile {
    try check(.open)
    if contents.withLock({ $0.bytes == nil }) { throw SystemError(code: ENOENT) }
    return ModelFile(self)
  }

  func create(_ path: [CChar], contents bytes: [UInt8]) throws(SystemError) {
    contents.withLock { contents in
      if contents.bytes == nil { (contents.bytes, contents.initial) = (bytes, bytes) }
    }
  }

  func replace(_ path: [CChar], _ fill: (any DiskFile) throws -> Void) throws -> [CChar] {
    let new = ModelDisk([])
    try fill(ModelFile(new))
    let bytes = new.contents.withLock { $0.bytes }
    contents.withLock { ($0.bytes, $0.initial, $0.log) = (bytes, bytes ?? [], []) }
    return path
  }

  func status(of path: [CChar]) throws(SystemError) -> FileStatus? {
    contents.withLock { contents in
      contents.bytes.map { bytes in
        var status = FileStatus()
        status.size = bytes.count
        return status
      }
    }
  }

  func remoteFileSystem(of status: FileStatus) -> String? { nil }
}

final class ModelFile: DiskFile {
  let disk: ModelDisk

  init(_ disk: ModelDisk) { self.disk = disk }

  deinit {
    let key = ObjectIdentifier(self)
    disk.contents.withLock { if $0.holder == key { $0.holder = nil } }
  }

  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    try disk.check(.read)
    let part = disk.contents.withLock { contents in
      let all = contents.bytes ?? []
      return Array(all[min(offset, all.count)..<min(offset + bytes.count, all.count)])
    }
    bytes.copyBytes(from: part)
    return part.count
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    try disk.check(.write)
    put(Array(bytes), at: offset)
    return bytes.count
  }

  private func put(_ bytes: [UInt8], at offset: Int) {
    disk.contents.withLock { contents in
      contents.bytes?.apply(.write(offset: offset, bytes: bytes))
      contents.log.append(.write(offset: offset, bytes: bytes))
    }
  }

  func synchronize() throws(SystemError) {
    try disk.check(.sync)
    disk.log(.sync)
  }

  func extend(_ range: Range<Int>) throws(SystemError) {
    try disk.check(.extend)
    put([UInt8](repeating: 0, count: range.count), at: range.lowerBound)
  }

  func truncate(to size: Int) throws(SystemError) {
    try disk.check(.truncate)
    disk.contents.withLock { contents in
      contents.bytes?.apply(.truncate(size))
      contents.log.append(.truncate(size))
    }
  }

  func punch(_ range: Range<Int>) {
    put([UInt8](repeating: 0, count: range.count), at: range.lowerBound)
  }

  func status() throws(SystemError) -> FileStatus {
    try disk.status(of: []) ?? FileStatus()
  }

  func lock() throws(SystemError) -> Bool {
    try disk.check(.lock)
    let key = ObjectIdentifier(self)
    return disk.contents.withLock { contents in
      if contents.holder == nil { contents.holder = key }
      return contents.holder == key
    }
  }
}

extension [UInt8] {
  mutating func apply(_ event: ModelDisk.Event) {
    switch event {
    case .write(let offset, let bytes):
      if count < offset + bytes.count {
        append(contentsOf: repeatElement(0, count: offset + bytes.count - count))
      }
      replaceSubrange(offset..<offset + bytes.count, with: bytes)
    case .truncate(let size):
      if size < count {
        removeSubrange(size...)
      } else {
        self += repeatElement(0, count: size - count)
      }
    case .sync, .given: break
    }
  }
}

/// What a loss of power may leave, at one place of a log.
struct PowerLoss {
  private(set) var synced: [UInt8]
  /// The contents since the last sync, the oldest first.
  private var versions: [[UInt8]]
  private(set) var promised = 0
  private var given = 0

  init(_ bytes: [UInt8]) { (synced, versions) = (bytes, [bytes]) }

  mutating func pass(_ event: ModelDisk.Event) {
    switch event {
    case .given(let count): given = count
    case .sync:
      synced = versions[versions.count - 1]
      versions = [synced]
    case .write, .truncate:
      var next = versions[versions.count - 1]
      next.apply(event)
      versions.append(next)
    }
  }

  /// The choices: a length, and for each sector that has changed one of its contents.
  private var choices: (lengths: [Int], sectors: [(offset: Int, contents: [[UInt8]])]) {
    let longest = versions.map(\.count).max() ?? 0
    var sectors: [(offset: Int, contents: [[UInt8]])] = []
    let size = ModelDisk.sector
    for offset in stride(from: 0, to: longest, by: size) {
      var contents: [[UInt8]] = []
      for version in versions {
        var part = Array(version.dropFirst(offset).prefix(size))
        part += repeatElement(0, count: size - part.count)
        if !contents.contains(part) { contents.append(part) }
      }
      if contents.count > 1 { sectors.append((offset, contents)) }
    }
    return (Array(Set(versions.map(\.count))).sorted(), sectors)
  }

  /// All images if there are few, or some of them.
  func images(atMost most: Int, using random: inout some RandomNumberGenerator) -> [[UInt8]] {
    let (lengths, sectors) = choices
    var number = lengths.count
    for sector in sectors where number <= most { number *= sector.contents.count }
    func image(_ length: Int, _ pick: (Int) -> [UInt8]) -> [UInt8] {
      var image = versions[versions.count - 1]
      let longest = versions.map(\.count).max() ?? 0
      image += repeatElement(0, count: max(0, longest + ModelDisk.sector - image.count))
      for index in sectors.indices {
        let offset = sectors[index].offset
        image.replaceSubrange(offset..<offset + ModelDisk.sector, with: pick(index))
      }
      return Array(image.prefix(length))
    }
    if number <= most {
      return (0..<number).map { number in
        var rest = number / lengths.count
        return image(lengths[number % lengths.count]) { index in
          let contents = sectors[index].contents
          defer { rest /= contents.count }
          return contents[rest % contents.count]
        }
      }
    }
    return (0..<most).map { _ in
      // Few that are lost, few that are kept, or any.
      let rate = Int.random(in: 0...8, using: &random)
      return image(lengths.randomElement(using: &random) ?? 0) { index in
        let contents = sectors[index].contents
        return Int.random(in: 0..<8, using: &random) < rate
          ? contents[contents.count - 1] : contents.randomElement(using: &random) ?? []
      }
    }
  }
}
