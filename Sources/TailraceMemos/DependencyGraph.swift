/// Who asked whom in a recursive table, as a value. Keys are the numbers of their slots.
///
/// A result that may have changed is marked together with all that was computed from it, in slices, and
/// nothing else happens in between. A demand then looks from the other side: it brings what the result was
/// computed from up to date, in the order in which it was asked for, and computes the result again only if
/// one of these came out different.
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
  /// The numbers of those whose result counts for nothing, because what they asked for was forgotten, or
  /// has changed. Also of those whose key was forgotten since: they begin again for those who had come to
  /// wait in between.
  private var overturned: Set<UInt32> = []
  /// Marks that are not finished.
  @usableFromInline private(set) var walks: [Walk] = []
  /// How many dependents are marked at once.
  private let slice: Int
  /// Other keys that were fresh, and are not any more.
  @usableFromInline var marked: [Int] = []
  /// Keys whose last dependent has gone: without a value they need no slot any more.
  @usableFromInline var freed: [Int] = []
  /// Numbers the events that concern computations in progress.
  private var revision: UInt32
  /// How often a computation begins again at most because an input was forgotten, or has changed.
  private let mostRestarts: UInt8
  @usableFromInline static var usualRestarts: UInt8 { 8 }
  /// How much is done at once under the lock.
  @usableFromInline static var usualSlice: Int { 64 }

  @usableFromInline
  init(mostRestarts: UInt8 = usualRestarts, revision: UInt32 = 0, slice: Int = usualSlice) {
    (self.mostRestarts, self.revision, self.slice) = (mostRestarts, revision, slice)
  }

  /// Forgets everything but the numbers, so that a computation that goes on is nobody else's.
  @usableFromInline
  mutating func removeAll() {
    (nodes, computing, walks, marked, freed) = ([], 0, [], [], [])
  }

  // MARK: Questions

  /// Whether a result, or a computation in progress, was asked from this key.
  @usableFromInline
  func hasDependents(_ place: Int) -> Bool { place < nodes.count && nodes[place].live > 0 }

  @usableFromInline
  func freshness(of place: Int) -> Freshness {
    place < nodes.count ? nodes[place].freshness : .fresh
  }

  /// Whether what was computed from a key may have seen another result than the present one.
  @usableFromInline
  func isUncompared(_ place: Int) -> Bool { place < nodes.count && nodes[place].isUncompared }

  /// The keys that a result was computed from.
  @usableFromInline
  func inputs(of place: Int) -> ContiguousArray<Input> {
    place < nodes.count ? nodes[place].inputs : []
  }

  // MARK: Reviewing

  /// A review of the inputs of a result begins. What the one before has left is of no interest.
  @usableFromInline
  mutating func beginReview(_ place: Int) {
    grow(to: place)
    (nodes[place].reviewed, nodes[place].demanded, nodes[place].rounds) = (0, 0, 0)
  }

  @usableFromInline
  enum Review: Sendable {
    /// These inputs are brought up to date next: those of one list one after the other, the lists at the
    /// same time, as the closure has asked for them.
    case demand([[Int]])
    /// All inputs came out equal.
    case isConfirmed
    /// They did, and some are out of date again.
    case isLate
    /// The closure is run.
    case isOutdated
  }

  /// The next step of the review of a result.
  ///
  /// An input that was brought up to date counts as seen, unless somebody says later that it is wrong:
  /// if it expired again meanwhile, to wait for it again could go on for ever.
  @usableFromInline
  mutating func review(_ place: Int) -> Review {
    grow(to: place)
    guard nodes[place].freshness != .outdated else { return .isOutdated }
    guard nodes[place].rounds <= mostRestarts else { return .isLate }
    nodes[place].reviewed = max(nodes[place].reviewed, nodes[place].demanded)
    let inputs = nodes[place].inputs
    var first = Int(nodes[place].reviewed)
    while first < inputs.count, isUpToDate(inputs[first]) { first += 1 }
    nodes[place].reviewed = UInt32(first)
    guard first < inputs.count else { return isConfirmed(place) ? .isConfirmed : .isLate }
    // Up to the next one that the computation's own task has asked for.
    var end = first + 1
    if inputs[first].task != 0 {
      while end < inputs.count, inputs[end].task != 0 { end += 1 }
    }
    nodes[place].demanded = UInt32(end)
    var chains: [[Int]] = []
    var chainOf: [UInt32: Int] = [:]
    for input in inputs[first..<end] where !isUpToDate(input) {
      if let chain = chainOf[input.task] {
        chains[chain].append(Int(input.place))
      } else {
        chainOf[input.task] = chains.count
        chains.append([Int(input.place)])
      }
    }
    return .demand(chains)
  }

  private func isUpToDate(_ input: Input) -> Bool {
    input.sawNothing || freshness(of: Int(input.place)) == .fresh
  }

  /// Whether all inputs of a result are fresh.
  @usableFromInline
  func isConfirmed(_ place: Int) -> Bool {
    guard place < nodes.count else { return true }
    return nodes[place].freshness != .outdated
      && nodes[place].inputs.allSatisfy(isUpToDate)
  }

  // MARK: Computing

  private mutating func grow(to place: Int) {
    while nodes.count <= place { nodes.append(Node()) }
  }

  /// A computation begins. The inputs of the result before it count until the new one is there.
  ///
  /// - Parameter task: the running task, as `ask` is told.
  /// - Returns: its number.
  @usableFromInline
  mutating func begin(_ place: Int, in task: UInt32 = 0) -> UInt32 {
    grow(to: place)
    let restarts = isOverturned(place) ? min(nodes[place].restarts + 1, mostRestarts) : 0
    endRunning(place)
    last = last == .max ? 1 : last + 1
    nodes[place].running = last
    nodes[place].restarts = restarts
    (nodes[place].task, nodes[place].began) = (task, revision)
    computing += 1
    return last
  }

  /// A computation asks for a key. One that has ended asks for nothing.
  ///
  /// - Parameter task: the asking task, perhaps a child of the computation's own.
  @usableFromInline
  mutating func ask(
    _ place: Int, by asker: Int, _ number: UInt32, _ observation: Observation = .result,
    in task: UInt32 = 0
  ) {
    guard asker != place, asker < nodes.count, nodes[asker].running == number else { return }
    grow(to: place)
    let edge = Edge(asker, number, observation)
    let input = Input(
      place: UInt32(place),
      task: observation == .absence ? Input.absence : task == nodes[asker].task ? 0 : task)
    if case .noAnswer = observation, nodes[place].told > nodes[asker].began {
      // What it was told of may have been the reason.
      overturn(asker, over: place)
    }
    if observation == .absence { nodes[place].absences += 1 }
    if let last = nodes[place].dependents.indices.last {
      let known = nodes[place].dependents[last]
      // Asked again: in most cases nobody else has asked meanwhile, or for nothing else.
      if known.isSame(as: edge) { return }
      if known.sawNothing, !edge.hasLooked, known.place == asker, known.number == number {
        // It saw that there was no value, and then waited for it.
        nodes[place].dependents[last] = edge
        if let index = nodes[asker].asked.lastIndex(where: { $0.place == input.place }) {
          nodes[asker].asked[index] = input
        }
        return
      }
    }
    if observation == .result, nodes[asker].asked.last?.place == input.place { return }
    nodes[asker].asked.append(input)
    nodes[place].dependents.append(edge)
    nodes[place].live += 1
  }

  /// A computation in progress begins again, or, if it did so too often, its result is given and is out of
  /// date at once.
  private mutating func overturn(_ place: Int, over input: Int) {
    if nodes[place].restarts < mostRestarts {
      overturned.insert(nodes[place].running)
    } else {
      (nodes[place].isLate, nodes[input].isShown) = (true, true)
    }
  }

  /// Whether the result of the computation in progress counts for nothing.
  @usableFromInline
  func isOverturned(_ place: Int) -> Bool {
    place < nodes.count && overturned.contains(nodes[place].running)
  }

  /// A computation has ended whose key was forgotten. Returns whether its result counts for nothing.
  @usableFromInline
  mutating func endForgotten(_ number: UInt32) -> Bool { overturned.remove(number) != nil }

  /// A computation has ended with a result that is kept, or would be if there were room.
  ///
  /// - Parameters:
  ///   - load: the number by which others wait for it.
  ///   - isChanged: whether it differs from the one that was asked for before.
  ///   - isCompared: whether there was one to compare it with.
  ///   - wasServed: whether computations in progress have got the former result.
  @usableFromInline
  mutating func settle(
    _ place: Int, load: UInt32 = 0, isChanged: Bool, isCompared: Bool = true, wasServed: Bool
  ) {
    grow(to: place)
    if isChanged {
      nodes[place].isUncompared = false
    } else if !isCompared, nodes[place].settled != 0, nodes[place].live > 0 {
      nodes[place].isUncompared = true
    }
    endSettled(place)
    nodes[place].inputs = nodes[place].asked
    nodes[place].settled = nodes[place].running
    nodes[place].asked = []
    endNumber(place)
    let (isLate, wasShown) = (nodes[place].isLate, nodes[place].isShown)
    (nodes[place].isLate, nodes[place].restarts) = (false, 0)
    confirm(place)
    if isChanged {
      // Who has got the former result when it was out of date already goes on, but not as if this were the one.
      mark(
        place, .outdated, wasServed ? .overturned : wasShown ? .late : .unaffected,
        others: .overturned, exceptFor: load)
    }
    if isLate { return makeLate(place, .outdated) }
    // The closure has not waited for one of them, or has caught its failure.
    if !isConfirmed(place) { makeLate(place, .doubtful) }
  }

  /// A result is given to those who wait, and is not fresh.
  private mutating func makeLate(_ place: Int, _ freshness: Freshness) {
    (nodes[place].freshness, nodes[place].isShown) = (freshness, true)
    mark(place, .doubtful, .unaffected)
  }

  /// A review has ended with the former result, and some of the inputs are out of date again.
  @usableFromInline
  mutating func giveLate(_ place: Int) {
    grow(to: place)
    makeLate(place, .doubtful)
  }

  /// A result turned out to be still the right one, or is a new one: it is served from now on.
  @usableFromInline
  mutating func confirm(_ place: Int) {
    guard place < nodes.count else { return }
    (nodes[place].freshness, nodes[place].isShown) = (.fresh, false)
    if nodes[place].absences > 0 {
      nodes[place].absences = 0
      mark(place, .outdated, .overturned, onlyAbsences: true)
    }
  }

  /// A computation has ended without a result. What was computed from a result that is not fresh
  /// cannot be confirmed then.
  @usableFromInline
  mutating func fail(_ place: Int) {
    guard place < nodes.count else { return }
    endRunning(place)
    // There has been no result: what is computed without one is looked at again.
    if nodes[place].settled == 0 { nodes[place].freshness = .outdated }
    if nodes[place].freshness != .fresh { mark(place, .outdated, .unaffected) }
  }

  /// The computation in progress is given up.
  @usableFromInline
  mutating func cancel(_ place: Int) {
    if place < nodes.count { endRunning(place, isForgotten: true) }
  }

  // MARK: Marking

  /// A result is not served any more: it was forgotten, or has expired.
  ///
  /// - Parameters:
  ///   - isKept: whether the next result can be compared with it.
  ///   - hasExpired: whether nobody has said that it is wrong.
  @usableFromInline
  mutating func outdate(_ place: Int, isKept: Bool, hasExpired: Bool = false) {
    grow(to: place)
    nodes[place].freshness = .outdated
    // Also if it was not fresh: others may have asked for the result that is being computed.
    mark(place, isKept ? .doubtful : .outdated, hasExpired ? .late : .overturned)
  }

  /// What a result was computed from may be not fresh any more.
  @usableFromInline
  mutating func doubt(_ place: Int) {
    grow(to: place)
    guard nodes[place].freshness == .fresh else { return }
    nodes[place].freshness = .doubtful
    mark(place, .doubtful, .late)
  }

  /// What was computed from a key has to be confirmed.
  @usableFromInline
  mutating func doubtDependents(of place: Int) {
    if place < nodes.count { mark(place, .doubtful, .unaffected) }
  }

  /// The result is computed again, whatever its inputs are.
  @usableFromInline
  mutating func overrule(_ place: Int) {
    grow(to: place)
    nodes[place].freshness = .outdated
  }

  /// Marks the dependents of a key, and those of these as doubtful, without recursion: a slice of them
  /// now, and the others in `proceed`.
  ///
  /// - Parameters:
  ///   - others: what becomes of the computations that have got what was computed from it, if not the same.
  ///   - load: those who wait for this computation get its result, and are not concerned.
  ///   - onlyAbsences: only those are concerned that saw no value.
  private mutating func mark(
    _ place: Int, _ freshness: Freshness, _ running: Running, others: Running? = nil,
    exceptFor load: UInt32 = 0, onlyAbsences: Bool = false
  ) {
    // Also if the first dependents are not concerned: those behind them may be.
    if computing > 0 { beginRevision() }
    if nodes[place].dependents.isEmpty { return }
    walks.append(
      Walk(
        now: Walk.Stop(place, freshness, running, load: load, onlyAbsences: onlyAbsences),
        others: others ?? (running == .unaffected ? .overturned : running),
        passed: computing > 0 && running == .overturned ? [place] : nil))
    if walks.count == 1 { proceed() }
  }

  @usableFromInline
  mutating func takeMarked() -> [Int] { exchange(&marked, []) }

  /// Whether marks are not finished. Nothing else may happen until they are.
  @_alwaysEmitIntoClient var isMarking: Bool { !walks.isEmpty }

  /// Marks the next slice of dependents.
  @usableFromInline
  mutating func proceed() {
    var left = slice
    while left > 0, var walk = walks.popLast() {
      var hasEnded = false
      while left > 0, !hasEnded {
        let place = walk.now.place
        if walk.now.passed < nodes[place].dependents.count {
          let edge = nodes[place].dependents[walk.now.passed]
          walk.now.passed += 1
          left -= 1
          pass(edge, &walk)
        } else if let next = walk.pile.popLast() {
          walk.now = next
        } else {
          hasEnded = true
        }
      }
      if !hasEnded { walks.append(walk) }
    }
  }

  /// A mark reaches a dependent.
  ///
  /// It ends at results that are not fresh, because their dependents are marked. But if a computation
  /// may have got one of these, or one that was computed from it, it goes on. It also goes on behind a
  /// computation in progress that has no former result: what has ended before it was computed from what it
  /// was at that time.
  private mutating func pass(_ edge: Edge, _ walk: inout Walk) {
    let (dependent, now) = (edge.place, walk.now)
    if now.load != 0, edge.awaited == now.load { return }
    if now.onlyAbsences, !edge.sawNothing { return }
    // There is still no value.
    if now.freshness == .fresh, edge.sawNothing { return }
    if edge.number == nodes[dependent].running {
      // The others wait for its result.
      if now.isUnfinished, !edge.hasNoAnswer { return }
      switch now.running {
      case .unaffected: return
      case .overturned: overturn(dependent, over: now.place)
      case .late: (nodes[dependent].isLate, nodes[now.place].isShown) = (true, true)
      }
      nodes[dependent].told = revision
      if nodes[dependent].settled == 0, walk.unfinished.insert(dependent).inserted {
        walk.goOn(to: Walk.Stop(dependent, .outdated, now.running, isUnfinished: true), in: nodes)
      }
    } else if edge.number == nodes[dependent].settled {
      let was = nodes[dependent].freshness
      if now.freshness != .fresh {
        nodes[dependent].freshness = max(was, edge.hasLooked ? .outdated : now.freshness)
      }
      if now.running != .late, nodes[dependent].demanded > 0 {
        // It may be under review, perhaps past this input.
        (nodes[dependent].reviewed, nodes[dependent].demanded) = (0, 0)
        nodes[dependent].rounds = min(nodes[dependent].rounds + 1, .max - 1)
      }
      let isFirst = walk.passed?.insert(dependent).inserted ?? false
      if was == .fresh {
        // It has just been given, and an input of its own was computed from it.
        if dependent == walk.origin { nodes[dependent].isShown = true }
        marked.append(dependent)
        walk.goOn(to: Walk.Stop(dependent, .doubtful, walk.others), in: nodes)
      } else if isFirst {
        // It keeps its own freshness, and so do those behind it.
        let running = nodes[dependent].isShown ? walk.others : .unaffected
        walk.goOn(to: Walk.Stop(dependent, .fresh, running), in: nodes)
      }
    }
  }

  /// When the numbers are used up, whoever was ever told counts as told since every computation began:
  /// some of those in progress begin again once too often.
  private mutating func beginRevision() {
    if revision == .max {
      for place in nodes.indices {
        (nodes[place].began, nodes[place].told) = (0, nodes[place].told == 0 ? 0 : 1)
      }
      revision = 1
    }
    revision += 1
  }

  // MARK: Letting go

  /// A key without a value and without dependents is forgotten. It may be the last dependent of
  /// others.
  @usableFromInline
  mutating func remove(_ place: Int) {
    guard place < nodes.count else { return }
    assert(nodes[place].live == 0, "a key is removed from the graph that others were computed from")
    endRunning(place, isForgotten: true)
    endSettled(place)
    nodes[place] = Node()
  }

  /// What a result was computed from is of no interest any more.
  @usableFromInline
  mutating func endSettled(_ place: Int) {
    guard place < nodes.count else { return }
    nodes[place].settled = 0
    release(exchange(&nodes[place].inputs, []))
  }

  private mutating func endNumber(_ place: Int, isForgotten: Bool = false) {
    if nodes[place].running == 0 { return }
    computing -= 1
    if !isForgotten { overturned.remove(nodes[place].running) }
    nodes[place].running = 0
  }

  private mutating func endRunning(_ place: Int, isForgotten: Bool = false) {
    endNumber(place, isForgotten: isForgotten)
    (nodes[place].isLate, nodes[place].restarts) = (false, 0)
    release(exchange(&nodes[place].asked, []))
  }

  private mutating func release(_ inputs: ContiguousArray<Input>) {
    for input in inputs {
      let input = Int(input.place)
      nodes[input].live -= 1
      if nodes[input].live == 0 {
        nodes[input].dependents = []
        nodes[input].absences = 0
        freed.append(input)
      } else if nodes[input].dependents.count > 2 * Int(nodes[input].live) + 8, !isMarking {
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
