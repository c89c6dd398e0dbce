/// Rows that answer one question, and what is counted rather than timed.
///
/// Everything that measures (the comparison, the benchmarks, the smoke test) reads topics, and knows
/// nothing else of what they do.
public struct Topic: Sendable {
  /// Its name; rows are named after it.
  public let name: String
  /// The subject of the measurement, for readers of the table.
  public let about: String
  /// The work that is timed.
  public var rows: [Row]
  /// The quantities that are counted.
  public var quantities: [Quantity]

  /// Creates a topic.
  public init(_ name: String, about: String, rows: [Row], quantities: [Quantity] = []) {
    self.name = name
    self.about = about
    self.rows = rows
    self.quantities = quantities
  }
}

/// Something that is counted instead of timed: bytes, allocations.
public struct Quantity: Sendable {
  /// The thing that is counted.
  public let name: String
  /// The contender that it is counted for.
  public let who: String
  /// The unit of the count.
  public let unit: String
  /// The most that it may be.
  public let limit: Double?
  /// The number of elements.
  public let size: Int
  /// Counts, on so many elements; `nil` where the platform does not tell.
  public let count: @Sendable (Int) async throws -> Double?

  /// Creates a quantity.
  ///
  /// - Parameters:
  ///   - name: the thing that is counted.
  ///   - who: the contender that it is counted for.
  ///   - unit: of the count.
  ///   - limit: the most that it may be.
  ///   - size: the number of elements.
  ///   - count: counts, on so many elements; `nil` where the platform does not tell.
  public init(
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
  /// Describes the fault.
  public let description: String

  /// Creates a flaw.
  public init(_ description: String) { self.description = description }
}
