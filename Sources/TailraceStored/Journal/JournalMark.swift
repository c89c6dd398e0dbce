import FileReading

/// What a writer has promised, and where readers begin to look.
///
/// | bytes | |
/// |---|---|
/// | 0 ..< 4 | `TRM2` |
/// | 4 ..< 8 | the checksum of what follows, and of the journal |
/// | 8 ..< 16 | the number of this mark |
/// | 16 ..< 32 | the start of the machine in which it was written; 0 if unknown |
/// | 32 ..< 48 | up to where the journal was written, and the last frame before |
/// | 48 ..< 64 | up to where it was on the disk, and the last frame before |
/// | 64 ..< 72 | the first frame kept |
/// | 72 ..< 76 | 1 if readers may see what is not on the disk |
///
/// There are two, in sectors of their own, written in turn: the whole one with the higher number
/// counts. Nothing else in a journal is ever rewritten. A mark that is lost in a loss of power leaves
/// an older one, which promises less, and no less than has been on the disk.
struct JournalMark: Sendable, Equatable {
  static let offset = 2 * JournalHeader.block
  static let size = 80
  /// From one mark to the other: a sector, which a disk writes as a whole or not.
  static let stride = 512
  private static let magic: UInt32 = 0x324D_5254

  var number = 0
  var boot = JournalID.none
  var written = JournalHeader.size
  /// The offset of the last frame that was written; 0 if there is none.
  var writtenLast = 0
  var synced = JournalHeader.size
  /// The offset of the last frame that was synced; 0 if there is none.
  var syncedLast = 0
  var first = JournalHeader.size
  var showsUnsynced = false

  init() {}

  /// Whether all that was written is still there, unless something is damaged: the machine has not
  /// been started anew.
  func isOf(_ boot: JournalID) -> Bool { boot != .none && boot == self.boot }

  /// The bytes up to here must be there.
  func promised(in boot: JournalID) -> Int { isOf(boot) ? max(written, synced) : synced }

  /// Followers may read up to here. `nil`: all that is whole. After a loss of power what is whole is
  /// on the disk.
  func bound(in boot: JournalID) -> Int? {
    showsUnsynced || (boot != .none && !isOf(boot)) ? nil : synced
  }

  /// The last frame that must be there, or the first one, and where the search for the end begins.
  func last(in boot: JournalID) -> Int {
    let last = isOf(boot) ? max(writtenLast, syncedLast) : syncedLast
    return last == 0 ? first : max(last, first)
  }

  func bytes(seed: UInt32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    bytes.withUnsafeMutableBytes { bytes in
      bytes.put(Self.magic, at: 0)
      for (index, field) in [
        UInt64(number), boot.high, boot.low, UInt64(written), UInt64(writtenLast), UInt64(synced),
        UInt64(syncedLast), UInt64(first), showsUnsynced ? 1 : 0,
      ].enumerated() {
        bytes.put(field, at: 8 + index * 8)
      }
      bytes.put(CRC32C.of(UnsafeRawBufferPointer(bytes).part(8..<Self.size), after: seed), at: 4)
    }
    return bytes
  }

  /// `nil` if there is none, or only a part.
  private init?(_ bytes: UnsafeRawBufferPointer, seed: UInt32) {
    guard bytes.count == Self.size, bytes.number(UInt32.self, at: 0) == Self.magic,
      bytes.number(UInt32.self, at: 4) == CRC32C.of(bytes.part(8..<Self.size), after: seed)
    else { return nil }
    func field(_ index: Int) -> UInt64 { bytes.number(UInt64.self, at: 8 + index * 8) }
    func place(_ index: Int) -> Int { Int(truncatingIfNeeded: field(index)) }
    number = place(0)
    boot = JournalID(field(1), field(2))
    (written, writtenLast, synced, syncedLast) = (place(3), place(4), place(5), place(6))
    (first, showsUnsynced) = (place(7), field(8) & 1 == 1)
    // The checksum is right: a faulty writer.
    let places = 0...JournalFrame.farthest
    guard [written, writtenLast, synced, syncedLast, first].allSatisfy(places.contains) else {
      return nil
    }
  }

  /// The mark that counts; `nil` if both are damaged.
  init?(of file: any DiskFile, seed: UInt32) throws {
    let bytes = try file.upTo(Self.stride + Self.size, at: Self.offset)
    let marks = bytes.withUnsafeBytes { bytes in
      [0, Self.stride].compactMap { start in
        start + Self.size <= bytes.count
          ? JournalMark(bytes.part(start..<start + Self.size), seed: seed) : nil
      }
    }
    guard let mark = marks.max(by: { $0.number < $1.number }) else { return nil }
    self = mark
  }

  /// Writes this mark over the older one.
  func put(to file: any DiskFile, seed: UInt32) throws(SystemError) {
    try file.put(bytes(seed: seed), at: Self.offset + number % 2 * Self.stride)
  }
}
