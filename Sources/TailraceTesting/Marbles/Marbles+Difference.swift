extension Marbles {
  /// A difference between two lines.
  ///
  /// ```
  /// expected  a-b-|
  /// recorded  a--b|
  ///             ^ tick 2
  /// ```
  public struct Difference: Hashable, Sendable, CustomStringConvertible {
    /// The expected line.
    public let expected: Marbles
    /// The differing line.
    public let recorded: Marbles

    /// The first tick whose events differ.
    public var tick: Int { zip(expected.ticks, recorded.ticks).prefix { $0 == $1 }.count }

    /// Both lines, one above the other, with equal ticks in equal columns.
    public var description: String {
      var lines = ("expected  ", "recorded  ")
      var mark = ""
      for index in 0..<max(expected.ticks.count, recorded.ticks.count) {
        let texts = (Self.text(expected, index), Self.text(recorded, index))
        if index == tick { mark = String(repeating: " ", count: lines.0.count) + "^ tick \(tick)" }
        let width = max(texts.0.count, texts.1.count)
        lines.0 += texts.0 + String(repeating: " ", count: width - texts.0.count)
        lines.1 += texts.1 + String(repeating: " ", count: width - texts.1.count)
      }
      return [lines.0, lines.1, mark].map(Self.withoutSpacesAtEnd).joined(separator: "\n")
    }

    private static func text(_ marbles: Marbles, _ index: Int) -> String {
      index < marbles.ticks.count ? Marbles.text(marbles.ticks[index]) : ""
    }

    private static func withoutSpacesAtEnd(_ line: String) -> String {
      String(line.reversed().drop { $0 == " " }.reversed())
    }
  }

  /// Returns how this line differs from the expected one, `nil` if it does not.
  ///
  /// ```swift
  /// #expect(marbles.difference(from: "a-b-|") == nil)
  /// ```
  public func difference(from expected: Marbles) -> Difference? {
    self == expected ? nil : Difference(expected: expected, recorded: self)
  }
}
