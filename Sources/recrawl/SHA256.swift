/// The digest that `sha256sum` prints.
struct SHA256 {
  /// The fractional parts of the cube roots of the first 64 primes, as the standard has them.
  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
    0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe,
    0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f,
    0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da, 0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
    0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc,
    0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070, 0x19a4_c116,
    0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
    0xc671_78f2,
  ]

  private var words: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
    0x5be0_cd19,
  ]
  private var rest: [UInt8] = []
  private var length: UInt64 = 0

  /// Takes more bytes.
  mutating func update(_ bytes: [UInt8]) {
    length += UInt64(bytes.count)
    rest += bytes
    let whole = rest.count / 64 * 64
    guard whole > 0 else { return }
    rest.withUnsafeBytes { bytes in
      for start in stride(from: 0, to: whole, by: 64) { take(bytes, start) }
    }
    rest.removeFirst(whole)
  }

  /// The digest of all bytes, in hexadecimal digits.
  consuming func digest() -> String {
    let bits = length * 8
    let zeros = (119 - rest.count % 64) % 64
    var last = [0x80] + [UInt8](repeating: 0, count: zeros)
    for shift in stride(from: 56, through: 0, by: -8) {
      last.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    update(last)
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: words.flatMap { word in
        stride(from: 28, through: 0, by: -4).map { digits[Int(word >> UInt32($0) & 15)] }
      }, as: UTF8.self)
  }

  // Guard: the bytes belong to the array that lends them. May touch them: this call, to read.
  private mutating func take(_ bytes: UnsafeRawBufferPointer, _ start: Int) {
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
      for index in 0..<16 {
        schedule[index] = UInt32(
          bigEndian: bytes.loadUnaligned(fromByteOffset: start + index * 4, as: UInt32.self))
      }
      for index in 16..<64 {
        let (two, fifteen) = (schedule[index - 2], schedule[index - 15])
        let first = fifteen.turned(7) ^ fifteen.turned(18) ^ fifteen >> 3
        let second = two.turned(17) ^ two.turned(19) ^ two >> 10
        schedule[index] = schedule[index - 16] &+ first &+ schedule[index - 7] &+ second
      }
      var (a, b, c, d) = (words[0], words[1], words[2], words[3])
      var (e, f, g, h) = (words[4], words[5], words[6], words[7])
      Self.constants.withUnsafeBufferPointer { constants in
        for index in 0..<64 {
          let first = e.turned(6) ^ e.turned(11) ^ e.turned(25)
          let choice = e & f ^ ~e & g
          let one = h &+ first &+ choice &+ constants[index] &+ schedule[index]
          let second = a.turned(2) ^ a.turned(13) ^ a.turned(22)
          let two = second &+ (a & b ^ a & c ^ b & c)
          (h, g, f, e) = (g, f, e, d &+ one)
          (d, c, b, a) = (c, b, a, one &+ two)
        }
      }
      for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { words[index] &+= word }
    }
  }
}

extension UInt32 {
  fileprivate func turned(_ count: UInt32) -> UInt32 { self >> count | self << (32 - count) }
}
