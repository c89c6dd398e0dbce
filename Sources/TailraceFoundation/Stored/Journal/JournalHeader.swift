import Foundation
import Tailrace

/// The beginning of a journal.
///
/// | bytes | |
/// |---|---|
/// | 0 ..< 8 | `TAILRACE` |
/// | 8 ..< 12 | the version of the format |
/// | 12 ..< 16 | the checksum of what follows, up to the cells, and of the name |
/// | 16 ..< 32 | a random number: a frame of one journal is none in another |
/// | 32 ..< 40 | a hash of the schema's name |
/// | 40 ..< 44 | the length of the name |
/// | 64 ..< 96 | the cells (``JournalCells``) |
/// | 96 ..< 112 | the last repair (``JournalRepair``) |
/// | 128 ..< | the schema's name, filled up to a multiple of 8 |
///
/// It is written once, as a whole, except for the cells and the repair.
struct JournalHeader: Sendable, Equatable {
  static let fixedSize = 128
  private static let magic: UInt64 = 0x4543_4152_4C49_4154
  private static let version: UInt32 = 1

  let id: (UInt64, UInt64)
  let schema: String

  static func == (one: Self, other: Self) -> Bool {
    one.id == other.id && one.schema == other.schema
  }

  /// The header of a new journal.
  init(schema: String) {
    id = (.random(in: 0...(.max)), .random(in: 0...(.max)))
    self.schema = schema
  }

  /// The seed of this journal's checksums.
  var seed: UInt32 { CRC32C.of(id.1, after: CRC32C.of(id.0, after: 0)) }

  /// The offset of the first frame.
  var size: Int { Self.fixedSize + (schema.utf8.count + 7) / 8 * 8 }

  var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: size)
    bytes.replaceSubrange(Self.fixedSize..<Self.fixedSize + schema.utf8.count, with: schema.utf8)
    let cells = JournalCells(visible: size, synced: size, last: 0, first: size)
    bytes.withUnsafeMutableBytes { bytes in
      bytes.put(Self.magic, at: 0)
      bytes.put(Self.version, at: 8)
      bytes.put(id.0, at: 16)
      bytes.put(id.1, at: 24)
      bytes.put(Self.hash(schema), at: 32)
      bytes.put(UInt32(schema.utf8.count), at: 40)
      bytes.put(Self.checksum(UnsafeRawBufferPointer(bytes)), at: 12)
      cells.put(into: bytes, at: JournalCells.offset, seed: seed)
    }
    return bytes
  }

  /// Reads the header of a file, which must have the given schema.
  init(of file: any DiskFile, expecting schema: String, at path: String) throws {
    guard let fixed = try file.bytes(Self.fixedSize, at: 0),
      fixed.withUnsafeBytes({ $0.number(UInt64.self, at: 0) }) == Self.magic
    else { throw ListStoreError.refused("\(path) is not a stored list") }
    let version = fixed.withUnsafeBytes { $0.number(UInt32.self, at: 8) }
    guard version == Self.version else {
      throw ListStoreError.refused(
        "\(path) is a stored list in version \(version) of the format; this is version \(Self.version)"
      )
    }
    let length = Int(fixed.withUnsafeBytes { $0.number(UInt32.self, at: 40) })
    guard length < 1 << 16, let name = try file.bytes(length, at: Self.fixedSize) else {
      throw ListStoreError.damaged(at: 0)
    }
    id = fixed.withUnsafeBytes {
      ($0.number(UInt64.self, at: 16), $0.number(UInt64.self, at: 24))
    }
    self.schema = String(decoding: name, as: UTF8.self)
    let isWhole = (fixed + name).withUnsafeBytes {
      $0.number(UInt32.self, at: 12) == Self.checksum($0)
        && $0.number(UInt64.self, at: 32) == Self.hash(self.schema)
    }
    guard isWhole else { throw ListStoreError.damaged(at: 0) }
    guard self.schema == schema else {
      throw ListStoreError.otherSchema(found: self.schema, expected: schema)
    }
  }

  /// Of the fixed part without magic, version and cells, and of the bytes after the cells.
  private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    let length = Int(bytes.number(UInt32.self, at: 40))
    let fixed = CRC32C.of(bytes.part(16..<JournalCells.offset))
    let end = min(fixedSize + length, bytes.count)
    return CRC32C.of(bytes.part(min(fixedSize, end)..<end), after: fixed)
  }

  private static func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
  }
}

/// Places in a journal that are rewritten: hints for readers, and a promise.
///
/// Each has eight bytes: 48 bits of an offset, and 16 check bits. An invalid one is ignored.
struct JournalCells: Sendable, Equatable {
  static let offset = 64
  static let size = 32
  /// Stands for the end of the file: every complete frame may be read.
  static let everything = (1 << 48) - 1

  /// Followers may read up to here; or `everything`.
  var visible: Int?
  /// The bytes up to here are known to be on the disk: they must stay there for ever.
  var synced: Int?
  /// The offset of one of the last frames; 0 if there is none yet.
  var last: Int?
  /// The offset of the first frame kept.
  var first: Int?

  /// Whether followers may read up to a place, and not to the end of the file.
  var isExact: Bool { visible.map { $0 < Self.everything } ?? false }

  /// The bytes up to here were shown to readers, or were on the disk: they must be there.
  var promised: Int { max(isExact ? visible ?? 0 : 0, synced ?? 0) }

  init(visible: Int?, synced: Int?, last: Int?, first: Int?) {
    (self.visible, self.synced, self.last, self.first) = (visible, synced, last, first)
  }

  init(of file: any DiskFile, seed: UInt32) throws {
    let bytes = try file.upTo(Self.size, at: Self.offset)
    let cells = bytes.withUnsafeBytes { bytes in
      (0..<4).map { $0 * 8 + 8 <= bytes.count ? Self.cell($0, bytes, seed) : nil }
    }
    (visible, synced, last, first) = (cells[0], cells[1], cells[2], cells[3])
  }

  /// The first cells, as bytes.
  func bytes(_ count: Int, seed: UInt32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    bytes.withUnsafeMutableBytes { put(into: $0, at: 0, seed: seed) }
    return Array(bytes.prefix(count * 8))
  }

  func put(into bytes: UnsafeMutableRawBufferPointer, at offset: Int, seed: UInt32) {
    for (index, cell) in [visible, synced, last, first].enumerated() {
      bytes.put(Self.word(index, cell ?? 0, seed), at: offset + index * 8)
    }
  }

  static func word(_ index: Int, _ offset: Int, _ seed: UInt32) -> UInt64 {
    let place = UInt64(offset)
    return place | UInt64(CRC32C.of(place | UInt64(index + 1) << 56, after: seed) & 0xFFFF) << 48
  }

  private static func cell(_ index: Int, _ bytes: UnsafeRawBufferPointer, _ seed: UInt32) -> Int? {
    number(bytes.number(UInt64.self, at: index * 8), index, seed)
  }

  /// The number in a word with check bits; `nil` if it is not the word of that index.
  static func number(_ found: UInt64, _ index: Int, _ seed: UInt32) -> Int? {
    let number = Int(found & UInt64(everything))
    return found == word(index, number, seed) ? number : nil
  }
}

/// The last repair of a journal: it tells those who have read the discarded elements.
///
/// It is written before anything is removed, as under way, and again afterwards. In between readers
/// are given only elements that will be left.
struct JournalRepair: Sendable, Equatable {
  static let offset = JournalCells.offset + JournalCells.size

  /// Two for each repair; odd while one is under way, or if it was interrupted.
  private(set) var number = 0
  /// How many elements it leaves, and one more for the end of the list.
  private(set) var left = 0

  /// How many repairs there were.
  var count: Int { (number + 1) / 2 }
  var isUnderWay: Bool { number % 2 == 1 }

  init() {}

  /// `nil` if the bytes are no repair: they are being written, or damaged.
  init?(of file: any DiskFile, seed: UInt32) throws {
    let bytes = try file.upTo(16, at: Self.offset)
    // There was none yet.
    guard bytes.contains(where: { $0 != 0 }) else { return }
    let isWhole = bytes.withUnsafeBytes { bytes in
      guard bytes.count == 16,
        let number = JournalCells.number(bytes.number(UInt64.self, at: 8), 5, seed),
        let left = JournalCells.number(
          bytes.number(UInt64.self, at: 0), 4, Self.seed(seed, of: number))
      else { return false }
      (self.number, self.left) = (number, left)
      return true
    }
    if !isWhole { return nil }
  }

  /// Stands for a repair whose record is damaged. Stores may know its number. So the next repair gets
  /// one that none before can have had, unless the clock was set back: it is that of a moment.
  static func lost(at moment: Date) -> JournalRepair {
    var repair = JournalRepair()
    repair.number = 2 * Int(moment.timeIntervalSince1970 * 1000)
    return repair
  }

  /// The next repair, under way. An interrupted one that leaves as much is continued.
  func next(leaving left: Int) -> JournalRepair {
    if isUnderWay, left == self.left { return self }
    var next = self
    (next.number, next.left) = (count * 2 + 1, left)
    return next
  }

  /// This repair, which was under way, when it is done.
  var done: JournalRepair {
    var done = self
    done.number = count * 2
    return done
  }

  func bytes(seed: UInt32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 16)
    bytes.withUnsafeMutableBytes { bytes in
      bytes.put(JournalCells.word(4, left, Self.seed(seed, of: number)), at: 0)
      bytes.put(JournalCells.word(5, number, seed), at: 8)
    }
    return bytes
  }

  /// The words of two repairs do not match: a reader may see one of each.
  private static func seed(_ seed: UInt32, of number: Int) -> UInt32 {
    seed ^ UInt32(truncatingIfNeeded: number)
  }
}
