import Tailrace
import Testing

@testable import TailraceLists

@Suite("Readers in step, as a value", .tags(.long), .inTurn)
struct LockstepStateTests {
  /// The value, the readers' own counts, and a model that knows where everybody stands.
  struct World {
    enum Phase { case reading, waiting, gone }

    var state: LockstepState<Int>
    /// Where the readers stand, and whether they are to tell it.
    var positions: [Int]
    var awaited: [Bool]
    var phases: [Phase]
    /// Before which position each may take elements.
    var ends: [Int]

    init(readers: Int, distance: Int) {
      state = LockstepState(readers: readers, distance: distance)
      positions = Array(repeating: 0, count: readers)
      awaited = Array(repeating: false, count: readers)
      phases = Array(repeating: .reading, count: readers)
      ends = Array(repeating: 0, count: readers)
    }

    var slowest: Int {
      positions.indices.filter { phases[$0] != .gone }.map { positions[$0] }.min() ?? .max
    }

    /// Asks the value, and hands it what it may look at.
    private mutating func ask<Answer>(
      _ question: (inout LockstepState<Int>, LockstepState<Int>.Locate) -> Answer
    ) -> Answer {
      state.answer(at: positions, noting: &awaited, question)
    }

    /// A reader takes an element, or waits for one. Returns whether it took one.
    @discardableResult
    mutating func take(_ reader: Int, cost: Int = 1) -> Bool {
      guard phases[reader] == .reading else { return false }
      if positions[reader] >= ends[reader], !demand(reader) { return false }
      positions[reader] += cost
      guard awaited[reader] else { return true }
      awaited[reader] = false
      wake(ask { $0.moved($1) })
      return true
    }

    mutating func leave(_ reader: Int) {
      guard phases[reader] != .gone else { return }
      phases[reader] = .gone
      wake(ask { $0.leave(reader, $1) })
    }

    private mutating func demand(_ reader: Int) -> Bool {
      let position = positions[reader]
      switch ask({ $0.demand(by: reader, at: position, waiter: reader, $1) }) {
      case .mayRead(let end):
        #expect(end > position, "there is room for an element")
        ends[reader] = end
        return true
      case .mustWait:
        phases[reader] = .waiting
        return false
      }
    }

    private mutating func wake(_ waiters: [Int]) {
      for waiter in waiters {
        #expect(phases[waiter] == .waiting, "nobody is woken twice, or after it has left")
        phases[waiter] = .reading
        // A reader that is woken asks again, at once here; it was not woken for nothing.
        #expect(demand(waiter) == true)
      }
    }

    func standing(_ reader: Int) -> LockstepState<Int>.Standing {
      state.standing(of: reader) { reader, _ in positions[reader] }
    }

    /// Checks the invariants after an event.
    func check(_ place: SourceLocation = #_sourceLocation) {
      for reader in positions.indices where phases[reader] != .gone {
        let ahead = positions[reader] - slowest
        let waits = phases[reader] == .waiting
        #expect(state.isWaiting(reader) == waits, sourceLocation: place)
        #expect(!waits || ahead >= state.distance, "nobody waits in vain", sourceLocation: place)
        #expect(
          waits || ends[reader] <= slowest + state.distance || ends[reader] <= positions[reader],
          "nobody may go beyond the distance", sourceLocation: place)
      }
    }
  }

  @Test("the first may go as far as the distance, and on with the slowest")
  func distance() {
    var world = World(readers: 2, distance: 3)
    for _ in 0..<3 { #expect(world.take(0) == true) }
    #expect(world.take(0) == false)
    #expect(world.phases == [.waiting, .reading])
    #expect(world.awaited == [false, true])
    world.take(1)
    #expect(world.phases == [.reading, .reading])
    #expect(world.take(0) == true)
    #expect(world.take(0) == false)
  }

  @Test("a reader is asked to tell where it is only while somebody waits")
  func awaited() {
    var world = World(readers: 2, distance: 4)
    for _ in 0..<4 { world.take(0) }
    for _ in 0..<4 { world.take(1) }
    for _ in 0..<4 { world.take(0) }
    #expect(world.awaited == [false, false])
    #expect(world.take(0) == false)
    #expect(world.awaited == [false, true])
    world.take(1)
    #expect(world.awaited == [false, false])
  }

  @Test("one that leaves keeps nobody waiting; the next slowest does")
  func leaving() {
    var world = World(readers: 3, distance: 2)
    world.take(1)
    for _ in 0..<3 { world.take(0) }
    #expect(world.phases == [.waiting, .reading, .reading])
    world.leave(2)
    #expect(world.phases == [.reading, .reading, .gone])
    #expect(world.take(0) == true)
    #expect(world.take(0) == false, "two ahead of the second")
    world.leave(1)
    for _ in 0..<100 { #expect(world.take(0) == true) }
  }

  @Test("one that leaves while it waits is not woken")
  func leavingInSleep() {
    var world = World(readers: 3, distance: 1)
    world.take(0)
    world.take(0)
    world.take(1)
    world.take(1)
    #expect(world.phases == [.waiting, .waiting, .reading])
    world.leave(0)
    world.take(2)
    #expect(world.phases == [.gone, .reading, .reading])
  }

  @Test("a distance without end keeps nobody")
  func endless() {
    var world = World(readers: 2, distance: .max)
    for _ in 0..<10 { #expect(world.take(0, cost: .max / 16) == true) }
    #expect(world.ends[0] == .max)
  }

  @Test("an element that costs more than the distance is taken by all, one after the other")
  func expensive() {
    var world = World(readers: 2, distance: 10)
    #expect(world.take(0, cost: 1_000) == true)
    #expect(world.take(0, cost: 1) == false)
    #expect(world.take(1, cost: 1_000) == true)
    #expect(world.phases == [.reading, .reading])
    #expect(world.take(1, cost: 9) == true)
    #expect(world.take(1, cost: 1) == true)
    #expect(world.take(1, cost: 1) == false)
  }

  @Test("one element of each in turn: nobody waits, whatever the distance", arguments: [1, 2, 5])
  func turns(_ distance: Int) {
    var world = World(readers: 3, distance: distance)
    for _ in 0..<20 {
      for reader in 0..<3 { #expect(world.take(reader, cost: 3) == true) }
    }
  }

  @Test("how each is getting on: not read yet, reading, waiting for the slowest, over")
  func standings() {
    var world = World(readers: 4, distance: 3)
    #expect(world.standing(0) == .notRead)
    for _ in 0..<4 { world.take(0) }
    world.take(2)
    #expect(world.standing(0) == .waiting(for: [1, 3], at: 0))
    #expect(world.standing(1) == .notRead)
    #expect(world.standing(2) == .reading)
    world.leave(3)
    #expect(world.standing(0) == .waiting(for: [1], at: 0))
    #expect(world.standing(3) == .over)
    world.take(1)
    #expect(world.standing(0) == .reading)
  }

  @Test("to look at how one is getting on awaits nobody")
  func lookingAwaitsNobody() {
    var state = LockstepState<Int>(readers: 2, distance: 1)
    var awaited = [false, false]
    let answer = state.answer(at: [1, 0], noting: &awaited) {
      $0.demand(by: 0, at: 1, waiter: 7, $1)
    }
    #expect(answer == .mustWait)
    #expect(awaited == [false, true])
    awaited = [false, false]
    let standing = state.answer(at: [1, 0], noting: &awaited) { $0.standing(of: 0, $1) }
    #expect(standing == .waiting(for: [1], at: 0))
    #expect(awaited == [false, false])
  }

  @Test(
    "all orders of events, against a model",
    arguments: [(2, 1, 9), (2, 2, 9), (2, 3, 9), (3, 1, 6), (3, 2, 6)])
  func exhaustively(_ readers: Int, _ distance: Int, _ depth: Int) {
    var count = 0
    func explore(_ world: World, _ depth: Int) {
      count += 1
      guard depth > 0 else { return }
      for reader in 0..<readers where world.phases[reader] != .gone {
        if world.phases[reader] == .reading {
          var next = world
          next.take(reader)
          next.check()
          explore(next, depth - 1)
        }
        var next = world
        next.leave(reader)
        next.check()
        explore(next, depth - 1)
      }
    }
    explore(World(readers: readers, distance: distance), depth)
    #expect(count > 1_000)
  }

  @Test("random schedules of many readers, costs and distances, against a model")
  func random() {
    var generator = SeededGenerator(seed: RandomCases.firstSeed)
    for _ in 0..<RandomCases.count("TAILRACE_IN_STEP_CASES", debug: 100, optimised: 2_000) {
      let readers = Int.random(in: 1...12, using: &generator)
      let distance = [1, 2, 3, 7, 100].randomElement(using: &generator) ?? 1
      let largest = [1, 1, 3, 200].randomElement(using: &generator) ?? 1
      // The costs of the elements are the same for all readers.
      let range = largest == 1 ? 1...1 : 0...largest
      let costs = (0..<400).map { _ in Int.random(in: range, using: &generator) }
      var taken = Array(repeating: 0, count: readers)
      var world = World(readers: readers, distance: distance)
      for _ in 0..<600 {
        let reader = Int.random(in: 0..<readers, using: &generator)
        if Int.random(in: 0..<100, using: &generator) == 0 || taken[reader] == costs.count {
          world.leave(reader)
        } else if world.take(reader, cost: costs[taken[reader]]) {
          taken[reader] += 1
        }
        world.check()
      }
      // Somebody can always go on.
      let rest = (0..<readers).filter { world.phases[$0] != .gone }
      #expect(rest.isEmpty || rest.contains { world.phases[$0] == .reading })
    }
  }
}
