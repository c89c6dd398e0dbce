/// The events of a signal, a stream or a list, tick by tick, as a line of text.
///
/// ```swift
/// let scheduler = VirtualScheduler()
/// let presses = scheduler.source("-1-2-(34)-|", of: Int.self).signal
/// let recording = scheduler.record(presses.filter { $0 != 2 })
/// scheduler.run()
/// #expect(recording == "-1---(34)-|")
/// ```
///
/// A line begins when the subscription begins, and each sign is one tick of virtual time:
///
/// | sign | at this tick |
/// |---|---|
/// | `-` | nothing |
/// | `a`, `7` | an element with this name, a letter or a digit |
/// | `'10'` | an element with a longer name; a quote in it is `\'`, a backslash `\\` |
/// | `\|` | the end |
/// | `#` | a failure |
/// | `(ab\|)` | all this, in this order |
///
/// A group is one tick, whatever its length. Spaces mean nothing, so that lines can be aligned.
/// Nothing follows an end or a failure. A line without either is as long as the observation:
/// `a-b--` means that nothing happened in two ticks after `b`.
public struct Marbles: Hashable, Sendable {
  /// One event.
  public enum Marble: Hashable, Sendable {
    /// An element, by its name.
    case element(String)
    /// A failure, which is the last event.
    case failure
    /// The end.
    case completed

    /// Whether no event can follow.
    public var isEnding: Bool { if case .element = self { false } else { true } }
  }

  /// The events of each tick, in order.
  public let ticks: [[Marble]]

  /// Creates a line from the events of each tick.
  ///
  /// - Parameters:
  ///   - ticks: an ending must be the last marble of the last tick; otherwise this is a
  ///     programmer's error and traps.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  public init(_ ticks: [[Marble]], file: StaticString = #fileID, line: UInt = #line) {
    guard ticks.joined().dropLast().allSatisfy({ !$0.isEnding }),
      ticks.last?.isEmpty == false || !ticks.joined().contains(where: \.isEnding)
    else {
      fatalError(
        "Marbles: nothing happens after the end or a failure: \(ticks)", file: file, line: line)
    }
    self.ticks = ticks
  }
}

extension Marbles: ExpressibleByStringLiteral {
  /// Creates a line from a literal. An invalid one traps with the message of ``ParsingError``.
  public init(stringLiteral text: String) {
    do throws(ParsingError) { try self.init(parsing: text) } catch {
      fatalError("Marbles: \(error)")
    }
  }
}

extension Marbles: CustomStringConvertible {
  /// The line in its notation, without spaces.
  public var description: String { ticks.map(Self.text).joined() }

  static func text(_ tick: [Marble]) -> String {
    switch tick.count {
    case 0: "-"
    case 1: tick[0].description
    default: "(" + tick.map(\.description).joined() + ")"
    }
  }
}

extension Marbles.Marble: CustomStringConvertible {
  /// The marble's sign.
  public var description: String {
    switch self {
    case .failure: "#"
    case .completed: "|"
    case .element(let name): Self.isSign(name) ? name : Self.quoted(name)
    }
  }

  /// Whether a name is a sign by itself. An accent, which combines with its neighbour, is not.
  private static func isSign(_ name: String) -> Bool {
    guard let sign = name.first, name.count == 1, sign.isLetter || sign.isNumber else {
      return false
    }
    return (name + name).count == 2 && ("a" + name).count == 2
  }

  private static func quoted(_ name: String) -> String {
    let isPlain = "'\(name)'".count == name.count + 2 && !name.contains(where: \.isNewline)
    let signs = name.unicodeScalars.map { scalar in
      if !isPlain { return "\\u{\(String(scalar.value, radix: 16))}" }
      return scalar == "'" || scalar == "\\" ? "\\\(scalar)" : "\(scalar)"
    }
    return "'\(signs.joined())'"
  }
}

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
