import Tailrace
import Testing

@testable import TailraceLists

/// Every order of the readers' steps: a reader counts an element and tells it in two steps, and a
/// reader that was woken asks again when it gets round to it.
@Suite("Readers in step, in every order", .tags(.long), .inTurn)
struct LockstepRaceTests {
  struct World: Explorable {
    enum Event { case ask(Int), take(Int), tell(Int), leave(Int) }
    enum Phase { case asks, reads, tells, waits, gone }

    struct Key: Hashable {
      let state: LockstepState<Int>
      let readers: [[Int]]
      let phases: [Phase]
    }

    let costs: [Int]
    private var state: LockstepState<Int>
    private var phases: [Phase]
    /// How many elements each has taken.
    private var taken: [Int]
    private var positions: [Int]
    private var ends: [Int]
    private var awaited: [Bool]
    private(set) var violation: String?

    init(readers: Int, distance: Int, costs: [Int]) {
      self.costs = costs
      state = LockstepState(readers: readers, distance: distance)
      phases = Array(repeating: .asks, count: readers)
      taken = Array(repeating: 0, count: readers)
      (positions, ends) = (taken, taken)
      awaited = Array(repeating: false, count: readers)
    }

    var key: Key {
      Key(
        state: state,
        readers: [taken, ends] + [awaited.map { $0 ? 1 : 0 }], phases: phases)
    }

    private var slowest: Int {
      positions.indices.filter { phases[$0] != .gone }.map { positions[$0] }.min() ?? .max
    }

    var events: [Event] {
      phases.indices.flatMap { reader -> [Event] in
        switch phases[reader] {
        case .asks: [.ask(reader), .leave(reader)]
        case .reads:
          taken[reader] < costs.count ? [.take(reader), .leave(reader)] : [.leave(reader)]
        case .tells: [.tell(reader)]
        // It is cancelled.
        case .waits: [.leave(reader)]
        case .gone: []
        }
      }
    }

    mutating func apply(_ event: Event) {
      switch event {
      case .ask(let reader):
        let position = positions[reader]
        switch ask({ $0.demand(by: reader, at: position, waiter: reader, $1) }) {
        case .mayRead(let end):
          if end <= position { violation = "\(reader) may read nothing" }
          ends[reader] = end
          phases[reader] = .reads
        case .mustWait: phases[reader] = .waits
        }
      case .take(let reader):
        if positions[reader] - slowest >= state.distance {
          violation = "\(reader) is too far ahead"
        }
        positions[reader] += costs[taken[reader]]
        taken[reader] += 1
        phases[reader] =
          awaited[reader] ? .tells : positions[reader] < ends[reader] ? .reads : .asks
      case .tell(let reader):
        awaited[reader] = false
        let position = positions[reader]
        phases[reader] = position < ends[reader] ? .reads : .asks
        wake(ask { $0.moved($1) })
      case .leave(let reader):
        phases[reader] = .gone
        wake(ask { $0.leave(reader, $1) })
      }
      check()
    }

    private mutating func ask<Answer>(
      _ question: (inout LockstepState<Int>, LockstepState<Int>.Locate) -> Answer
    ) -> Answer {
      state.answer(at: positions, noting: &awaited, question)
    }

    private mutating func wake(_ readers: [Int]) {
      for reader in readers {
        if phases[reader] != .waits { violation = "\(reader) is woken, and does not wait" }
        phases[reader] = .asks
      }
    }

    private mutating func check() {
      let isTold = phases.contains(.tells)
      for reader in phases.indices where phases[reader] == .waits {
        guard case .waiting(let others, let position) = standing(reader) else {
          violation = "\(reader) waits, and is not said to"
          return
        }
        // Nobody is left to wake it, unless somebody is about to tell.
        if !isTold, positions[reader] - slowest < state.distance {
          violation = "\(reader) waits in vain"
        }
        if others.isEmpty || position != slowest { violation = "\(reader) waits for nobody" }
        if !isTold, !others.contains(where: { awaited[$0] }) {
          violation = "nobody tells \(reader) that it may go on"
        }
      }
    }

    private func standing(_ reader: Int) -> LockstepState<Int>.Standing {
      state.standing(of: reader) { reader, _ in positions[reader] }
    }
  }

  @Test(
    "nobody is too far ahead, and nobody waits in vain",
    arguments: [
      (2, 1, [1, 1, 1, 1]), (2, 2, [1, 1, 1, 1, 1]), (3, 1, [1, 1, 1]), (3, 2, [1, 1, 1]),
      (2, 3, [2, 0, 5, 1]), (3, 4, [3, 0, 9]),
    ] as [(Int, Int, [Int])])
  func everyOrder(_ readers: Int, _ distance: Int, _ costs: [Int]) async {
    await World(readers: readers, distance: distance, costs: costs).expectSafe(limit: 2_000_000)
  }
}
