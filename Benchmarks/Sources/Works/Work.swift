/// A topic: works that answer one question, and what is counted rather than timed.
///
/// Everything that measures (the comparison, the benchmarks, the smoke test) reads topics, and knows
/// nothing else of what they do.
public struct Topic: Sendable {
  public let name: String
  /// What is measured, for those who read the table.
  public let about: String
  public var works: [Work] = []
  public var quantities: [Quantity] = []

  public init(
    _ name: String, about: String, works: [Work] = [], quantities: [Quantity] = []
  ) {
    self.name = name
    self.about = about
    self.works = works
    self.quantities = quantities
  }
}

/// One piece of work, and those who can do it.
public struct Work: Sendable {
  public let name: String
  /// How many tasks read at once.
  public let readers: Int
  /// Whether it belongs into the one picture that says it all.
  public let isHeadline: Bool
  /// The first is Tailrace's, the others are its peers.
  public let contenders: [Contender]
  public let floors: [Floor]
  /// How much more an element may cost at one size than at another, where that matters.
  public let steadiness: Double?

  public init(
    _ name: String, readers: Int = 1, isHeadline: Bool = false, floors: [Floor] = [],
    steadiness: Double? = nil, contenders: [Contender]
  ) {
    self.name = name
    self.readers = readers
    self.isHeadline = isHeadline
    self.floors = floors
    self.steadiness = steadiness
    self.contenders = contenders
  }

  public var ours: Contender { contenders[0] }
  public var peers: ArraySlice<Contender> { contenders.dropFirst() }

  /// The largest size that both do; sizes are compared with nothing but themselves.
  public func commonSize(with peer: Contender) -> Int? {
    ours.sizes.filter(peer.sizes.contains).max()
  }
}

/// One way to do a piece of work.
public struct Contender: Sendable {
  public let who: String
  public let sizes: [Int]
  /// Sets up for a number of elements, and gives what is timed. That may run any number of times.
  public let prepare: @Sendable (Int) async throws -> Body

  public typealias Body = @Sendable () async throws -> Tally

  public init(
    _ who: String, sizes: [Int] = Contender.sizes,
    preparing prepare: @escaping @Sendable (Int) async throws -> Body
  ) {
    self.who = who
    self.sizes = sizes
    self.prepare = prepare
  }

  /// Work without a set-up.
  public init(
    _ who: String, sizes: [Int] = Contender.sizes,
    _ run: @escaping @Sendable (Int) async throws -> Tally
  ) {
    self.init(who, sizes: sizes) { count in { try await run(count) } }
  }

  public static let sizes = [4, 100, 10_000, 1_000_000]
  /// For what costs microseconds per element.
  public static let fewer = [4, 100, 10_000]
}

/// What a run has done.
public struct Tally: Sendable {
  /// How many elements were handled, counted once per reader.
  public let elements: Int
  /// What came out. All contenders of one work and size give the same: nobody is fast by doing less.
  public let result: Int

  public init(_ elements: Int, _ result: Int) {
    self.elements = elements
    self.result = result
  }
}

/// What a ratio has to reach.
public struct Floor: Sendable {
  public let peer: String
  public let bound: Bound

  public enum Bound: Sendable {
    case atMostTimesSlower(Double)
    case atLeastTimesFaster(Double)
  }

  public static func atMost(_ times: Double, slowerThan peer: String) -> Floor {
    Floor(peer: peer, bound: .atMostTimesSlower(times))
  }

  public static func atLeast(_ times: Double, fasterThan peer: String) -> Floor {
    Floor(peer: peer, bound: .atLeastTimesFaster(times))
  }

  /// - Parameter speed: the peer's time by ours.
  public func isReached(by speed: Double) -> Bool {
    switch bound {
    case .atMostTimesSlower(let times): 1 / speed <= times
    case .atLeastTimesFaster(let times): speed >= times
    }
  }
}

/// Something that is counted: bytes, allocations.
public struct Quantity: Sendable {
  public let name: String
  public let who: String
  public let unit: String
  /// The most that it may be.
  public let limit: Double?
  /// Counts, on so many elements; `nil` where the platform does not tell.
  public let count: @Sendable (Int) async throws -> Double?
  public let size: Int

  public init(
    _ name: String, who: String, unit: String, limit: Double? = nil, size: Int = 1_000_000,
    count: @escaping @Sendable (Int) async throws -> Double?
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
