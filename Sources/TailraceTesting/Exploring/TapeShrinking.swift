/// Looks for a simpler tape that still fails, as a value: preemptions are taken out, many at once and then
/// one by one, and what is left is brought closer to 0.
struct TapeShrinking: Sendable {
  /// The simplest failing choices so far.
  private(set) var best: [Int]
  /// The most runs that are still spent.
  private var tries: Int
  /// How many preemptions are taken out at once, and where.
  private var size: Int
  private var offset = 0
  private var hasImproved = false
  private var isLowering = false

  init(_ failing: [Int], tries: Int = 1_000) {
    best = ExplorationTape(failing).choices
    self.tries = tries
    size = max(1, best.count { $0 != 0 })
  }

  private static func measure(_ tape: [Int]) -> (Int, Int) {
    (tape.count { $0 != 0 }, tape.reduce(0, +))
  }

  private var preemptions: [Int] { best.indices.filter { best[$0] != 0 } }

  /// A tape to run; `nil` if none may be simpler.
  mutating func next() -> [Int]? {
    while tries > 0 {
      let preemptions = preemptions
      if preemptions.isEmpty { return nil }
      if offset >= preemptions.count {
        guard endPass() else { return nil }
        continue
      }
      var tape = best
      if isLowering {
        guard tape[preemptions[offset]] > 1 else {
          offset += 1
          continue
        }
        tape[preemptions[offset]] -= 1
      } else {
        for point in preemptions[offset..<min(offset + size, preemptions.count)] { tape[point] = 0 }
      }
      tries -= 1
      return ExplorationTape(tape).choices
    }
    return nil
  }

  /// False if nothing is left to try.
  private mutating func endPass() -> Bool {
    offset = 0
    defer { hasImproved = false }
    if isLowering { return hasImproved }
    if size > 1 {
      size /= 2
    } else if !hasImproved {
      isLowering = true
    }
    return true
  }

  /// The tape has been run.
  ///
  /// - Parameter failing: the choices that were made, if the run has failed.
  mutating func ran(failing: [Int]?) {
    if let failing = failing.map({ ExplorationTape($0).choices }),
      Self.measure(failing) < Self.measure(best)
    {
      best = failing
      hasImproved = true
    } else {
      offset += isLowering ? 1 : size
    }
  }
}
