import Works

/// A contender at a size, ready to be timed.
public struct Entrant: Sendable {
  public let contender: Contender
  public let size: Int
  /// What a time is divided by.
  private let units: Double
  private let body: Contender.Body
  /// How often the body runs for one sample, so that the clock has something to measure.
  private var repetitions = 1

  public init(_ contender: Contender, of row: Row, at size: Int) async throws {
    self.contender = contender
    self.size = size
    units = Double(size * row.times)
    body = try await contender.prepare(size)
  }

  /// What comes out, without a clock.
  public func result() async throws -> Int { try await body() }

  /// Repeats the body until it takes a few milliseconds.
  public mutating func warm() async throws {
    while try await time() < 2e6, repetitions < 1 << 20 { repetitions *= 2 }
  }

  /// Nanoseconds per unit.
  public func sample() async throws -> Double {
    // What a large run before it has left behind, in the caches and in the allocator, is not charged
    // to a small one.
    if repetitions > 1 { blackHole(try await body()) }
    return try await time() / Double(repetitions) / units
  }

  private func time() async throws -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    for _ in 0..<repetitions { blackHole(try await body()) }
    return (clock.now - start) / .nanoseconds(1)
  }
}
