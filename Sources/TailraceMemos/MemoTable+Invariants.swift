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
      switch slot.content {
      case .none, .computing, .stale, .replacing: break
      case .value, .failure, .renewing: known += 1
      }
      guard let key = slot.key else {
        if case .none = slot.content { continue }
        return "the slot \(place) has a content, and no key"
      }
      if slots.place(of: key) != place { return "the key of the slot \(place) leads elsewhere" }
      if let broken = brokenEviction(place, slot.content) { return broken }
      if let broken = brokenFreshness(place, slot.content) { return broken }
      if isUnobserved(place, slot.content) { return "nobody wants what the slot \(place) computes" }
    }
    if known != count { return "\(known) keys are known, and \(count) are counted" }
    let free = slots.slots.count - slots.index.count
    if free != slots.free.count {
      return "\(free) slots are free, and \(slots.free.count) are listed"
    }
    if !freed.isEmpty { return "the slots \(freed) are not freed" }
    return graph?.brokenInvariant
  }

  private func brokenEviction(_ place: Int, _ content: Content) -> String? {
    guard isBounded else { return nil }
    let (isKept, isPinned) =
      switch content {
      case .none, .computing: (false, false)
      case .value, .failure, .stale: (true, false)
      case .renewing, .replacing: (true, true)
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
    case .computing, .renewing, .replacing:
      return observers[place] <= 0
    case .none, .value, .failure, .stale: return false
    }
  }

  private func brokenFreshness(_ place: Int, _ content: Content) -> String? {
    guard let graph else {
      if case .none = content { return "the slot \(place) has a key and no content" }
      return nil
    }
    switch content {
    case .none: return graph.hasDependents(place) ? nil : "the slot \(place) is kept for nobody"
    case .renewing:
      return graph.freshness(of: place) == .fresh ? nil : "the slot \(place) serves a stale value"
    case .value where !ages.areKept, .failure where !ages.areKept:
      return graph.freshness(of: place) == .fresh ? nil : "the slot \(place) serves a stale value"
    case .stale:
      return graph.freshness(of: place) == .fresh ? "the slot \(place) is fresh, and stale" : nil
    case .value, .failure, .computing, .replacing: return nil
    }
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
