/// Who waits for whom, among the tasks of lists.
///
/// A node is a list's task, or one of several that run steps of a list at the same time; an edge is a
/// wait of that task, or of a child of it, for a cell of another list whose step has suspended. Only
/// such waits can be part of a cycle: a reader waits, but nobody waits for it, and a plain step never
/// waits at all.
enum WaitForGraph {
  /// One wait. It is over as soon as the waiter is woken, or the cell is there.
  private struct Edge: Sendable {
    let waiter: Waiter
    let cell: MissingCell
    let to: any Worker
    /// The list that was asked, if the cell is another's.
    let asked: (any MemoCells)?

    var isWaiting: Bool { waiter.isWaiting && cell.cells.isMissing(cell.mark) }

    /// The element that was asked for, if it is another list's than that which is waited for.
    var detour: [CyclicEvaluationError.Place] {
      guard let asked, asked !== cell.cells, let next = (asked as? any FrontCells)?.next
      else { return [] }
      return [(asked.title, next)]
    }
  }

  private struct Waits: Sendable {
    var edges: [ObjectIdentifier: [Edge]] = [:]
    /// How many edges lead to each node. A node that nobody waits for closes no cycle.
    var incoming: [ObjectIdentifier: Int] = [:]

    mutating func remove(_ waiter: Waiter, of node: any Worker) -> Edge? {
      let key = ObjectIdentifier(node)
      guard var own = edges[key], let index = own.firstIndex(where: { $0.waiter === waiter })
      else { return nil }
      let edge = own.remove(at: index)
      edges[key] = own.isEmpty ? nil : own
      let target = ObjectIdentifier(edge.to)
      let count = incoming[target, default: 1] - 1
      incoming[target] = count == 0 ? nil : count
      return edge
    }
  }

  private static let waits = Locked(Waits())

  /// A step is about to wait for a cell. Returns the error if it would wait for ever; then it does not.
  static func add(
    _ waiter: Waiter, of node: any Worker, for cell: MissingCell, on other: any Worker,
    asked: (any MemoCells)?
  ) -> CyclicEvaluationError? {
    let edge = Edge(waiter: waiter, cell: cell, to: other, asked: asked)
    return waits.withLock { waits in
      waits.edges[ObjectIdentifier(node), default: []].append(edge)
      waits.incoming[ObjectIdentifier(other), default: 0] += 1
      guard waits.incoming[ObjectIdentifier(node)] != nil else { return nil }
      // A wait that is over stays over: if all are there still, they were all there at once.
      guard let path = path(from: edge, to: node, waits.edges), path.allSatisfy(\.isWaiting) else {
        return nil
      }
      var places = [(node.title, node.position)]
      for edge in path {
        places += edge.detour
        if edge.to !== node { places.append((edge.to.title, edge.to.position)) }
      }
      // The caller holds what this edge does.
      _ = waits.remove(waiter, of: node)
      return CyclicEvaluationError(through: places)
    }
  }

  /// A step goes on.
  static func remove(_ waiter: Waiter, of node: any Worker) {
    // Released outside of the lock: it may be the last reference to a list.
    let former = waits.withLock { $0.remove(waiter, of: node) }
    _ = former
  }

  /// The edges from one to a node: a search in depth, without recursion.
  private static func path(
    from first: Edge, to node: any Worker, _ edges: [ObjectIdentifier: [Edge]]
  ) -> [Edge]? {
    /// By which edge each node was reached, and from where.
    var reached: [ObjectIdentifier: (edge: Edge, from: ObjectIdentifier?)] = [:]
    reached[ObjectIdentifier(first.to)] = (first, nil)
    var pile = [ObjectIdentifier(first.to)]
    while let key = pile.popLast() {
      if key == ObjectIdentifier(node) { break }
      for next in edges[key] ?? [] where next.isWaiting {
        let target = ObjectIdentifier(next.to)
        guard reached[target] == nil else { continue }
        reached[target] = (next, key)
        pile.append(target)
      }
    }
    var path: [Edge] = []
    var key: ObjectIdentifier? = ObjectIdentifier(node)
    while let here = key {
      guard let (edge, from) = reached[here] else { return nil }
      path.append(edge)
      key = from
    }
    return path.reversed()
  }
}

/// The cells of a list of which the next one is missing.
private protocol FrontCells {
  /// The position of the cell that is missing.
  var next: Int { get }
}

extension Segment: FrontCells {
  fileprivate var next: Int { start + published.load(ordering: .acquiring).count }
}

/// A task that computes elements, in the graph of who waits for whom.
@usableFromInline
protocol Worker: AnyObject, Sendable {
  /// What errors call its list.
  var title: String { get }
  /// The position of the element that is computed.
  var position: Int { get }
}

extension StepTask: Worker {}

/// A task that runs one of several steps, and has no executor of its own to be known by.
@usableFromInline
protocol ConcurrentWorker: Worker {
  /// Identifies the task.
  var runningTask: UInt { get }
}

@usableFromInline
enum CurrentWorker {
  /// Set by a task that runs one of several steps. What that starts has it, too, and may live longer.
  @usableFromInline static let step = TaskLocal<(any ConcurrentWorker)?>(wrappedValue: nil)

  /// Only ever compared.
  @usableFromInline static var task: UInt {
    withUnsafeCurrentTask { $0.map { unsafeBitCast($0, to: UInt.self) } ?? 0 }
  }

  /// Whose step waits where the running code waits.
  static func running(on executor: (any TaskExecutor)?) -> (any Worker)? {
    if let list = executor as? StepTask { return list }
    guard let step = step.get(), step.runningTask == task else { return nil }
    return step
  }
}
