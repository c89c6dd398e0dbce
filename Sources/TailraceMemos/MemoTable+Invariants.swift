// Each takes time proportional to the number of keys.

extension MemoTable {
  /// Traps in a debug build if an event has broken an invariant. Large tables are not looked at.
  @usableFromInline
  func checkInvariants() {
    #if DEBUG
      guard slots.slots.count <= 32 else { return }
      if let broken = brokenInvariant {
        preconditionFailure("the table of Memos is broken: \(broken)")
      }
    #endif
  }

  /// Describes a broken invariant; `nil` if all hold. For tests: takes time proportional to the
  /// number of slots.
  var brokenInvariant: String? {
    var known = 0
    for (place, slot) in slots.slots.enumerated() {
      if isCounted(place) { known += 1 }
      guard let key = slot.key else {
        if case .none = slot.content { continue }
        return "the slot \(place) has a content, and no key"
      }
      if slots.place(of: key) != place { return "the key of the slot \(place) leads elsewhere" }
      if case .none = slot.content, vacated == nil { return "the slot \(place) has only a key" }
      if let broken = brokenEviction(place, slot.content) { return broken }
      if isUnobserved(place, slot.content) { return "nobody wants what the slot \(place) computes" }
    }
    if known != count { return "\(known) keys are known, and \(count) are counted" }
    let free = slots.slots.count - slots.index.count
    if free != slots.free.count {
      return "\(free) slots are free, and \(slots.free.count) are listed"
    }
    return nil
  }

  private func brokenEviction(_ place: Int, _ content: Content) -> String? {
    guard isBounded else { return nil }
    let (isKept, isPinned) =
      switch content {
      case .none, .computing: (false, false)
      case .value, .failure: (true, false)
      case .renewing: (true, true)
      }
    guard place < eviction.nodes.count else {
      return isKept ? "the slot \(place) is in no queue" : nil
    }
    let node = eviction.nodes[place]
    if (node.queue != .none) != isKept { return "the slot \(place) is in a queue: \(!isKept)" }
    return node.isPinned == isPinned ? nil : "the slot \(place) is pinned: \(!isPinned)"
  }

  private func isUnobserved(_ place: Int, _ content: Content) -> Bool {
    guard let observers else { return false }
    switch content {
    case .computing, .renewing: return observers[place] <= 0
    case .none, .value, .failure: return false
    }
  }
}

extension RecursiveTable {
  @usableFromInline
  func checkInvariants() {
    #if DEBUG
      guard base.slots.slots.count <= 32 else { return }
      if let broken = brokenInvariant {
        preconditionFailure("the table of recursive Memos is broken: \(broken)")
      }
    #endif
  }

  /// Describes a broken invariant; `nil` if all hold.
  var brokenInvariant: String? {
    if let broken = base.brokenInvariant { return broken }
    if base.vacated == nil { return nil }
    for (place, slot) in base.slots.slots.enumerated() where slot.key != nil {
      let isFresh = graph.freshness(of: place) == .fresh
      switch slot.content {
      case .none:
        if !graph.hasDependents(place) { return "the slot \(place) is kept for nobody" }
      case .value, .renewing:
        if base.ages.isWithdrawn(place) == isFresh {
          return "the slot \(place) is fresh: \(isFresh), and served"
        }
      case .computing, .failure: break
      }
    }
    return graph.brokenInvariant
  }
}

extension DependencyGraph {
  /// Describes a broken invariant; `nil` if all hold. For tests: takes time proportional to the
  /// size of the graph.
  var brokenInvariant: String? {
    for (place, node) in nodes.enumerated() {
      let live = node.dependents.filter(counts)
      if live.count != node.live { return "\(live.count) dependents of \(place), not \(node.live)" }
      if node.freshness == .fresh { continue }
      for edge in live where edge.number == nodes[edge.place].settled && !edge.sawNothing {
        if nodes[edge.place].freshness == .fresh {
          return "\(edge.place) is fresh, and was computed from \(place), which is not"
        }
      }
    }
    return nil
  }
}
