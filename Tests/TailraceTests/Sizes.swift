import Testing

extension Tag {
  /// A suite that takes more than about two seconds in a debug build, or would at its full size.
  @Tag static var long: Self
}

/// How much a long test does.
enum Size {
  /// A size that keeps its meaning in a debug build; the full one in an optimised build, and where `FULL`
  /// asks for it.
  static func usual(_ usual: Int, full: Int) -> Int {
    #if DEBUG
      return RandomCases.areFull ? full : usual
    #else
      return full
    #endif
  }
}
