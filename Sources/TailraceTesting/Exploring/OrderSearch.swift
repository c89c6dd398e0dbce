/// Which orders are tried, as a value: first those with no choice that departs from first come, first
/// served, then all with one such preemption, with two, and so on; then random ones.
///
/// So the first failing order that is found has the fewest preemptions. A run tells of how many tasks
/// each of its choices was; each later choice that could have been another one is an order of the next
/// stage. No order is tried twice, except by chance in the random stage.
struct OrderSearch: Sendable {
  enum Stage: Hashable, Sendable {
    case preemptions(Int)
    case random
  }

  struct Plan: Sendable {
    let stage: Stage
    let tape: ExplorationTape
    /// What the run that has led to this one could choose from, up to the last choice of the tape.
    let expected: [Int]
  }

  /// A run whose later choices are still to be varied.
  struct Node: Sendable {
    let tape: [Int]
    let widths: [Int]
  }

  /// The children of a list of nodes that are still to be tried.
  private struct Place: Sendable {
    var node = 0
    var point = 0
    var choice = 1
  }

  private let runs: Int
  private let preemptions: Int
  private let randomRuns: Int
  private let seed: UInt64

  private(set) var tried = 0
  private var randomTried = 0
  private var stage = 0
  private var nodes: [Node] = []
  private var place = Place()
  /// For the next stage: no more than there are runs left for.
  private(set) var nextNodes: [Node] = []
  /// How many orders the next nodes lead to.
  private var nextCount = 0
  /// Some orders have more preemptions than are to be tried.
  private var leavesOut = false
  private var isSystematic = true

  /// Whether all orders have been tried, each once.
  private(set) var hasTriedAll = false

  /// - Parameters:
  ///   - runs: the most runs before the random ones.
  ///   - preemptions: the most preemptions before the random stage.
  init(runs: Int, preemptions: Int, randomRuns: Int, seed: UInt64) {
    (self.runs, self.preemptions, self.randomRuns) = (runs, preemptions, randomRuns)
    self.seed = seed
  }

  /// The next order to try; `nil` if that is enough.
  mutating func next() -> Plan? {
    if isSystematic {
      if let plan = nextSystematic() {
        tried += 1
        return plan
      }
      isSystematic = false
      (nodes, nextNodes) = ([], [])
    }
    guard !hasTriedAll, randomTried < randomRuns else { return nil }
    var generator = SplitMix64(seed &+ UInt64(randomTried))
    randomTried += 1
    tried += 1
    // Short enough to be copied by hand.
    let seed = generator.next() >> 32
    return Plan(stage: .random, tape: ExplorationTape([], seed: seed), expected: [])
  }

  private mutating func nextSystematic() -> Plan? {
    guard tried > 0 else {
      return Plan(stage: .preemptions(0), tape: ExplorationTape([]), expected: [])
    }
    while true {
      while place.node < nodes.count {
        let node = nodes[place.node]
        place.point = max(place.point, node.tape.count)
        guard place.point < node.widths.count else {
          place = Place(node: place.node + 1)
          continue
        }
        defer { place.choice += 1 }
        guard place.choice < node.widths[place.point] else {
          place = Place(node: place.node, point: place.point + 1, choice: 0)
          continue
        }
        guard tried < runs else { return nil }
        let zeros = Array(repeating: 0, count: place.point - node.tape.count)
        return Plan(
          stage: .preemptions(stage), tape: ExplorationTape(node.tape + zeros + [place.choice]),
          expected: Array(node.widths[...place.point]))
      }
      guard !nextNodes.isEmpty, stage < preemptions else {
        hasTriedAll = !leavesOut
        return nil
      }
      (nodes, nextNodes, place, nextCount) = (nextNodes, [], Place(), 0)
      stage += 1
    }
  }

  /// A run is over that could choose from so many tasks each time.
  mutating func ran(_ plan: Plan, widths: [Int], hasDiverged: Bool) {
    guard isSystematic else { return }
    // What could have been tried instead is not known.
    if hasDiverged { leavesOut = true }
    guard widths.count > plan.tape.choices.count else { return }
    // What nobody has a run left for is not kept.
    guard stage < preemptions, nextCount < runs - tried else {
      leavesOut = true
      return
    }
    nextNodes.append(Node(tape: plan.tape.choices, widths: widths))
    for width in widths[plan.tape.choices.count...] {
      nextCount += width - 1
    }
  }
}

extension OrderSearch.Stage: CustomStringConvertible {
  var description: String {
    switch self {
    case .preemptions(0): "first come, first served"
    case .preemptions(1): "one preemption"
    case .preemptions(let count): "\(count) preemptions"
    case .random: "random orders"
    }
  }
}
