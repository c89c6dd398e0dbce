/// Makes the choices of one run, as a value: those of a tape first, then 0 or random ones. It remembers
/// them all.
struct Chooser: Sendable {
  let tape: ExplorationTape
  /// Of how many tasks an earlier run with the same choices could choose, as far as it is known.
  let expected: [Int]
  /// The choices so far, and of how many tasks each was.
  private(set) var chosen: [Int] = []
  private(set) var widths: [Int] = []
  /// The first choice for which there were others to choose from than before.
  private(set) var divergence: Int?
  private var generator: SplitMix64?

  init(_ tape: ExplorationTape, expecting expected: [Int] = []) {
    self.tape = tape
    self.expected = expected
    generator = tape.seed.map(SplitMix64.init)
  }

  /// Chooses one of several that are ready, counted from 0 in the order in which they became that.
  mutating func choose(among width: Int) -> Int {
    let point = widths.count
    widths.append(width)
    if point < expected.count, expected[point] != width { diverges(at: point) }
    var choice = 0
    if point < tape.choices.count {
      choice = tape.choices[point]
      if choice >= width {
        choice = 0
        diverges(at: point)
      }
    } else if generator != nil {
      choice = Int.random(in: 0..<width, using: &generator!)
    }
    chosen.append(choice)
    return choice
  }

  /// The run is over. The tape must have been used up.
  mutating func end() {
    if widths.count < tape.choices.count { diverges(at: widths.count) }
  }

  private mutating func diverges(at point: Int) { divergence = divergence ?? point }
}

/// The random numbers of a seed.
struct SplitMix64: RandomNumberGenerator, Sendable {
  var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
