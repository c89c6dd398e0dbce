/// A contender at a size, ready to be timed.
public struct Entrant: Sendable {
  public let contender: Contender
  public let size: Int
  /// The number of units of work in one repetition: times are divided by it.
  private let units: Double
  private let body: Contender.Body
  /// How often the body runs for one sample, so that the clock has something to measure.
  private var repetitions = 1
  /// Whether the body alone takes so long that what others have left behind does not matter.
  private var isLong = false

  public init(_ contender: Contender, of row: Row, at size: Int) async throws {
    self.contender = contender
    self.size = size
    units = Double(size * row.times)
    body = try await contender.prepare(size)
  }

  /// The result of the work, without a clock.
  public func result() async throws -> Int { try await body(1) }

  /// Repeats the body until it takes a few milliseconds.
  public mutating func warm() async throws {
    try await forgetOthers()
    var time = try await time()
    isLong = time > 1e8
    while time < 2e6, repetitions < 1 << 20 {
      repetitions *= 2
      time = try await self.time()
    }
  }

  /// Nanoseconds per unit.
  public func sample(by stopwatch: Stopwatch = .clock) async throws -> Double {
    try await forgetOthers()
    return try await time(by: stopwatch) / Double(repetitions) / units
  }

  /// Runs once without a clock, so that this contender is not charged for the cold caches, and the
  /// untidy heap, that others have left behind. The first to free memory after a run of ten million
  /// elements gives the system 40 MB back, for 3 to 10 ms, which is much for a run of ten thousand.
  private func forgetOthers() async throws {
    if !isLong { blackHole(try await body(1)) }
  }

  private func time(by stopwatch: Stopwatch = .clock) async throws -> Double {
    let start = stopwatch.nanoseconds
    blackHole(try await body(repetitions))
    return stopwatch.nanoseconds - start
  }
}
