/// Rows that answer one question, and what is counted rather than timed.
///
/// Everything that measures (the comparison, the benchmarks, the smoke test) reads topics, and knows
/// nothing else of what they do.
public struct Topic: Sendable {
  public let name: String
  /// What is measured, for those who read the table.
  public let about: String
  public var rows: [Row]
  public var quantities: [Quantity]

  init(_ name: String, about: String, rows: [Row], quantities: [Quantity] = []) {
    self.name = name
    self.about = about
    self.rows = rows
    self.quantities = quantities
  }
}

extension Topic {
  /// All of them, in the order of the tables.
  public static let all: [Topic] = [
    .memory, .iteration, .firstPass, .collecting, .operators, .slices, .joins, .fanOut,
    .contention, .asyncSteps, .asyncChains, .streams, .memos, .keyedMemos, .depth, .workingAhead,
    .collections, .schedulers, .signals, .batches, .inStep, .looking, .growth, .layouts, .stored,
  ]
}

/// Something that is counted instead of timed: bytes, allocations.
public struct Quantity: Sendable {
  public let name: String
  public let who: String
  public let unit: String
  /// The most that it may be.
  public let limit: Double?
  public let size: Int
  /// Counts, on so many elements; `nil` where the platform does not tell.
  public let count: @Sendable (Int) async throws -> Double?

  init(
    _ name: String, who: String, unit: String, atMost limit: Double? = nil, size: Int = 1_000_000,
    _ count: @escaping @Sendable (Int) async throws -> Double?
  ) {
    self.name = name
    self.who = who
    self.unit = unit
    self.limit = limit
    self.size = size
    self.count = count
  }
}

/// A contender that does not do its work.
public struct Flaw: Error, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}
