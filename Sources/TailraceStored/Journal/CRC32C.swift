/// The checksum of frames: CRC-32C, eight bytes at a time.
enum CRC32C {
  /// Eight tables of 256 words, one after another.
  // Guard: never written after creation, and never freed. May read it: everybody.
  private nonisolated(unsafe) static let tables: UnsafePointer<UInt32> = {
    let tables = UnsafeMutablePointer<UInt32>.allocate(capacity: 8 * 256)
    for byte in 0..<256 {
      var word = UInt32(byte)
      for _ in 0..<8 { word = word & 1 == 1 ? (word >> 1) ^ 0x82F6_3B78 : word >> 1 }
      tables[byte] = word
    }
    for index in 256..<8 * 256 {
      let before = tables[index - 256]
      tables[index] = before >> 8 ^ tables[Int(before & 0xFF)]
    }
    return UnsafePointer(tables)
  }()

  /// The checksum of some bytes, continuing from `seed`.
  static func of(_ bytes: UnsafeRawBufferPointer, after seed: UInt32 = 0) -> UInt32 {
    let tables = tables
    var sum = ~seed
    var index = 0
    while index + 8 <= bytes.count {
      let low = bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self).littleEndian ^ sum
      let high = bytes.loadUnaligned(fromByteOffset: index + 4, as: UInt32.self).littleEndian
      let first =
        tables[7 * 256 + Int(low & 0xFF)] ^ tables[6 * 256 + Int(low >> 8 & 0xFF)]
        ^ tables[5 * 256 + Int(low >> 16 & 0xFF)] ^ tables[4 * 256 + Int(low >> 24)]
      let second =
        tables[3 * 256 + Int(high & 0xFF)] ^ tables[2 * 256 + Int(high >> 8 & 0xFF)]
        ^ tables[256 + Int(high >> 16 & 0xFF)] ^ tables[Int(high >> 24)]
      sum = first ^ second
      index += 8
    }
    while index < bytes.count {
      sum = sum >> 8 ^ tables[Int((sum ^ UInt32(bytes[index])) & 0xFF)]
      index += 1
    }
    return ~sum
  }

  /// The checksum of a number, continuing from `seed`.
  static func of(_ number: UInt64, after seed: UInt32) -> UInt32 {
    withUnsafeBytes(of: number.littleEndian) { of($0, after: seed) }
  }
}

extension UnsafeRawBufferPointer {
  /// A number, least significant byte first.
  func number<T: FixedWidthInteger>(_: T.Type, at offset: Int) -> T {
    T(littleEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[range])
  }
}

extension UnsafeMutableRawBufferPointer {
  func put(_ number: some FixedWidthInteger, at offset: Int) {
    storeBytes(of: number.littleEndian, toByteOffset: offset, as: type(of: number))
  }
}
