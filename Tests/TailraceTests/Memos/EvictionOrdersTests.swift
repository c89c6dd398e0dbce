import Tailrace
import Testing

@testable import TailraceLists
@testable import TailraceMemos

/// The values that are kept, with their costs, and the order of their eviction.
private struct EvictionModel: Explorable {
  enum Event: Hashable {
    case ask(Int, cost: Int), evict, remove(Int), pin(Int), unpin(Int, cost: Int)
  }

  static let limit = 3

  var eviction = Eviction(limit: Self.limit)
  /// By place; a place has the number of its key.
  var costs: [Int?] = [nil, nil, nil]
  var pinned: Set<Int> = []
  var violation: String?

  var key: String { "\(eviction), \(costs), \(pinned.sorted())" }

  var events: [Event] {
    costs.indices.flatMap { place -> [Event] in
      guard costs[place] != nil else { return [.ask(place, cost: 1), .ask(place, cost: 2)] }
      return [
        .ask(place, cost: 1), .remove(place),
        pinned.contains(place) ? .unpin(place, cost: 2) : .pin(place),
      ]
    } + [.evict]
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .ask(let place, let cost):
      if costs[place] != nil { return eviction.used(place) }
      while !eviction.hasRoom(for: cost), evict() {}
      // Only what is pinned keeps a limit from holding.
      if !eviction.hasRoom(for: cost), costs.indices.contains(where: isEvictable) {
        violation = "no room, though something could go"
      }
      eviction.admit(place, hash: place, cost: cost)
      costs[place] = cost
    case .evict: evict()
    case .remove(let place):
      eviction.remove(place)
      costs[place] = nil
      pinned.remove(place)
    case .pin(let place):
      eviction.pin(place)
      pinned.insert(place)
    case .unpin(let place, let cost):
      eviction.unpin(place, cost: cost)
      costs[place] = cost
      pinned.remove(place)
    }
    let sum = costs.reduce(0) { $0 + ($1 ?? 0) }
    if eviction.cost != sum { violation = "the costs are \(eviction.cost) and not \(sum)" }
    for (place, cost) in costs.enumerated() {
      if let cost, eviction.cost(of: place) != cost { violation = "the cost of \(place) is wrong" }
    }
  }

  private func isEvictable(_ place: Int) -> Bool { costs[place] != nil && !pinned.contains(place) }

  @discardableResult
  private mutating func evict() -> Bool {
    guard let (place, isFromSmall) = eviction.removeFirst() else {
      if costs.indices.contains(where: isEvictable) { violation = "nothing goes, though it could" }
      return false
    }
    if !isEvictable(place) { violation = "\(place) goes, which is pinned or not there" }
    if isFromSmall { eviction.remember(hash: place) }
    costs[place] = nil
    return true
  }
}

@Suite("Eviction: every order of events", .tags(.long), .inTurn)
struct EvictionOrdersTests {
  @Test("pinned values stay, others are evicted, and the costs are right")
  func orders() async {
    #if DEBUG
      await EvictionModel().expectSafe(depth: 5, isComplete: false)
    #else
      await EvictionModel().expectSafe(depth: 7, isComplete: false)
    #endif
  }
}
