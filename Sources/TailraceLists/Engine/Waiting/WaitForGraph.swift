import TailraceSupport

/// The wait graph: which task of a list waits for which other.
///
/// A node is a list's task, or one of several that run steps of a list at the same time. An edge is a wait of
/// a step, or of its child, for a cell whose step has suspended. Only such waits can form a cycle: no cell waits
/// for a reader, and a plain step never waits. A path of edges that returns is a cycle.
///
/// What any of several closures may bring is no edge: a wait for a result of `concurrentMapUnordered`. A cycle
/// through it is not found.
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

    /// A path of waits from one node to another; empty if they are the same, `nil` if there is none. Takes time
    /// proportional to the reachable waits.
    ///
    /// A wait that has ended stays ended. So waits that are all found to wait at a second look, after the
    /// search, all waited at the same time; otherwise the search begins again without those that have ended.
    func path(from start: any Worker, to node: any Worker) -> [Edge]? {
      while let path = search(from: start, to: node) {
        if path.allSatisfy(\.isWaiting) { return path }
      }
      return nil
    }

    private func search(from start: any Worker, to node: any Worker) -> [Edge]? {
      if start === node { return [] }
      /// The wait by which each node was reached, from the start on.
      var arrivals: [Key: Edge?] = [Key(start): nil]
      var rest = [Key(start)]
      while let key = rest.popLast() {
        for edge in (edges[key] ?? [:]).values where arrivals[Key(edge.to)] == nil {
          guard edge.isWaiting else { continue }
          arrivals[Key(edge.to)] = edge
          guard edge.to === node else {
            rest.append(Key(edge.to))
            continue
          }
          var path: [Edge] = []
          var last: Edge? = edge
          while let edge = last {
            path.append(edge)
            last = arrivals[Key(edge.from)] ?? nil
          }
          return path.reversed()
        }
      }
      return nil
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
    var isNew = true
    while true {
      let found = waits.withLock { waits -> (path: [Edge], yielding: Edge?)? in
        if isNew { waits.add(edge) }
        // The step may have been woken since it decided to wait. This is checked last: if it still
        // waits, it also waited when the others were checked.
        guard waits.incoming[Key(node)] != nil, let path = waits.path(from: other, to: node),
          edge.isWaiting
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

  private static func places(
    _ path: [Edge], _ node: any Worker
  ) -> [CyclicEvaluationError.Place] {
    var places = [(node.title, node.position)]
    for edge in path {
      places += edge.detour
      if edge.to !== node { places.append((edge.to.title, edge.to.position)) }
    }
    return places
  }
}
