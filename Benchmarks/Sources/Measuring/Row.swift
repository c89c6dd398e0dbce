/// One piece of work, and those who can do it: a row of the tables for each of Tailrace's peers.
///
/// ```swift
/// Row(
///   "a step that asks an actor",
///   Contender("LazyList", listSuspending),
///   Contender("`.async.map`", atMost: 1.2, mapSuspending))
/// ```
public struct Row: Sendable {
  /// The work.
  public let name: String
  /// The unit of work that a time is given for: an element, say.
  public let unit: String
  /// How often each element is handled: the number of readers, say.
  public let times: Int
  /// The numbers of elements.
  public let sizes: [Int]
  /// Whether it belongs into the one picture that says it all.
  public let isHeadline: Bool
  /// How much more an element may cost at one size than at another, where that is the question.
  public let steadiness: Double?
  /// Tailrace's way.
  public let ours: Contender
  /// The others.
  public let peers: [Contender]

  /// Creates a row.
  ///
  /// - Parameters:
  ///   - name: the work.
  ///   - unit: the unit of work that a time is given for.
  ///   - times: how often each element is handled.
  ///   - sizes: the numbers of elements, in ascending order.
  ///   - isHeadline: whether it belongs into the picture that says it all.
  ///   - steadiness: how much more an element may cost at one size than at another.
  ///   - ours: Tailrace's way.
  ///   - peers: the others.
  public init(
    _ name: String, per unit: String = "element", times: Int = 1, sizes: [Int] = Row.sizes,
    isHeadline: Bool = false, steadiness: Double? = nil,
    _ ours: Contender, _ peers: Contender...
  ) {
    self.name = name
    self.unit = unit
    self.times = times
    self.sizes = sizes
    self.isHeadline = isHeadline
    self.steadiness = steadiness
    self.ours = ours
    self.peers = peers
  }

  /// The sizes of a row that names none.
  public static let sizes = [4, 100, 10_000, 1_000_000]

  /// All, ours first.
  public var contenders: [Contender] { [ours] + peers }

  /// The sizes at which a contender is timed.
  public func sizes(of contender: Contender) -> [Int] {
    sizes.filter { $0 <= contender.largest }
  }

  /// The largest size that both do; sizes are compared with nothing but themselves.
  public func commonSize(with peer: Contender) -> Int? {
    sizes(of: peer).last { $0 <= ours.largest }
  }
}

/// One way to do the work of a row.
///
/// It stands as its user would write it: a function of its own, not inlined, which names concrete
/// types and has the loop in it. Behind a generic function, or a closure that is handed to one, the
/// compiler specialises less of some peers than of others, and one would measure that.
/// A library that can do the work in two ways stands in the row twice, with the same limit.
public struct Contender: Sendable {
  /// Its name, in Markdown.
  public let who: String
  /// The most that ours may take, as a multiple of this one's time.
  public let limit: Double?
  /// It is not timed at larger sizes: it would take too long.
  public let largest: Int
  /// Sets up for a number of elements, and gives what is timed.
  public let prepare: @Sendable (Int) async throws -> Body

  /// Does the work so many times, one or more.
  ///
  /// Its result is the same for all contenders of a row: nobody is fast by doing less.
  public typealias Body = @Sendable (_ repetitions: Int) async throws -> Int

  /// Creates a contender that needs nothing but a number of elements.
  ///
  /// - Parameters:
  ///   - who: its name, in Markdown.
  ///   - limit: the most that ours may take, as a multiple of this one's time.
  ///   - largest: it is not timed at larger sizes.
  ///   - run: does the work for a number of elements.
  @inlinable
  public init(
    _ who: String, atMost limit: Double? = nil, upTo largest: Int = .max,
    _ run: @escaping @Sendable (Int) async throws -> Int
  ) {
    self.init(who, atMost: limit, upTo: largest, given: { $0 }, run)
  }

  /// Creates a contender.
  ///
  /// - Parameters:
  ///   - who: its name, in Markdown.
  ///   - limit: the most that ours may take, as a multiple of this one's time.
  ///   - largest: it is not timed at larger sizes.
  ///   - fixture: makes what there is before the clock starts, for a number of elements.
  ///   - run: does the work.
  // Inlined, it knows the fixture's type, as if it were in the module of the work.
  @inlinable
  public init<Fixture: Sendable>(
    _ who: String, atMost limit: Double? = nil, upTo largest: Int = .max,
    given fixture: @escaping @Sendable (Int) async throws -> Fixture,
    _ run: @escaping @Sendable (Fixture) async throws -> Int
  ) {
    self.who = who
    self.limit = limit
    self.largest = largest
    prepare = { count in
      let fixture = try await fixture(count)
      return { repetitions in
        for _ in 1..<repetitions { blackHole(try await run(fixture)) }
        return try await run(fixture)
      }
    }
  }
}
