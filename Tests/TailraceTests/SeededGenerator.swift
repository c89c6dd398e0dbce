import Foundation

/// A generator whose runs can be repeated: a failure prints its seed.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  // SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Random cases that can be run again.
enum RandomCases {
  /// The seed of the first case; `TAILRACE_SEED` sets it.
  ///
  /// It is printed before anything runs, because a trap would leave no time for it.
  static let firstSeed: UInt64 = {
    let seed =
      UInt64(ProcessInfo.processInfo.environment["TAILRACE_SEED"] ?? "")
      ?? UInt64.random(in: 0..<1 << 32)
    print("random cases begin at TAILRACE_SEED=\(seed)")
    return seed
  }()

  /// `FULL=1` asks for the sizes that take minutes.
  static let areFull = !(ProcessInfo.processInfo.environment["FULL"] ?? "").isEmpty

  /// How many are run: what an environment variable says, or a number that fits the build.
  ///
  /// - Parameters:
  ///   - usual: how many are run in a debug build where `FULL` does not ask for more; as many as `debug`
  ///     without it.
  ///   - full: how many times as many are run where `FULL` asks for it.
  static func count(
    _ variable: String, usual: Int? = nil, debug: Int, optimised: Int, full: Int = 1
  ) -> Int {
    if let count = Int(ProcessInfo.processInfo.environment[variable] ?? "") { return count }
    let times = areFull ? full : 1
    #if DEBUG
      return areFull ? debug * times : usual ?? debug
    #else
      return optimised * times
    #endif
  }
}
