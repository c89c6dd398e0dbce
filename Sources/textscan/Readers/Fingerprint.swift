/// Gives texts numbers of 64 bits, which differ where the texts do, but for chance. None is 0.
///
/// The numbers are other ones each time, so that nobody can choose texts that are mistaken for one another.
struct Fingerprints: Sendable {
  private let first = UInt64.random(in: 1...UInt64.max)
  private let second = UInt64.random(in: 1...UInt64.max)

  /// Sixteen bytes are two numbers; they are multiplied, and the halves of the product are combined.
  // Guard: the text that the bytes belong to. May touch them: this call, to read.
  func fingerprint(of text: UnsafeBufferPointer<UInt8>) -> UInt64 {
    let bytes = UnsafeRawBufferPointer(text)
    var hash = first
    var start = 0
    while bytes.count - start > 16 {
      hash = Self.fold(bytes.word(at: start) ^ second, bytes.word(at: start + 8) ^ hash)
      start += 16
    }
    // The rest is read from both ends. The parts may overlap: the count comes in last.
    let left: UInt64
    let right: UInt64
    switch bytes.count - start {
    case 8...:
      left = bytes.word(at: start)
      right = bytes.word(at: bytes.count - 8)
    case 4...:
      left = bytes.halfWord(at: start)
      right = bytes.halfWord(at: bytes.count - 4)
    case let rest where rest > 0:
      left = UInt64(bytes[start]) << 8 | UInt64(bytes[start + rest / 2])
      right = UInt64(bytes[bytes.count - 1])
    default:
      (left, right) = (0, 0)
    }
    hash = Self.fold(left ^ second, right ^ hash)
    // The golden ratio: bits in no order.
    let last = 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: bytes.count)
    return max(1, Self.fold(hash ^ second, last))
  }

  @inline(__always)
  private static func fold(_ one: UInt64, _ other: UInt64) -> UInt64 {
    let (high, low) = one.multipliedFullWidth(by: other)
    return high ^ low
  }
}

extension UnsafeRawBufferPointer {
  // Guard and who may touch them, here and below: as above.
  @inline(__always)
  fileprivate func word(at offset: Int) -> UInt64 {
    loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }

  @inline(__always)
  fileprivate func halfWord(at offset: Int) -> UInt64 {
    UInt64(loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }
}
