/// The elements of a JSON array, as ranges of its bytes.
///
/// It only looks for where elements begin and end: decoding them checks the rest.
enum JSONArray {
  /// - Returns: the ranges; `nil` if the bytes are no array, or only a part of one.
  static func elements(of bytes: [UInt8]) -> [Range<Int>]? {
    bytes.withUnsafeBufferPointer { elements(of: $0) }
  }

  private static func elements(of bytes: UnsafeBufferPointer<UInt8>) -> [Range<Int>]? {
    guard let open = bytes.firstIndex(where: { !isSpace($0) }), bytes[open] == UInt8(ascii: "[")
    else { return nil }
    var ranges: [Range<Int>] = []
    var (start, depth, isString) = (open + 1, 1, false)
    var index = open + 1
    while index < bytes.count, depth > 0 {
      switch bytes[index] {
      case UInt8(ascii: "\\") where isString: index += 1
      case UInt8(ascii: "\""): isString.toggle()
      case _ where isString: break
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        depth -= 1
        if depth == 0 {
          if let last = trimmed(start..<index, bytes) {
            ranges.append(last)
          } else if !ranges.isEmpty {
            return nil
          }
        }
      case UInt8(ascii: ",") where depth == 1:
        guard let element = trimmed(start..<index, bytes) else { return nil }
        ranges.append(element)
        start = index + 1
      default: break
      }
      index += 1
    }
    guard depth == 0, bytes[index...].allSatisfy(isSpace) else { return nil }
    return ranges
  }

  private static func trimmed(
    _ range: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>
  ) -> Range<Int>? {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, isSpace(bytes[start]) { start += 1 }
    while start < end, isSpace(bytes[end - 1]) { end -= 1 }
    return start < end ? start..<end : nil
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }
}
