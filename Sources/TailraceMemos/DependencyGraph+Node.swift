// The contents of the graph.
extension DependencyGraph {
  @usableFromInline
  enum Freshness: UInt8, Sendable, Comparable {
    case fresh, doubtful, outdated

    @usableFromInline
    static func < (one: Freshness, other: Freshness) -> Bool { one.rawValue < other.rawValue }
  }

  /// What becomes of the computations in progress that have asked for a key.
  enum Running {
    case unaffected
    /// The key has expired.
    case late
    /// It was served, and was refreshed with another result.
    case replaced
    case overturned
  }

  /// That a computation asked for a key.
  struct Edge: Equatable, Sendable {
    /// The asking key. The highest bit: it only looked whether there was a value.
    let dependent: UInt32
    /// The number of its computation.
    let number: UInt32

    static let looked: UInt32 = 1 << 31

    init(_ dependent: Int, _ number: UInt32, hasLooked: Bool) {
      self.dependent = UInt32(dependent) | (hasLooked ? Self.looked : 0)
      self.number = number
    }

    var place: Int { Int(dependent & ~Self.looked) }
    var hasLooked: Bool { dependent & Self.looked != 0 }
  }

  struct Node: Sendable {
    /// What the result was computed from, and what the computation in progress has asked for.
    var inputs: ContiguousArray<UInt32> = []
    var asked: ContiguousArray<UInt32> = []
    var dependents: ContiguousArray<Edge> = []
    /// How many of `dependents` still count.
    var live: UInt32 = 0
    /// The numbers of the computations that made `inputs` and `asked`; 0 for none.
    var settled: UInt32 = 0
    var running: UInt32 = 0
    /// This many inputs are known to be fresh.
    var reviewed: UInt32 = 0
    var freshness = Freshness.fresh
    /// What the computation in progress has asked for was forgotten, or has changed: it begins again.
    var isOverturned = false
    /// What it has asked for has expired, or was refreshed again and again. To begin again could go on
    /// for ever, if a computation takes longer than its inputs live; so its result is given, and is out
    /// of date at once.
    var isLate = false
    /// How often the computation in progress has begun again.
    var restarts: UInt8 = 0
    /// An input of the result is not fresh any more, or has changed.
    var isSuspect = false
    /// A computation in progress may have got the result although it is not fresh.
    var isShown = false
    /// The result was computed again after it had been evicted: what was computed from it may have seen
    /// another one.
    var isUncompared = false
  }
}
