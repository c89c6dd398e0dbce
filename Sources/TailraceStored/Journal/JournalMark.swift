import FileReading

/// What a writer has promised, and where readers begin to look.
///
/// | bytes | |
/// |---|---|
/// | 0 ..< 4 | `TRM3` |
/// | 4 ..< 8 | the checksum of what follows, and of the journal |
/// | 8 ..< 16 | the number of this mark |
/// | 16 ..< 32 | the start of the machine in which it was written; 0 if unknown |
/// | 32 ..< 48 | up to where the journal was written, and the last frame before |
/// | 48 ..< 64 | up to where it was on the disk, and the last frame before |
/// | 64 ..< 80 | the first frame kept, and the position of its first element |
/// | 80 ..< 88 | the list's history: another random number after elements may have been lost; 0 at first |
/// | 88 ..< 96 | 1 if readers may have seen what is not on the disk, or will; 2 if they do |
///
/// There are two, in blocks of their own, written in turn: the whole one with the higher number
/// counts. Nothing else in a journal is ever rewritten. A mark that is lost in a loss of power leaves
/// an older one, which promises less, and no less than has been on the disk.
struct JournalMark: Sendable, Equatable {
  static let offset = 2 * JournalHeader.block
  static let size = 96
  /// From one mark to the other: what a disk writes, or loses, as a whole is no larger.
  static let stride = JournalHeader.block
  private static let magic: UInt32 = 0x334D_5254

  var number = 0
  var boot = JournalID.none
  var written = JournalHeader.size
  /// The offset of the last frame that was written; 0 if there is none.
  var writtenLast = 0
  var synced = JournalHeader.size
  /// The offset of the last frame that was synced; 0 if there is none.
  var syncedLast = 0
  var first = JournalHeader.size
  var firstPosition = 0
  var history: UInt64 = 0
  /// Whether readers may have seen frames behind those that were synced. It is on the disk before they do.
  var mayShowUnsynced = false
  /// Whether they do.
  var showsUnsynced = false
  /// Whether the disk cannot read the other mark, which may be the newer one. It is not stored.
  private(set) var isAlone = false

  init() {}

  /// The mark of a file without frames. Whoever writes it may show what is not on the disk.
  static func initial(_ boot: JournalID) -> JournalMark {
    var mark = JournalMark()
    mark.boot = boot
    (mark.mayShowUnsynced, mark.showsUnsynced) = (true, true)
    return mark
  }

  /// Whether all that was written is still there, unless something is damaged: the machine has not
  /// been started anew.
  func isOf(_ boot: JournalID) -> Bool { boot != .none && boot == self.boot }

  /// Whether the machine has been started anew since: what is in the file has been read from the disk.
  func isBefore(_ boot: JournalID) -> Bool {
    boot != .none && self.boot != .none && boot != self.boot
  }

  /// The bytes up to here must be there.
  func promised(in boot: JournalID) -> Int { isOf(boot) ? max(written, synced) : synced }

  /// Followers may read up to here. `nil`: all that is whole. After a loss of power what is whole is
  /// on the disk.
  func bound(in boot: JournalID) -> Int? {
    showsUnsynced || isAlone || (boot != .none && !isOf(boot)) ? nil : synced
  }

  /// The last frame that must be there, or the first one, and where the search for the end begins.
  func last(in boot: JournalID) -> Int {
    let last = isOf(boot) ? max(writtenLast, syncedLast) : syncedLast
    return last == 0 ? first : max(last, first)
  }

  /// Whether readers may have seen frames that are not in the file any more, if they are not promised.
  var mayHaveShownMore: Bool { mayShowUnsynced || isAlone }

  func bytes(seed: UInt32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    bytes.withUnsafeMutableBytes { bytes in
      bytes.put(Self.magic, at: 0)
      let fields: [UInt64] = [
        UInt64(number), boot.high, boot.low, UInt64(written), UInt64(writtenLast), UInt64(synced),
        UInt64(syncedLast), UInt64(first), UInt64(firstPosition), history,
        UInt64((mayShowUnsynced ? 1 : 0) | (showsUnsynced ? 2 : 0)),
      ]
      for (index, field) in fields.enumerated() {
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
    (first, firstPosition, history) = (place(7), place(8), field(9))
    (mayShowUnsynced, showsUnsynced) = (field(10) & 1 != 0, field(10) & 2 != 0)
    // The checksum is right: a faulty writer.
    let places = 0...JournalFrame.farthest
    guard
      [number, written, writtenLast, synced, syncedLast, firstPosition]
        .allSatisfy(places.contains), first >= JournalHeader.size, places.contains(first)
    else { return nil }
  }

  /// The mark that counts; `nil` if neither is whole.
  ///
  /// A mark that the disk cannot read leaves the other one.
  init?(of file: any DiskFile, seed: UInt32) throws(SystemError) {
    var marks: [JournalMark] = []
    var failure: SystemError?
    for start in [0, Self.stride] {
      do throws(SystemError) {
        let bytes = try file.upTo(Self.size, at: Self.offset + start)
        if let mark = bytes.withUnsafeBytes({ JournalMark($0, seed: seed) }) { marks.append(mark) }
      } catch {
        failure = error
      }
    }
    guard let mark = marks.max(by: { $0.number < $1.number }) else {
      if let failure { throw failure }
      return nil
    }
    self = mark
    isAlone = failure != nil
  }

  /// Writes this mark over the older one.
  func put(to file: any DiskFile, seed: UInt32) throws(SystemError) {
    try file.put(bytes(seed: seed), at: Self.offset + number % 2 * Self.stride)
  }
}
