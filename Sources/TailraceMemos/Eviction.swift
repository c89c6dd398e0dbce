import TailraceLists
import TailraceSupport

/// The eviction order of bounded memos, as a value: S3-FIFO, as in Yang, Zhang, Qiu, Yue and
/// Rashmi, "FIFO queues are all you need for cache eviction" (SOSP 2023).
///
/// ```
///  new ──▶ small (a tenth) ──▶ used again? ──▶ main ──▶ used since? ──▶ to its new end
///             └─▶ gone, but its ghost stays; who comes back as a ghost goes to main at once
/// ```
///
/// Entries used once pass through the small queue and out, so a scan evicts nothing from the main
/// one. A use only counts up, so readers move nothing.
@usableFromInline
struct Eviction: Sendable {
  /// `pinned` is no line: an entry that is being computed again stays, whatever the others do.
  enum Queue: UInt8, Sendable { case none, small, main, pinned }

  @usableFromInline
  struct Node: Sendable {
    /// Neighbours in a queue; -1 for none.
    var newer: Int32 = -1
    var older: Int32 = -1
    var queue = Queue.none
    var isPinned: Bool { queue == .pinned }
    /// The line that it comes back to.
    var wasSmall = false
    /// The number of uses since the last pass through the queue, up to 3.
    @usableFromInline var uses: UInt8 = 0
    var cost = 0
  }

  struct Line: Sendable {
    var newest: Int32 = -1
    var oldest: Int32 = -1
    var count = 0
    var cost = 0
  }

  @usableFromInline let limit: Int
  @usableFromInline var nodes: ContiguousArray<Node> = []
  private var small = Line()
  private var main = Line()
  /// The cost of the entries that stay.
  private var pinnedCost = 0
  private var ghosts = Ghosts()

  /// - Parameter limit: the maximum cost of all kept entries together.
  @usableFromInline
  init(limit: Int) { self.limit = limit }

  var cost: Int { small.cost + main.cost + pinnedCost }
  private var count: Int { small.count + main.count }

  /// A kept entry was used.
  @_alwaysEmitIntoClient @inline(__always)
  mutating func used(_ place: Int) {
    if nodes[place].uses < 3 { nodes[place].uses &+= 1 }
  }

  /// Keeps an entry at that cost, a new one or one that was computed again. There is room for it.
  @usableFromInline
  mutating func keep(_ place: Int, hash: Int, cost: Int) {
    if isKept(place) { unpin(place, cost: cost) } else { admit(place, hash: hash, cost: cost) }
  }

  /// Keeps a new entry.
  @usableFromInline
  mutating func admit(_ place: Int, hash: Int, cost: Int) {
    while nodes.count <= place { nodes.append(Node()) }
    nodes[place] = Node(cost: cost)
    enter(place, ghosts.remove(hash) ? .main : .small)
  }

  /// Stops keeping an entry, for any reason.
  @usableFromInline
  mutating func remove(_ place: Int) { if place < nodes.count { leave(place) } }

  /// The entry is being computed again, and must stay meanwhile. It leaves its line, which is not walked in
  /// vain then.
  @usableFromInline
  mutating func pin(_ place: Int) {
    guard nodes[place].queue != .none, !nodes[place].isPinned else { return }
    let wasSmall = nodes[place].queue == .small
    leave(place)
    nodes[place].wasSmall = wasSmall
    enter(place, .pinned)
  }

  /// The computation has ended, with or without a value, at that cost.
  @usableFromInline
  mutating func unpin(_ place: Int, cost: Int? = nil) {
    let queue = nodes[place].queue
    if queue == .none { return }
    leave(place)
    if let cost { nodes[place].cost = cost }
    enter(place, queue != .pinned ? queue : nodes[place].wasSmall ? .small : .main)
  }

  /// 0 for an entry that is not kept.
  @usableFromInline
  func cost(of place: Int) -> Int { isKept(place) ? nodes[place].cost : 0 }

  private func isKept(_ place: Int) -> Bool { place < nodes.count && nodes[place].queue != .none }

  /// Whether an entry of that cost has room.
  @usableFromInline
  func hasRoom(for cost: Int) -> Bool { self.cost <= limit - cost }

  /// Whether the costs of all entries can be counted after such a change: those of pinned entries
  /// may exceed the limit.
  @usableFromInline
  func canCount(_ change: Int) -> Bool { !cost.addingReportingOverflow(change).overflow }

  /// Removes the entry to evict first; `nil` if all others are pinned.
  ///
  /// - Complexity: O(1), spread over the uses since the last time.
  @usableFromInline
  mutating func removeFirst() -> (place: Int, isFromSmall: Bool)? {
    // An entry passes from the small queue to the main one, and there three times at most.
    while count > 0 {
      let isFromSmall = small.cost >= max(1, limit / 10) || main.count == 0
      let place = Int(isFromSmall ? small.oldest : main.oldest)
      let node = nodes[place]
      leave(place)
      if isFromSmall, node.uses > 1 {
        nodes[place].uses = 0
        enter(place, .main)
      } else if !isFromSmall, node.uses > 0 {
        nodes[place].uses -= 1
        enter(place, .main)
      } else {
        return (place, isFromSmall)
      }
    }
    return nil
  }

  /// Remembers the hash of an entry evicted from the small queue: if it soon returns, it stays
  /// longer.
  @usableFromInline
  mutating func remember(hash: Int) { ghosts.insert(hash, capacity: max(count, 8)) }

  // MARK: Queues

  private mutating func enter(_ place: Int, _ queue: Queue) {
    nodes[place].queue = queue
    switch queue {
    case .none: break
    case .small: small.append(place, &nodes)
    case .main: main.append(place, &nodes)
    case .pinned: pinnedCost += nodes[place].cost
    }
  }

  private mutating func leave(_ place: Int) {
    switch nodes[place].queue {
    case .none: return
    case .small: small.remove(place, &nodes)
    case .main: main.remove(place, &nodes)
    case .pinned: pinnedCost -= nodes[place].cost
    }
    nodes[place].queue = .none
  }
}

extension Eviction.Line {
  mutating func append(_ place: Int, _ nodes: inout ContiguousArray<Eviction.Node>) {
    nodes[place].newer = -1
    nodes[place].older = newest
    if newest >= 0 { nodes[Int(newest)].newer = Int32(place) }
    newest = Int32(place)
    if oldest < 0 { oldest = newest }
    count += 1
    cost += nodes[place].cost
  }

  mutating func remove(_ place: Int, _ nodes: inout ContiguousArray<Eviction.Node>) {
    let node = nodes[place]
    if node.newer >= 0 { nodes[Int(node.newer)].older = node.older } else { newest = node.older }
    if node.older >= 0 { nodes[Int(node.older)].newer = node.newer } else { oldest = node.newer }
    count -= 1
    cost -= node.cost
  }
}

/// The hashes of recent evictions. Each hash has only one possible place, and the next one there
/// replaces it. That forgets a few too early, and costs 16 bytes each.
struct Ghosts: Sendable {
  private struct Ghost: Sendable {
    var hash = 0
    /// The number of its eviction; 0 for none.
    var number = 0
  }

  private var ghosts: [Ghost] = []
  private var deaths = 0
  private var capacity = 0

  /// Remembers a hash, and up to `capacity` earlier ones.
  mutating func insert(_ hash: Int, capacity: Int) {
    self.capacity = capacity
    if ghosts.count < capacity {
      let former = ghosts
      ghosts = Array(repeating: Ghost(), count: max(16, 2 * former.count))
      for ghost in former where ghost.number > 0 { ghosts[place(of: ghost.hash)] = ghost }
    }
    deaths += 1
    ghosts[place(of: hash)] = Ghost(hash: hash, number: deaths)
  }

  /// Removes a hash. False if it is not remembered.
  mutating func remove(_ hash: Int) -> Bool {
    guard !ghosts.isEmpty else { return false }
    let ghost = ghosts[place(of: hash)]
    guard ghost.number > 0, ghost.hash == hash, deaths - ghost.number < capacity else {
      return false
    }
    ghosts[place(of: hash)] = Ghost()
    return true
  }

  private func place(of hash: Int) -> Int { hash & (ghosts.count - 1) }
}
