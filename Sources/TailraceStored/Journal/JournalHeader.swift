import FileReading
import TailraceLists

/// The beginning of a journal: written once, twice over, and never again.
///
/// | bytes of each copy | |
/// |---|---|
/// | 0 ..< 8 | `TAILRACE` |
/// | 8 ..< 12 | the version of the format: 3 |
/// | 12 ..< 16 | the checksum of all that follows, up to the end of the name |
/// | 16 ..< 24 | features that a reader must know: none |
/// | 24 ..< 40 | the list's identity: a random number |
/// | 40 ..< 44 | the length of the schema's name |
/// | 48 ..< | the name, in UTF-8 |
///
/// Each copy has a block of its own; either one suffices. The marks follow (``JournalMark``), and
/// then the frames (``JournalFrame``).
struct JournalHeader: Sendable, Equatable {
  static let block = 4096
  /// The offset of the first frame: behind two headers and two marks.
  static let size = 4 * block
  static let version: UInt32 = 3
  private static let magic: UInt64 = 0x4543_4152_4C49_4154
  private static let nameOffset = 48
  static let longestName = block - nameOffset

  let id: JournalID
  let schema: String

  private init(id: JournalID, schema: String) { (self.id, self.schema) = (id, schema) }

  /// The header of a new journal.
  init(schema: String) {
    self.init(id: JournalID(.random(in: 0...(.max)), .random(in: 0...(.max))), schema: schema)
  }

  /// The seed of this journal's checksums.
  var seed: UInt32 { CRC32C.of(id.low, after: CRC32C.of(id.high, after: 0)) }

  /// The name of its predecessor that the first frame has.
  var root: UInt64 { id.low ^ id.high }

  /// Both headers, and the marks of a journal without frames.
  ///
  /// - Parameter boot: the present start of the machine.
  func bytes(in boot: JournalID) -> [UInt8] {
    var copy = [UInt8](repeating: 0, count: Self.block)
    let name = Array(schema.utf8)
    copy.replaceSubrange(Self.nameOffset..<Self.nameOffset + name.count, with: name)
    copy.withUnsafeMutableBytes { bytes in
      bytes.put(Self.magic, at: 0)
      bytes.put(Self.version, at: 8)
      bytes.put(id.high, at: 24)
      bytes.put(id.low, at: 32)
      bytes.put(UInt32(name.count), at: 40)
      bytes.put(Self.checksum(UnsafeRawBufferPointer(bytes), name.count), at: 12)
    }
    var marks = [UInt8](repeating: 0, count: 2 * Self.block)
    marks.replaceSubrange(0..<JournalMark.size, with: JournalMark.initial(boot).bytes(seed: seed))
    return copy + copy + marks
  }

  private static func checksum(_ bytes: UnsafeRawBufferPointer, _ length: Int) -> UInt32 {
    CRC32C.of(bytes.part(16..<nameOffset + length))
  }

  /// Reads the header of a file: the first copy that is whole.
  init(of file: any DiskFile, at path: String) throws {
    var failure: (any Error)?
    for offset in [0, Self.block] {
      do {
        if let copy = try Self.copy(try file.upTo(Self.block, at: offset), at: path) {
          self = copy
          return
        }
      } catch {
        failure = failure ?? error
      }
    }
    throw failure ?? ListStoreError.refused("\(path) is not a stored list")
  }

  /// Whether a copy is not whole, or cannot be read.
  static func hasLostCopy(_ file: any DiskFile) -> Bool {
    [0, block].contains { offset in
      (try? copy(try file.upTo(block, at: offset), at: "")) == nil
    }
  }

  /// A header; `nil` if there is none.
  private static func copy(_ bytes: [UInt8], at path: String) throws -> JournalHeader? {
    try bytes.withUnsafeBytes { bytes in
      guard bytes.count >= nameOffset, bytes.number(UInt64.self, at: 0) == magic else { return nil }
      let version = bytes.number(UInt32.self, at: 8)
      if version != Self.version {
        throw ListStoreError.refused(
          """
          \(path) is a stored list in version \(version) of the format, and this library reads and writes \
          version \(Self.version)
          """)
      }
      let length = Int(bytes.number(UInt32.self, at: 40))
      guard length <= min(longestName, bytes.count - nameOffset),
        bytes.number(UInt32.self, at: 12) == checksum(bytes, length)
      else { throw ListStoreError.damaged(at: 0) }
      let features = bytes.number(UInt64.self, at: 16)
      if features != 0 {
        throw ListStoreError.refused(
          """
          \(path) is a stored list with features that this library does not know \
          (\(String(features, radix: 16)))
          """)
      }
      return JournalHeader(
        id: JournalID(bytes.number(UInt64.self, at: 24), bytes.number(UInt64.self, at: 32)),
        schema: String(decoding: bytes.part(nameOffset..<nameOffset + length), as: UTF8.self))
    }
  }
}

/// A random number that tells one journal, or one start of a machine, from another.
package struct JournalID: Sendable, Hashable, CustomStringConvertible {
  package let high: UInt64
  package let low: UInt64

  package init(_ high: UInt64, _ low: UInt64) { (self.high, self.low) = (high, low) }

  /// Stands for an unknown one.
  package static let none = JournalID(0, 0)

  /// 32 hexadecimal digits.
  package var description: String {
    [high, low].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
