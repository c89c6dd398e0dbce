// The contents of the graph.
extension DependencyGraph {
  @usableFromInline
  enum Freshness: UInt8, Sendable, Comparable {
    case fresh, doubtful, outdated

    @usableFromInline
    static func < (one: Freshness, other: Freshness) -> Bool { one.rawValue < other.rawValue }
  }

  /// What becomes of the computations in progress that have asked for a key.
  enum Running: Sendable {
    case unaffected
    /// The key has expired.
    case late
    /// The key was forgotten, or has another result than the one that they got.
    case overturned
  }

  /// What a computation got for the key that it asked for.
  @usableFromInline
  enum Observation: Sendable, Equatable {
    /// The result that was there.
    case result
    /// It waits for the result of this computation.
    case awaited(UInt32)
    /// The value that was there, without a demand: the next one is not waited for.
    case looked
    /// That there was no value.
    case absence
    /// Its wait has ended without a result: the key needs the asking one, or the computation has failed,
    /// or nobody waits any more.
    case noAnswer
  }

  /// That a computation asked for a key.
  struct Edge: Sendable {
    /// The asking key, and in the three highest bits what it got.
    private(set) var dependent: UInt32
    /// The number of its computation.
    let number: UInt32
    /// The computation whose result it waits for, or got; 0 for one that was there.
    var awaited: UInt32 = 0

    static let looked: UInt32 = 1 << 31
    static let absent: UInt32 = 1 << 30
    static let unanswered: UInt32 = 1 << 29

    init(_ dependent: Int, _ number: UInt32, _ observation: Observation) {
      self.dependent = UInt32(dependent)
      self.number = number
      switch observation {
      case .result: break
      case .awaited(let load): awaited = load
      case .looked: self.dependent |= Self.looked
      case .absence: self.dependent |= Self.looked | Self.absent
      case .noAnswer: self.dependent |= Self.unanswered
      }
    }

    var place: Int { Int(dependent & ~(Self.looked | Self.absent | Self.unanswered)) }
    /// It does not wait for a value, so what was computed is outdated as soon as what it saw is.
    var hasLooked: Bool { dependent & Self.looked != 0 }
    var sawNothing: Bool { dependent & Self.absent != 0 }
    var hasNoAnswer: Bool { dependent & Self.unanswered != 0 }

    func isSame(as other: Edge) -> Bool {
      dependent == other.dependent && number == other.number && awaited == other.awaited
    }
  }

  /// A key that was asked for, and by which task: those that different tasks have asked for, but not the
  /// computation's own, were asked for at the same time.
  @usableFromInline
  struct Input: Sendable {
    @usableFromInline let place: UInt32
    /// 0 for the computation's own task.
    @usableFromInline let task: UInt32

    /// In place of a task: it was seen that there was no value, which nobody can bring up to date.
    @usableFromInline static var absence: UInt32 { .max }

    @_alwaysEmitIntoClient var sawNothing: Bool { task == Self.absence }
  }

  /// A mark on its way through the dependents of a key.
  @usableFromInline
  struct Walk: Sendable {
    /// The key whose dependents are marked now, and what becomes of them.
    struct Stop: Sendable {
      let place: Int
      let freshness: Freshness
      let running: Running
      /// It is a computation in progress.
      let isUnfinished: Bool
      let load: UInt32
      let onlyAbsences: Bool
      /// How many of its dependents have been passed.
      var passed = 0

      init(
        _ place: Int, _ freshness: Freshness, _ running: Running, isUnfinished: Bool = false,
        load: UInt32 = 0, onlyAbsences: Bool = false
      ) {
        (self.place, self.freshness, self.running) = (place, freshness, running)
        (self.isUnfinished, self.load, self.onlyAbsences) = (isUnfinished, load, onlyAbsences)
      }
    }

    let origin: Int
    var now: Stop
    var pile: [Stop] = []
    /// What becomes of computations that have got what was computed from the first key.
    let others: Running
    /// The results that were passed, also if they were not fresh; `nil` if it ends at these.
    var passed: Set<Int>?
    var unfinished: Set<Int> = []

    init(now: Stop, others: Running, passed: Set<Int>?) {
      (origin, self.now, self.others, self.passed) = (now.place, now, others, passed)
    }

    /// Most results are asked for by no others: the pile stays small.
    mutating func goOn(to stop: Stop, in nodes: borrowing ContiguousArray<Node>) {
      if !nodes[stop.place].dependents.isEmpty { pile.append(stop) }
    }
  }

  /// The computation that asks for a key.
  @usableFromInline
  struct Asker: Sendable {
    @usableFromInline let place: Int
    @usableFromInline let number: UInt32

    @_alwaysEmitIntoClient
    init(_ place: Int, _ number: UInt32) { (self.place, self.number) = (place, number) }
  }

  struct Node: Sendable {
    /// What the result was computed from, and what the computation in progress has asked for.
    var inputs: ContiguousArray<Input> = []
    var asked: ContiguousArray<Input> = []
    var dependents: ContiguousArray<Edge> = []
    /// How many of `dependents` still count.
    var live: UInt32 = 0
    /// How many of them may have seen that there was no value.
    var absences: UInt32 = 0
    /// The numbers of the computations that made `inputs` and `asked`; 0 for none.
    var settled: UInt32 = 0
    var running: UInt32 = 0
    /// The task of the computation in progress.
    var task: UInt32 = 0
    /// The revision at which the computation in progress began, and the last one that concerned it.
    var began: UInt32 = 0
    var told: UInt32 = 0
    /// Of the last review that began: this many inputs are fresh, or were brought up to date in it; and this
    /// many will have been when it comes back.
    var reviewed: UInt32 = 0
    var demanded: UInt32 = 0
    /// How often a review began again because an input was forgotten, or has changed.
    var rounds: UInt8 = 0
    var freshness = Freshness.fresh
    /// What it has asked for has expired, or was refreshed again and again. To begin again could go on
    /// for ever, if a computation takes longer than its inputs live; so its result is given, and is out
    /// of date at once.
    var isLate = false
    /// How often the computation in progress has begun again.
    var restarts: UInt8 = 0
    /// A computation in progress may have got the result although it is not fresh.
    var isShown = false
    /// The result was computed again after it had been evicted: what was computed from it may have seen
    /// another one.
    var isUncompared = false
  }
}
