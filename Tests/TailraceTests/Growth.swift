/// How many times longer something takes when there is eight times as much of it: about 8 where the
/// time is linear, 64 where it is quadratic.
///
/// The best of three for the large size and the worst of three for the small one, so that a busy machine
/// makes the growth seem smaller, never larger.
func growth(from count: Int, of work: (Int) async -> Void) async -> Double {
  var (small, large) = (Duration.zero, Duration.seconds(1_000_000))
  let clock = ContinuousClock()
  for _ in 0..<3 {
    small = max(small, await clock.measure { await work(count) })
    large = min(large, await clock.measure { await work(8 * count) })
  }
  return large / small
}

/// Between linear and quadratic.
let mostGrowth = 32.0
