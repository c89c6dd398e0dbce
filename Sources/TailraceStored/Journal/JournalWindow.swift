import FileReading

/// Some bytes of a file.
struct JournalWindow {
  let file: any DiskFile
  /// How many bytes are read at once: twice as many each time, up to the most.
  private var size: Int
  private let most: Int
  private(set) var start = 0
  private(set) var bytes: [UInt8] = []

  init(_ file: any DiskFile, size: Int, atMost most: Int) {
    (self.file, self.size, self.most) = (file, size, most)
  }

  func has(_ range: Range<Int>) -> Bool {
    start <= range.lowerBound && range.upperBound <= start + bytes.count
  }

  /// Reads bytes from a place on: the required ones and more, but none after the limit.
  mutating func load(_ offset: Int, atLeast count: Int, upTo limit: Int) throws(SystemError) {
    start = offset
    do throws(SystemError) {
      bytes = try file.upTo(min(max(count, size), limit - offset), at: offset)
    } catch {
      // Perhaps only what is behind them cannot be read.
      bytes = try file.upTo(min(count, limit - offset), at: offset)
    }
    size = min(2 * size, max(most, size))
  }

  /// The header of a frame, if there is one.
  func frame(at offset: Int, seed: UInt32) -> JournalFrame? {
    let place = offset - start
    guard place >= 0, place + JournalFrame.headerSize <= bytes.count else { return nil }
    return bytes.withUnsafeBytes {
      JournalFrame($0.part(place..<place + JournalFrame.headerSize), at: offset, seed: seed)
    }
  }

  /// The checksum of some bytes; `nil` if they are not here.
  func checksum(of range: Range<Int>, seed: UInt32) -> UInt32? {
    guard has(range) else { return nil }
    return bytes.withUnsafeBytes {
      CRC32C.of($0.part(range.lowerBound - start..<range.upperBound - start), after: seed)
    }
  }
}
