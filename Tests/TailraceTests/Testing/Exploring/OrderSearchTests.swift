import Testing

@testable import TailraceTesting

@Suite("explore: which orders are tried, as values", .inTurn)
struct OrderSearchTests {
  /// Of how many tasks each choice is, after the choices before it: what a body's runs would tell.
  typealias Body = @Sendable (_ chosen: [Int]) -> Int

  /// Tasks that take some steps each, and never wait.
  static func tasks(_ steps: [Int]) -> Body {
    { chosen in
      var ready = Array(steps.indices)
      var left = steps
      var choices = chosen[...]
      while !ready.isEmpty {
        var choice = 0
        if ready.count > 1 {
          guard let next = choices.popFirst() else { return ready.count }
          choice = next
        }
        let task = ready.remove(at: choice)
        left[task] -= 1
        if left[task] > 0 { ready.append(task) }
      }
      return 0
    }
  }

  static func run(_ body: Body, _ plan: OrderSearch.Plan) -> Chooser {
    var chooser = Chooser(plan.tape, expecting: plan.expected)
    while true {
      let width = body(chooser.chosen)
      if width == 0 { break }
      _ = chooser.choose(among: width)
    }
    chooser.end()
    return chooser
  }

  static func all(
    _ body: Body, _ search: inout OrderSearch
  ) -> [(stage: OrderSearch.Stage, chosen: [Int])] {
    var orders: [(OrderSearch.Stage, [Int])] = []
    while let plan = search.next() {
      let chooser = run(body, plan)
      orders.append((plan.stage, chooser.chosen))
      search.ran(plan, widths: chooser.widths, hasDiverged: chooser.divergence != nil)
    }
    return orders
  }

  /// All sequences of choices, by recursion.
  static func reference(_ body: Body, _ chosen: [Int] = []) -> [[Int]] {
    let width = body(chosen)
    if width == 0 { return [chosen] }
    return (0..<width).flatMap { reference(body, chosen + [$0]) }
  }

  @Test("long runs: no more is kept for the next stage than there are runs left for")
  func memory() {
    var search = OrderSearch(runs: 1_000, preemptions: 3, randomRuns: 0, seed: 0)
    var most = 0
    while let plan = search.next() {
      search.ran(plan, widths: Array(repeating: 2, count: 10_000), hasDiverged: false)
      most = max(most, search.nextNodes.reduce(0) { $0 + $1.widths.count })
    }
    #expect(search.tried == 1_000 && !search.hasTriedAll)
    #expect(most <= 20_000)
  }

  @Test("what is not kept is not said to have been tried", arguments: 1...72)
  func bounded(_ runs: Int) {
    var search = OrderSearch(runs: runs, preemptions: .max, randomRuns: 0, seed: 0)
    let orders = Self.all(Self.tasks([4, 4]), &search).map(\.chosen)
    #expect(Set(orders).count == orders.count && orders.count == min(runs, 70))
    #expect(search.hasTriedAll == (runs >= 70))
  }

  @Test(
    "without a bound, each order is tried once",
    arguments: [[1], [1, 1], [2, 2], [3, 2], [1, 1, 1], [2, 2, 2], [3, 1, 2]])
  func exhaustive(_ steps: [Int]) {
    let body = Self.tasks(steps)
    var search = OrderSearch(runs: .max, preemptions: .max, randomRuns: 10, seed: 0)
    let orders = Self.all(body, &search).map(\.chosen)
    #expect(orders.sorted { $0.lexicographicallyPrecedes($1) } == Self.reference(body))
    #expect(search.hasTriedAll)
    #expect(search.tried == orders.count)
  }

  @Test("those with fewer preemptions come first", arguments: 0...4)
  func bound(_ bound: Int) {
    let body = Self.tasks([3, 3, 2])
    var search = OrderSearch(runs: .max, preemptions: bound, randomRuns: 0, seed: 0)
    let orders = Self.all(body, &search)
    let preemptions = orders.map { $0.chosen.count { $0 != 0 } }
    #expect(preemptions == preemptions.sorted())
    for (order, count) in zip(orders, preemptions) { #expect(order.stage == .preemptions(count)) }
    let wanted = Self.reference(body).filter { $0.count { $0 != 0 } <= bound }
    #expect(Set(orders.map(\.chosen)) == Set(wanted))
    #expect(orders.count == wanted.count)
    #expect(!search.hasTriedAll)
  }

  @Test("a bound that leaves nothing out has tried all")
  func enough() {
    let body = Self.tasks([2, 1])
    var search = OrderSearch(runs: .max, preemptions: 3, randomRuns: 10, seed: 0)
    #expect(Self.all(body, &search).count == Self.reference(body).count)
    #expect(search.hasTriedAll)
  }

  @Test("the most runs, then the random stage", arguments: [1, 5, 20])
  func limit(_ runs: Int) {
    var search = OrderSearch(runs: runs, preemptions: 3, randomRuns: 7, seed: 1)
    let orders = Self.all(Self.tasks([3, 3, 3]), &search)
    #expect(orders.count == runs + 7)
    #expect(orders.suffix(7).allSatisfy { $0.stage == .random })
    #expect(orders.dropLast(7).allSatisfy { $0.stage != .random })
    #expect(!search.hasTriedAll)
  }

  @Test("a limit of as many runs as there are orders has tried all")
  func exactLimit() {
    let body = Self.tasks([2, 2])
    let count = Self.reference(body).count
    var search = OrderSearch(runs: count, preemptions: .max, randomRuns: 7, seed: 1)
    #expect(Self.all(body, &search).count == count)
    #expect(search.hasTriedAll)
  }

  @Test("random orders follow from the seed, and differ")
  func random() {
    let body = Self.tasks([4, 4, 4])
    func orders(_ seed: UInt64) -> [[Int]] {
      var search = OrderSearch(runs: 1, preemptions: 0, randomRuns: 20, seed: seed)
      return Self.all(body, &search).dropFirst().map(\.chosen)
    }
    #expect(orders(3) == orders(3))
    #expect(orders(3) != orders(4))
    #expect(Set(orders(3)).count > 15)
  }

  @Test("each order is as likely as its choices")
  func uniform() {
    let body = Self.tasks([1, 1, 1])
    var search = OrderSearch(runs: 1, preemptions: 0, randomRuns: 6_000, seed: 0)
    let orders = Self.all(body, &search).dropFirst().map(\.chosen)
    let counts = Dictionary(grouping: orders) { $0 }.mapValues(\.count)
    #expect(counts.count == 6)
    #expect(counts.values.allSatisfy { (850...1150).contains($0) })
  }

  @Test("a run that goes another way is noticed, and not all orders were tried")
  func divergence() {
    var search = OrderSearch(runs: .max, preemptions: .max, randomRuns: 0, seed: 0)
    var (runs, diverged) = (0, 0)
    while let plan = search.next() {
      // From the second run on there is a task less.
      let chooser = Self.run(Self.tasks(runs == 0 ? [2, 2, 1] : [2, 2]), plan)
      if chooser.divergence != nil { diverged += 1 }
      search.ran(plan, widths: chooser.widths, hasDiverged: chooser.divergence != nil)
      runs += 1
    }
    #expect(runs > 1 && diverged > 0)
    #expect(!search.hasTriedAll)
  }

  @Test("a tape that does not fit is noticed at its first choice that is not there")
  func fit() {
    var wide = Chooser("0 2")
    _ = (wide.choose(among: 2), wide.choose(among: 2))
    #expect(wide.divergence == 1)
    #expect(wide.chosen == [0, 0])

    var long = Chooser("0 0 1")
    _ = long.choose(among: 2)
    long.end()
    #expect(long.divergence == 1)

    var right = Chooser("0 1")
    _ = (right.choose(among: 2), right.choose(among: 2), right.choose(among: 3))
    right.end()
    #expect(right.divergence == nil)
  }

  @Test(
    "a tape is its text",
    arguments: [("", []), ("0 0 1 1", [0, 0, 1, 1]), ("2 0 0", [2])] as [(String, [Int])])
  func text(_ text: String, _ choices: [Int]) throws {
    let tape = try #require(ExplorationTape(text))
    #expect(tape.choices == choices)
    #expect(ExplorationTape(tape.description) == tape)
  }

  @Test("a random tape is its seed, and other text is no tape")
  func others() {
    #expect(ExplorationTape(String("random 7"))?.seed == 7)
    #expect(ExplorationTape(String("random 7"))?.description == "random 7")
    for text in ["one", "0 -1", "random", "random x", "0 random 1"] {
      #expect(ExplorationTape(text) == nil)
    }
  }
}
