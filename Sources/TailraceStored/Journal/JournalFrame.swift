/// A commit in a journal: stored whole or not at all.
///
/// ```
/// ┌ header, 64 ┬ lengths, 4 each ┬ elements ┬ state ┐┌ header …
/// ```
///
/// | bytes | |
/// |---|---|
/// | 0 ..< 4 | `TRF3` |
/// | 4 ..< 8 | the checksum of the header, of the journal and of the place: a copy elsewhere is no frame |
/// | 8 ..< 16 | length and checksum of what lies between header and state |
/// | 16 ..< 28 | the position of the first element, and how many there are |
/// | 28 ..< 31 | flags (1 the end, 2 a state), versions of elements and state |
/// | 32 ..< 40 | the name of the frame before: the frames are a chain |
/// | 40 ..< 48 | length and checksum of the state |
/// | 48 ..< 60 | where an earlier frame begins, and how many frames that is back (``JournalJumps``) |
/// | 60 ..< 64 | the length of the frame before |
///
/// After the header, a frame without a state has eight bytes: the offset of the last one with a
/// state. A frame's name is made of its checksums, and that of the first one's predecessor of the
/// list's identity.
struct JournalFrame: Sendable, Equatable {
  static let headerSize = 64
  private static let magic: UInt32 = 0x3346_5254
  /// The first byte of a frame.
  static let firstByte = UInt8(ascii: "T")
  /// No offset or position is greater.
  static let farthest = (1 << 48) - 1
  /// The most bytes of elements and state: of one element, since several have at most 1 MiB.
  static let longest = 1 << 28
  static let endFlag: UInt8 = 1
  static let stateFlag: UInt8 = 2

  var elementsLength = 0
  var elementsChecksum: UInt32 = 0
  var position = 0
  var count = 0
  var flags: UInt8 = 0
  var elementVersion: UInt8 = 0
  var stateVersion: UInt8 = 0
  var previous: UInt64 = 0
  var stateLength = 0
  var stateChecksum: UInt32 = 0
  var jump = 0
  var span = 0
  var previousLength = 0
  private var checksum: UInt32 = 0

  /// The frame after it has this number: a frame that is whole, and has it, follows this one.
  var name: UInt64 { UInt64(checksum) << 32 | UInt64(elementsChecksum ^ stateChecksum) }
  var length: Int { Self.headerSize + elementsLength + stateLength }
  var hasState: Bool { flags & Self.stateFlag != 0 }
  var isEnd: Bool { flags & Self.endFlag != 0 }
  /// The positions of its elements.
  var positions: Range<Int> { position..<position + count }
  /// The offset of the lengths, counted from the header's end.
  var lengthsOffset: Int { hasState ? 0 : 8 }

  init() {}

  /// Reads a header; `nil` if there is none at this place.
  init?(_ bytes: UnsafeRawBufferPointer, at offset: Int, seed: UInt32) {
    guard bytes.count >= Self.headerSize, bytes.number(UInt32.self, at: 0) == Self.magic,
      bytes.number(UInt32.self, at: 4) == Self.checksum(bytes, at: offset, seed)
    else { return nil }
    elementsLength = Int(bytes.number(UInt32.self, at: 8))
    elementsChecksum = bytes.number(UInt32.self, at: 12)
    position = Int(truncatingIfNeeded: bytes.number(UInt64.self, at: 16))
    count = Int(bytes.number(UInt32.self, at: 24))
    flags = bytes[28]
    elementVersion = bytes[29]
    stateVersion = bytes[30]
    previous = bytes.number(UInt64.self, at: 32)
    stateLength = Int(bytes.number(UInt32.self, at: 40))
    stateChecksum = bytes.number(UInt32.self, at: 44)
    jump = Int(truncatingIfNeeded: bytes.number(UInt64.self, at: 48))
    span = Int(bytes.number(UInt32.self, at: 56))
    previousLength = Int(bytes.number(UInt32.self, at: 60))
    checksum = bytes.number(UInt32.self, at: 4)
    // The checksum is right, so the writer was faulty or malicious.
    let places = 0...Self.farthest
    guard elementsLength >= lengthsOffset + 4 * count, places.contains(position),
      places.contains(jump), jump < offset
    else { return nil }
  }

  /// Writes the header into the first bytes.
  mutating func put(into bytes: UnsafeMutableRawBufferPointer, at offset: Int, seed: UInt32) {
    bytes.put(Self.magic, at: 0)
    bytes.put(UInt32(elementsLength), at: 8)
    bytes.put(elementsChecksum, at: 12)
    bytes.put(UInt64(position), at: 16)
    bytes.put(UInt32(count), at: 24)
    bytes[28] = flags
    bytes[29] = elementVersion
    bytes[30] = stateVersion
    bytes.put(previous, at: 32)
    bytes.put(UInt32(stateLength), at: 40)
    bytes.put(stateChecksum, at: 44)
    bytes.put(UInt64(jump), at: 48)
    bytes.put(UInt32(truncatingIfNeeded: span), at: 56)
    bytes.put(UInt32(previousLength), at: 60)
    checksum = Self.checksum(UnsafeRawBufferPointer(bytes), at: offset, seed)
    bytes.put(checksum, at: 4)
  }

  private static func checksum(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, _ seed: UInt32
  ) -> UInt32 {
    CRC32C.of(bytes.part(8..<headerSize), after: CRC32C.of(UInt64(offset), after: seed))
  }
}

/// A frame in progress: the bytes of elements and state, after room for the header.
@usableFromInline
package struct JournalDraft: Sendable {
  @usableFromInline package var bytes: [UInt8]
  @usableFromInline let count: Int
  @usableFromInline let hasState: Bool
  @usableFromInline let isEnd: Bool
  /// The place of the next length, and the beginning of the bytes that it counts.
  @usableFromInline var slot: Int
  @usableFromInline var start: Int
  /// The beginning of the state.
  @usableFromInline var stateStart: Int

  @_alwaysEmitIntoClient
  init(count: Int, hasState: Bool, isEnd: Bool) {
    self.count = count
    self.hasState = hasState
    self.isEnd = isEnd
    slot = 64 + (hasState ? 0 : 8)
    start = slot + 4 * count
    stateStart = start
    bytes = []
    bytes.reserveCapacity(start + 96 * (count + 1))
    bytes.append(contentsOf: repeatElement(0, count: start))
  }

  /// Whether the bytes of the elements are more than a frame of several has.
  @_alwaysEmitIntoClient var isTooLarge: Bool { bytes.count > 1 << 20 }

  /// The bytes of one element were appended.
  @_alwaysEmitIntoClient
  mutating func endElement() {
    var length = bytes.count - start
    for index in 0..<4 {
      bytes[slot + index] = UInt8(truncatingIfNeeded: length)
      length >>= 8
    }
    slot += 4
    start = bytes.count
    stateStart = start
  }
}
