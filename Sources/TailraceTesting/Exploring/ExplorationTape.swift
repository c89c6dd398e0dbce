/// The choices of one run of ``explore(_:replaying:countingIssues:body:)``: which task continues, wherever
/// more than one could.
///
/// ```swift
/// let tape: ExplorationTape = "0 0 1"
/// ```
///
/// On this one, at the third choice the second task continues instead of the first.
///
/// Each number counts the tasks that are passed over, in the order in which they became ready. Choices
/// that are not on the tape are 0: first come, first served. A failure of `explore` prints its tape.
/// `"random 7"` stands for the choices that follow from a seed. `"free"` in front says that time was a
/// choice, too (``ExplorationOptions/timeIsFree``): a replay takes that from the tape.
public struct ExplorationTape: Hashable, Sendable {
  var choices: [Int]
  /// Chooses after the end of the choices; else those are 0.
  var seed: UInt64?
  /// Whether the choices are of a run whose time was free.
  var timeIsFree = false

  /// Choices of 0 at the end are left out.
  init(_ choices: [Int], seed: UInt64? = nil) {
    var choices = choices
    if seed == nil { while choices.last == 0 { choices.removeLast() } }
    (self.choices, self.seed) = (choices, seed)
  }

  /// How many choices are not the first in line.
  var preemptions: Int { choices.count { $0 != 0 } }
}

extension ExplorationTape: LosslessStringConvertible {
  /// The text that makes this tape.
  public var description: String {
    let words =
      (timeIsFree ? ["free"] : []) + (seed.map { ["random \($0)"] } ?? choices.map(String.init))
    return words.joined(separator: " ")
  }

  /// Creates a tape from the text that a failure has printed. `nil` if it is no such text.
  public init?(_ text: String) {
    var words = text.split(separator: " ")
    let isFree = words.first == "free"
    if isFree { words.removeFirst() }
    if words.first == "random" {
      guard words.count == 2, let seed = UInt64(words[1]) else { return nil }
      self.init([], seed: seed)
    } else {
      let choices = words.compactMap { Int($0) }.filter { $0 >= 0 }
      guard choices.count == words.count else { return nil }
      self.init(choices)
    }
    timeIsFree = isFree
  }
}

extension ExplorationTape: ExpressibleByStringLiteral {
  /// Creates a tape from the text that a failure has printed, as a literal.
  public init(stringLiteral text: String) {
    guard let tape = Self(text) else {
      fatalError(
        "ExplorationTape: “\(text)” is no tape; use the text that a failure has printed, numbers such "
          + "as “0 0 1”, or “random” and a seed, with “free” in front where time was free")
    }
    self = tape
  }
}
