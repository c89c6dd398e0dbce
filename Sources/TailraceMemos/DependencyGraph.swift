/// Who asked whom in a recursive table, as a value. Keys are the numbers of their slots.
///
/// A result that may have changed is marked together with all that was computed from it, at once.
/// A demand then looks from the other side: it brings what the result was computed from up to date,
/// in the order in which it was asked for, and computes the result again only if one of these came
/// out different.
///
/// ```
///            an input is doubtful                 an input has changed, or is forgotten
///   fresh ──────────────────────▶ doubtful ──────────────────────────▶ outdated
///     ▲                              │                                     │
///     └─── all inputs came out equal ┴───────── computed again ────────────┘
/// ```
///
/// Invariant: what was computed from a result that is not fresh is not fresh either; and a
/// computation in progress that asked for it before is overturned: its result counts for nothing.
/// One that got a result which was not fresh from the beginning, or had only expired, goes on, until
/// something that this result was computed from is forgotten.
///
/// An edge is removed in constant time, amortized: the dependent's number changes, and the entries
/// with an older number are dropped when they are the majority.
@usableFromInline
struct DependencyGraph: Sendable {
  private(set) var nodes: ContiguousArray<Node> = []
  /// Numbers the computations. 0 means none.
  private var last: UInt32 = 0
  /// How many computations are in progress.
  private var computing = 0
  /// How often a computation begins again at most because an input was refreshed.
  private let mostRestarts: UInt8

  @usableFromInline
  init(mostRestarts: UInt8 = 8) { self.mostRestarts = mostRestarts }

  /// Forgets everything but the numbers, so that a computation that goes on is nobody else's.
  @usableFromInline
  mutating func removeAll() { (nodes, computing) = ([], 0) }

  /// Keys whose last dependent has gone: without a value they need no slot any more.
  @usableFromInline typealias Freed = [Int]

  // MARK: Questions

  private func node(_ place: Int) -> Node? { place < nodes.count ? nodes[place] : nil }

  /// Whether a result, or a computation in progress, was asked from this key.
  @usableFromInline
  func hasDependents(_ place: Int) -> Bool { place < nodes.count && nodes[place].live > 0 }

  @usableFromInline
  func freshness(of place: Int) -> Freshness {
    place < nodes.count ? nodes[place].freshness : .fresh
  }

  /// Whether a result is out of date for another reason than its own age.
  @usableFromInline
  func isSuspect(_ place: Int) -> Bool { place < nodes.count && nodes[place].isSuspect }

  /// Whether what was computed from a key may have seen another result than the present one.
  @usableFromInline
  func isUncompared(_ place: Int) -> Bool { place < nodes.count && nodes[place].isUncompared }

  /// The keys that a result was computed from.
  @usableFromInline
  func inputs(of place: Int) -> ContiguousArray<UInt32> {
    place < nodes.count ? nodes[place].inputs : []
  }

  /// The first input that has to be brought up to date; `nil` if all are fresh.
  @usableFromInline
  mutating func nextToReview(_ place: Int) -> Int? {
    guard place < nodes.count else { return nil }
    while nodes[place].reviewed < nodes[place].inputs.count {
      let input = Int(nodes[place].inputs[Int(nodes[place].reviewed)])
      if freshness(of: input) != .fresh { return input }
      nodes[place].reviewed += 1
    }
    return nil
  }

  // MARK: Computing

  private mutating func grow(to place: Int) {
    while nodes.count <= place { nodes.append(Node()) }
  }

  /// A computation begins. The inputs of the result before it count until the new one is there.
  ///
  /// - Returns: its number.
  @usableFromInline
  mutating func begin(_ place: Int, _ freed: inout Freed) -> UInt32 {
    grow(to: place)
    let restarts =
      nodes[place].isOverturned ? min(nodes[place].restarts + 1, mostRestarts) : 0
    endRunning(place, &freed)
    last = last == .max ? 1 : last + 1
    nodes[place].running = last
    nodes[place].restarts = restarts
    computing += 1
    return last
  }

  /// A computation asks for a key. One that has ended asks for nothing.
  ///
  /// - Parameter hasLooked: it does not wait for a value, so it is outdated as soon as the value is
  ///   not served any more, whatever the next one is.
  @usableFromInline
  mutating func ask(_ place: Int, by asker: Int, _ number: UInt32, hasLooked: Bool = false) {
    guard asker != place, asker < nodes.count, nodes[asker].running == number else { return }
    grow(to: place)
    let edge = Edge(asker, number, hasLooked: hasLooked)
    // Asked again: in most cases nobody else has asked meanwhile, or for nothing else.
    if let last = nodes[place].dependents.last, last == edge { return }
    if !hasLooked, nodes[asker].asked.last == UInt32(place) { return }
    nodes[asker].asked.append(UInt32(place))
    nodes[place].dependents.append(edge)
    nodes[place].live += 1
  }

  /// Whether the result of the computation in progress counts for nothing.
  @usableFromInline
  func isOverturned(_ place: Int) -> Bool { place < nodes.count && nodes[place].isOverturned }

  /// A computation has ended with a result that is kept, or would be if there were room.
  ///
  /// - Parameters:
  ///   - isChanged: whether it differs from the one that was asked for before.
  ///   - isCompared: whether there was one to compare it with.
  ///   - wasServed: whether computations in progress have got the former result.
  @usableFromInline
  mutating func settle(
    _ place: Int, isChanged: Bool, isCompared: Bool = true, wasServed: Bool,
    _ marked: inout [Int], _ freed: inout Freed
  ) {
    grow(to: place)
    if isChanged {
      nodes[place].isUncompared = false
    } else if !isCompared, nodes[place].settled != 0, nodes[place].live > 0 {
      nodes[place].isUncompared = true
    }
    endSettled(place, &freed)
    nodes[place].inputs = nodes[place].asked
    nodes[place].settled = nodes[place].running
    nodes[place].asked = []
    endNumber(place)
    let isLate = nodes[place].isLate
    (nodes[place].isOverturned, nodes[place].isLate, nodes[place].restarts) = (false, false, 0)
    confirm(place)
    if isChanged { mark(place, .outdated, wasServed ? .replaced : .unaffected, &marked) }
    if isLate {
      (nodes[place].freshness, nodes[place].isShown) = (.outdated, true)
      mark(place, .doubtful, .unaffected, &marked)
      return
    }
    // The closure has not waited for one of them, or has caught its failure.
    if nodes[place].inputs.contains(where: { freshness(of: Int($0)) != .fresh }) {
      (nodes[place].freshness, nodes[place].isShown) = (.doubtful, true)
      mark(place, .doubtful, .unaffected, &marked)
    }
  }

  /// A result turned out to be still the right one.
  @usableFromInline
  mutating func confirm(_ place: Int) {
    guard place < nodes.count else { return }
    nodes[place].freshness = .fresh
    nodes[place].reviewed = 0
    (nodes[place].isSuspect, nodes[place].isShown) = (false, false)
  }

  /// A computation has ended without a result. What was computed from a result that is not fresh
  /// cannot be confirmed then.
  @usableFromInline
  mutating func fail(_ place: Int, _ marked: inout [Int], _ freed: inout Freed) {
    guard place < nodes.count else { return }
    endRunning(place, &freed)
    // There has been no result: what is computed without one is looked at again.
    if nodes[place].settled == 0 { nodes[place].freshness = .outdated }
    if nodes[place].freshness != .fresh { mark(place, .outdated, .unaffected, &marked) }
  }

  /// The computation in progress is given up.
  @usableFromInline
  mutating func cancel(_ place: Int, _ freed: inout Freed) {
    if place < nodes.count { endRunning(place, &freed) }
  }

  // MARK: Marking

  /// A result is not served any more: it was forgotten, or has expired.
  ///
  /// - Parameters:
  ///   - isKept: whether the next result can be compared with it.
  ///   - hasExpired: whether nobody has said that it is wrong.
  /// - Returns: in `marked`, the other keys that were fresh, and are not any more.
  @usableFromInline
  mutating func outdate(
    _ place: Int, isKept: Bool, hasExpired: Bool = false, _ marked: inout [Int]
  ) {
    grow(to: place)
    nodes[place].freshness = .outdated
    nodes[place].reviewed = 0
    // Also if it was not fresh: others may have asked for the result that is being computed.
    mark(place, isKept ? .doubtful : .outdated, hasExpired ? .late : .overturned, &marked)
  }

  /// What a result was computed from may be not fresh any more.
  @usableFromInline
  mutating func doubt(_ place: Int, _ marked: inout [Int]) {
    grow(to: place)
    guard nodes[place].freshness == .fresh else { return }
    nodes[place].freshness = .doubtful
    mark(place, .doubtful, .late, &marked)
  }

  /// What was computed from a key has to be confirmed.
  @usableFromInline
  mutating func doubtDependents(of place: Int, _ marked: inout [Int]) {
    if place < nodes.count { mark(place, .doubtful, .unaffected, &marked) }
  }

  /// The result is computed again, whatever its inputs are.
  @usableFromInline
  mutating func overrule(_ place: Int) {
    grow(to: place)
    nodes[place].freshness = .outdated
  }

  /// Marks the dependents of a key, and those of these as doubtful, without recursion.
  ///
  /// It ends at results that are not fresh, because their dependents are marked. But if a computation
  /// may have got one of these, or one that was computed from it, it goes on.
  private mutating func mark(
    _ place: Int, _ freshness: Freshness, _ running: Running, _ marked: inout [Int]
  ) {
    let others = running == .unaffected ? .overturned : running
    let passesOn = computing > 0 && (running == .overturned || running == .replaced)
    var passed: Set<Int>? = passesOn ? [place] : nil
    var pile = [(place, freshness, running)]
    while let (place, freshness, running) = pile.popLast() {
      for edge in nodes[place].dependents {
        let dependent = edge.place
        if edge.number == nodes[dependent].running {
          switch running {
          case .unaffected: break
          case .overturned: nodes[dependent].isOverturned = true
          case .replaced where nodes[dependent].restarts < mostRestarts:
            nodes[dependent].isOverturned = true
          case .late, .replaced: (nodes[dependent].isLate, nodes[place].isShown) = (true, true)
          }
        } else if edge.number == nodes[dependent].settled {
          let was = nodes[dependent].freshness
          if freshness != .fresh {
            nodes[dependent].freshness = max(was, edge.hasLooked ? .outdated : freshness)
          }
          nodes[dependent].isSuspect = true
          // It is under review, perhaps past this input.
          nodes[dependent].reviewed = 0
          let isFirst = passed?.insert(dependent).inserted ?? false
          if was == .fresh {
            marked.append(dependent)
            pile.append((dependent, .doubtful, others))
          } else if isFirst {
            // It keeps its own freshness, and so do those behind it.
            pile.append((dependent, .fresh, nodes[dependent].isShown ? others : .unaffected))
          }
        }
      }
    }
  }

  // MARK: Letting go

  /// A key without a value and without dependents is forgotten. It may be the last dependent of
  /// others.
  @usableFromInline
  mutating func remove(_ place: Int, _ freed: inout Freed) {
    guard place < nodes.count else { return }
    assert(nodes[place].live == 0, "a key is removed from the graph that others were computed from")
    endRunning(place, &freed)
    endSettled(place, &freed)
    nodes[place] = Node()
  }

  /// What a result was computed from is of no interest any more.
  @usableFromInline
  mutating func endSettled(_ place: Int, _ freed: inout Freed) {
    guard place < nodes.count else { return }
    nodes[place].settled = 0
    nodes[place].reviewed = 0
    release(exchange(&nodes[place].inputs, []), &freed)
  }

  private mutating func endNumber(_ place: Int) {
    if nodes[place].running != 0 { computing -= 1 }
    nodes[place].running = 0
  }

  private mutating func endRunning(_ place: Int, _ freed: inout Freed) {
    endNumber(place)
    (nodes[place].isOverturned, nodes[place].isLate, nodes[place].restarts) = (false, false, 0)
    release(exchange(&nodes[place].asked, []), &freed)
  }

  private mutating func release(_ inputs: ContiguousArray<UInt32>, _ freed: inout Freed) {
    for input in inputs {
      let input = Int(input)
      nodes[input].live -= 1
      if nodes[input].live == 0 {
        nodes[input].dependents = []
        freed.append(input)
      } else if nodes[input].dependents.count > 2 * Int(nodes[input].live) + 8 {
        compact(input)
      }
    }
  }

  private mutating func compact(_ place: Int) {
    var dependents = exchange(&nodes[place].dependents, [])
    dependents.removeAll { !counts($0) }
    nodes[place].dependents = dependents
  }

  /// Whether an edge is of a computation in progress, or of the one that has given the result.
  func counts(_ edge: Edge) -> Bool {
    let node = nodes[edge.place]
    return edge.number == node.running || edge.number == node.settled
  }
}

private func exchange<Value>(_ place: inout Value, _ value: Value) -> Value {
  let former = place
  place = value
  return former
}
