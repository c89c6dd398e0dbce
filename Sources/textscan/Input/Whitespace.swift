extension UnsafeBufferPointer<UInt8> {
  /// How many bytes the white space at a position has: none if a word is there.
  ///
  /// White space is what parts words for `wc` in a UTF-8 locale, no-break spaces and the word joiner
  /// included. Invalid UTF-8 is no white space, and does not hide any that follows it.
  ///
  /// GNU `wc` 9.1 passes over U+2028 and U+2029 as it does over all that cannot be printed, and so they
  /// are part of a word here. Its later versions count them as white space.
  // Guard: the line that the bytes belong to. May touch them: this call, to read.
  @inline(__always)
  func whitespace(at position: Int) -> Int {
    let byte = self[position]
    if byte < 0x80 { return byte == 0x20 || byte &- 0x09 < 5 ? 1 : 0 }
    // All that is white space begins with one of these.
    return byte == 0xC2 || byte &- 0xE1 < 3 ? longWhitespace(at: position) : 0
  }

  private func longWhitespace(at position: Int) -> Int {
    func byte(_ distance: Int) -> UInt8 {
      position + distance < count ? self[position + distance] : 0
    }
    switch (self[position], byte(1), byte(2)) {
    // No-break space.
    case (0xC2, 0xA0, _): return 2
    // U+1680, U+2000 to U+200A, U+202F.
    case (0xE1, 0x9A, 0x80), (0xE2, 0x80, 0x80...0x8A), (0xE2, 0x80, 0xAF): return 3
    // U+205F, U+2060, U+3000.
    case (0xE2, 0x81, 0x9F...0xA0), (0xE3, 0x80, 0x80): return 3
    default: return 0
    }
  }
}
