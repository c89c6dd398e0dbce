import Testing

@testable import Tailrace

@Suite("Readers in step, as a value", .tags(.long), .inTurn)
struct InStepStateTests {
  /// The value, the readers' own counts, and a model that knows where everybody stands.
  struct World {
    enum Phase { case reading, waiting, gone }

    var state: InStepState<Int>
    /// Where the readers stand, and whether they are to tell it.
    var positions: [Int]
    var awaited: [Bool]
    var phases: [Phase]
    /// Before which position each may take elements.
    var ends: [Int]
    /// The task of each.
    var tasks: [UInt]

    init(readers: Int, distance: Int, tasks: [UInt]? = nil) {
      state = InStepState(readers: readers, distance: distance)
      positions = Array(repeating: 0, count: readers)
      awaited = Array(repeating: false, count: readers)
      phases = Array(repeating: .reading, count: readers)
      ends = Array(repeating: 0, count: readers)
      self.tasks = tasks ?? (0..<readers).map { UInt($0) + 1 }
    }

    var slowest: Int {
      positions.indices.filter { phases[$0] != .gone }.map { positions[$0] }.min() ?? .max
    }

    /// Asks the value, and hands it what it may look at.
    private mutating func ask<Answer>(
      _ question: (inout InStepState<Int>, InStepState<Int>.Locate) -> Answer
    ) -> Answer {
      var marks = awaited
      let positions = positions
      defer { awaited = marks }
      return question(&state) { reader, isAwaited in
        if isAwaited { marks[reader] = true }
        return positions[reader]
      }
    }

    /// A reader takes an element, or waits for one. Returns whether it took one.
    @discardableResult
    mutating func take(_ reader: Int, cost: Int = 1) -> Bool {
      guard phases[reader] == .reading else { return false }
      if positions[reader] >= ends[reader], !demand(reader) { return false }
      positions[reader] += cost
      guard awaited[reader] else { return true }
      awaited[reader] = false
      let (position, task) = (positions[reader], tasks[reader])
      wake(ask { $0.moved(reader, to: position, in: task, $1) })
      return true
    }

    mutating func leave(_ reader: Int) {
      guard phases[reader] != .gone else { return }
      phases[reader] = .gone
      wake(ask { $0.leave(reader, $1) })
    }

    private mutating func demand(_ reader: Int) -> Bool {
      let (position, task) = (positions[reader], tasks[reader])
      switch ask({ $0.demand(by: reader, at: position, in: task, waiter: reader, $1) }) {
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

    /// Checks the invariants after an event, where each reader has a task of its own.
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

  @Test("a task does not wait for a reader that it reads itself")
  func sameTask() {
    var world = World(readers: 3, distance: 2, tasks: [1, 1, 2])
    for reader in 0..<3 { world.take(reader) }
    for _ in 0..<2 { #expect(world.take(0) == true) }
    // The third, of another task, is as slow, but the second is one reason never to wait.
    world.take(2)
    #expect(world.take(0) == true)
    #expect(world.take(0) == true)
    #expect(world.take(2) == true)
    #expect(world.take(2) == false, "another task does wait")
  }

  @Test("a task that waits is woken when it has become the one that reads the slowest")
  func sameTaskLater() {
    var world = World(readers: 3, distance: 10, tasks: [1, 1, 2])
    world.take(1, cost: 5)
    world.take(0, cost: 30)
    #expect(world.take(0) == false, "the third is the slowest")
    world.take(2, cost: 20)
    #expect(world.phases == [.reading, .reading, .reading])
    #expect(world.take(0) == true)
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
