import TailraceSupport

/// The wait graph: which task of a list waits for which other.
///
/// A node is a list's task, one of several that run steps of a list at the same time, or the queue
/// of their results, where any of several steps may bring the awaited one. An edge is a wait of a
/// step, or of its child, for a cell whose step has suspended. Only such waits can form a cycle:
/// no cell waits for a reader, and a plain step never waits.
///
/// A step is *stuck* if it waits for a stuck one; a queue is, if all its steps are.
@usableFromInline
enum WaitForGraph {
  /// One wait. It ends as soon as the waiter is woken, or the cell is there.
  private struct Edge: Sendable {
    let waiter: Waiter
    let cell: MissingCell
    let from: any Worker
    let to: any Worker
    /// The cell that the reader wants, perhaps of another list.
    let asked: MissingCell?

    var isWaiting: Bool { waiter.isWaiting && cell.place.isMissing(cell) }

    /// The element that was asked for, if its list is not the awaited one.
    var detour: [CyclicEvaluationError.Place] {
      guard let asked, asked.place.identity !== cell.place.identity else { return [] }
      return [(asked.place.title, asked.position)]
    }
  }

  private typealias Key = ObjectIdentifier

  private struct Waits: Sendable {
    var edges: [Key: [Key: Edge]] = [:]
    /// How many edges lead to each node. A node without any closes no cycle.
    var incoming: [Key: Int] = [:]

    mutating func add(_ edge: Edge) {
      edges[Key(edge.from), default: [:]][Key(edge.waiter)] = edge
      incoming[Key(edge.to), default: 0] += 1
    }

    mutating func remove(_ waiter: Waiter, of node: any Worker) -> Edge? {
      let key = Key(node)
      guard let edge = edges[key]?.removeValue(forKey: Key(waiter)) else { return nil }
      if edges[key]?.isEmpty == true { edges[key] = nil }
      let target = Key(edge.to)
      let count = incoming[target, default: 1] - 1
      incoming[target] = count == 0 ? nil : count
      return edge
    }

    /// Whether a step may wait for this one: directly, for the queue of its results, or, if this one
    /// pulls elements for the steps of a queue, for that queue.
    func isAwaited(_ node: any Worker) -> Bool {
      incoming[Key(node)] != nil || node.queue.map { incoming[Key($0)] != nil } == true
        || (node as? StepExecutor)?.ahead?.queue.map { incoming[$0] != nil } == true
    }

    /// A path of waits from a node that returns, or reaches the step that is known to be stuck. `nil`
    /// if there is none. Takes time proportional to the reachable waits.
    ///
    /// - Parameter visited: retains what is looked at. The last reference to it must not be released
    ///   under the lock.
    func path(
      from start: any Worker, toStuck known: (any Worker)?, _ visited: inout [AnyObject]
    ) -> [Edge]? {
      while !isChain(from: start, &visited) {
        let stuck = stuck(from: start, known, &visited)
        func isStuck(_ node: any Worker) -> Bool { node === known || stuck[Key(node)] != nil }
        func isStillStuck(_ node: any Worker) -> Bool {
          if let steps = node.alternatives(keeping: &visited) {
            return !steps.isEmpty && steps.allSatisfy(isStuck)
          }
          return waiting(node).contains { isStuck($0.to) }
        }
        guard isStuck(start) else { return nil }
        var path: [Edge] = []
        var passed: Set<Key> = []
        var node = start
        while node !== known, passed.insert(Key(node)).inserted {
          if let step = node.alternatives(keeping: &visited)?.first {
            node = step
          } else if let edge = waiting(node).first(where: { isStuck($0.to) }) {
            path.append(edge)
            node = edge.to
          } else {
            break
          }
        }
        // A wait that has ended stays ended: if all still exist, they all existed at once.
        // Otherwise the search begins again without those that have ended.
        if stuck.values.allSatisfy(isStillStuck) { return path }
      }
      return nil
    }

    /// Whether each node from one on waits for one other, and the last for none, as most do. Then
    /// none of them is stuck.
    private func isChain(from start: any Worker, _ visited: inout [AnyObject]) -> Bool {
      var node = start
      for _ in 0...edges.count {
        guard node.alternatives(keeping: &visited) == nil else { return false }
        guard let waits = edges[Key(node)] else { return true }
        guard waits.count == 1, let wait = waits.values.first else { return false }
        node = wait.to
      }
      return false
    }

    /// The nodes that are reached from one and are stuck.
    private func stuck(
      from start: any Worker, _ known: (any Worker)?, _ visited: inout [AnyObject]
    ) -> [Key: any Worker] {
      // All reachable nodes are assumed stuck; then those that are not are removed.
      var stuck: [Key: any Worker] = [:]
      var dependents: [Key: [Key]] = [:]
      var ways: [Key: Int] = [:]
      var free: [Key] = []
      var rest = [start]
      while let node = rest.popLast() {
        visited.append(node)
        guard node !== known, stuck.updateValue(node, forKey: Key(node)) == nil else { continue }
        let alternatives = node.alternatives(keeping: &visited)
        let targets = alternatives ?? waiting(node).map(\.to)
        // A queue is free as soon as one of its steps is; a step, when all that it waits for are.
        ways[Key(node)] = alternatives == nil ? targets.count : 1
        if targets.isEmpty { free.append(Key(node)) }
        for target in targets { dependents[Key(target), default: []].append(Key(node)) }
        rest += targets
      }
      while let node = free.popLast() {
        guard stuck.removeValue(forKey: node) != nil else { continue }
        for dependent in dependents[node] ?? [] {
          let left = ways[dependent, default: 1] - 1
          ways[dependent] = left
          if left == 0 { free.append(dependent) }
        }
      }
      return stuck
    }

    private func waiting(_ node: any Worker) -> some Sequence<Edge> {
      (edges[Key(node)] ?? [:]).values.lazy.filter(\.isWaiting)
    }
  }

  private static let waits = Locked(Waits())

  /// A step is about to wait for a cell. Returns the error if it would wait for ever; then it does
  /// not.
  static func add(
    _ waiter: Waiter, of node: any Worker, for cell: MissingCell, on other: any Worker,
    asked: MissingCell?
  ) -> CyclicEvaluationError? {
    let edge = Edge(waiter: waiter, cell: cell, from: node, to: other, asked: asked)
    var visited: [AnyObject] = []
    // The visited nodes are released outside of the lock.
    defer { visited = [] }
    var isNew = true
    while true {
      let found = waits.withLock { waits -> (path: [Edge], yielding: Edge?)? in
        if isNew { waits.add(edge) }
        // The step may have been woken since it decided to wait. This is checked last: if it still
        // waits, it also waited when the others were checked.
        guard waits.isAwaited(node),
          let path = waits.path(from: other, toStuck: node, &visited), edge.isWaiting
        else { return nil }
        let yielding = node.yieldsToCycles ? nil : path.first { $0.from.yieldsToCycles }
        // The caller retains the contents of this edge.
        if yielding == nil { _ = waits.remove(waiter, of: node) }
        return (path, yielding)
      }
      guard let found else { return nil }
      // All of them still wait.
      let cycle = CyclicEvaluationError(through: places([edge] + found.path, node))
      guard let yielding = found.yielding else { return cycle }
      yielding.waiter.wake(.failed(cycle))
      isNew = false
    }
  }

  /// A step goes on.
  static func remove(_ waiter: Waiter, of node: any Worker) {
    // Released outside of the lock: it may be the last reference to a list.
    _ = waits.withLock { $0.remove(waiter, of: node) }
  }

  /// A queue gets no other steps for now: if all its steps wait for it, one of them is told.
  @usableFromInline
  static func checkForCycle(through queue: any Worker) {
    var visited: [AnyObject] = []
    let path = waits.withLock { waits in
      waits.incoming[Key(queue)].flatMap { _ in waits.path(from: queue, toStuck: nil, &visited) }
    }
    guard let path, let edge = path.first else { return }
    edge.waiter.wake(.failed(CyclicEvaluationError(through: places(path, edge.from))))
  }

  private static func places(
    _ path: [Edge], _ node: any Worker
  ) -> [CyclicEvaluationError.Place] {
    var places = [(node.title, node.position)]
    for edge in path {
      places += edge.detour
      if edge.to !== node, edge.to !== node.queue {
        places.append((edge.to.title, edge.to.position))
      }
    }
    return places
  }
}
