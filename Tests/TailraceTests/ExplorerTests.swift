import Testing

@Suite("Explorer: every order of events", .inTurn)
struct ExplorerTests {
  /// Two who take from a stock without a lock: each looks, and then takes.
  private struct Stock: Explorable, Hashable {
    enum Event: Hashable { case look(Int), take(Int) }

    var left = 1
    /// The stock that each has seen, until it has taken.
    var seen: [Int?] = [nil, nil]
    var taken: [Bool] = [false, false]
    /// Whether looking and taking are one event.
    var isSafe = false

    var events: [Event] {
      (0..<2).compactMap { who -> Event? in
        if taken[who] { return nil }
        return seen[who] == nil ? .look(who) : .take(who)
      }
    }

    mutating func apply(_ event: Event) {
      switch event {
      case .look(let who):
        seen[who] = left
        if isSafe { apply(.take(who)) }
      case .take(let who):
        taken[who] = true
        if seen[who] ?? 0 > 0 { left -= 1 }
      }
    }

    var violation: String? { left < 0 ? "sold \(1 - left) of 1" : nil }
  }

  @Test("it finds a shortest order that breaks what must hold")
  func shortest() async {
    let exploration = await Stock().explored()
    #expect(exploration.violation == "sold 2 of 1")
    #expect(exploration.order == [.look(0), .look(1), .take(0), .take(1)])
    #expect("\(exploration)".contains("  4. take(1)"))
  }

  @Test("it finds nothing where nothing is wrong, and says that it has seen all")
  func safe() async {
    let exploration = await Stock(isSafe: true).explored()
    #expect(exploration.violation == nil && exploration.isComplete)
    #expect(exploration.states == 5 && exploration.transitions == 4 && exploration.depth == 2)
    #expect(exploration.order.isEmpty)
  }

  @Test("a depth and a number of states cut it", arguments: 0...4)
  func cut(_ depth: Int) async {
    let exploration = await Stock().explored(depth: depth)
    #expect(exploration.depth == min(depth, 3) && !exploration.isComplete)
    #expect((exploration.violation == nil) == (depth < 4))
    #expect(await Stock().explored(limit: 3).states == 3)
    #expect(await !Stock().explored(limit: 3).isComplete)
  }

  /// Counts up to an end.
  private struct Steps: Explorable, Hashable {
    var number = 0
    let end: Int

    var events: [String] { number < end ? ["step", "stay"] : [] }
    mutating func apply(_ event: String) { if event == "step" { number += 1 } }
    var violation: String? { nil }
    var violationAtRest: String? { number == 3 ? "stops at 3" : nil }
  }

  @Test("it looks at where nothing can happen any more, and at each state once")
  func atRest() async {
    let exploration = await Steps(end: 3).explored()
    #expect(exploration.violation == "stops at 3")
    #expect(exploration.order == ["step", "step", "step"])
    #expect(exploration.states == 4 && exploration.transitions == 6)
    #expect(await Steps(end: 4).explored().violation == nil)
    #expect(await Steps(number: 3, end: 3).explored().order == [])
  }

  /// Answers wrongly once it has been turned round, and is then as it was at first.
  private struct Coin: Explorable {
    var isTurned = false
    var violation: String?

    var key: Bool { isTurned }
    var events: [String] { ["turn", "ask"] }
    mutating func apply(_ event: String) {
      if event == "ask", isTurned { violation = "a wrong answer" }
      isTurned = event == "turn" && !isTurned
    }
  }

  @Test("it hears a wrong answer that leaves a state that is known")
  func answer() async {
    let exploration = await Coin().explored()
    #expect(exploration.violation == "a wrong answer")
    #expect(exploration.order == ["turn", "ask"])
  }

  // MARK: Words without a lock

  private enum Word: Int, CaseIterable { case x, y, sum }

  /// Each thread sets a word and looks at the other one's, and may be ordered in between.
  private func crossing(_ fences: [Bool]) -> WeakMemory<Word> {
    func program(_ own: Word, _ other: Word, _ isFenced: Bool) -> [WeakMemory<Word>.Instruction] {
      [.store("\(own) = 1", own) { _ in 1 }]
        + (isFenced ? [.fence] : [])
        + [.load("look at \(other)", other, into: 0)]
    }
    return WeakMemory([program(.x, .y, fences[0]), program(.y, .x, fences[1])]) { state in
      state.registers(of: 0)[0] == 0 && state.registers(of: 1)[0] == 0
        ? "neither saw the other" : nil
    }
  }

  @Test(
    "a store may be seen by others after a later load: two threads miss each other",
    arguments: [false, true], [false, true])
  func storeBuffers(_ first: Bool, _ second: Bool) async {
    let exploration = await crossing([first, second]).explored()
    #expect((exploration.violation == nil) == (first && second), "\(exploration)")
    if exploration.violation != nil { #expect(exploration.order.count <= 7) }
  }

  @Test("stores are seen in the order in which they are made, and at once by their own thread")
  func order() async {
    let memory = WeakMemory<Word>([
      [
        .store("x = 1", .x) { _ in 1 }, .store("y = 1", .y) { _ in 1 },
        .load("look at x", .x, into: 0),
      ],
      [.load("look at y", .y, into: 0), .load("look at x", .x, into: 1)],
    ]) { state in
      if state.registers(of: 0)[0] != 1 { return "its own store is not seen" }
      let seen = state.registers(of: 1)
      return seen[0] == 1 && seen[1] == 0 ? "the second store is seen, and not the first" : nil
    }
    let exploration = await memory.explored()
    #expect(exploration.violation == nil && exploration.isComplete, "\(exploration)")
  }

  @Test(
    "an update in one step is never lost, and waiting ends; a load and a store may lose one",
    arguments: [true, false])
  func updates(_ isAtomic: Bool) async {
    let add: [WeakMemory<Word>.Instruction] =
      isAtomic
      ? [.update("sum += 1", .sum) { value, _ in value + 1 }]
      : [
        .load("look at sum", .sum, into: 0),
        .store("sum = seen + 1", .sum) { $0[0] + 1 },
      ]
    let memory = WeakMemory<Word>([
      add, add, [.wait("for both", .sum) { value in value == 2 }],
    ]) { $0.isAtEnd ? nil : "it waits for ever" }
    let exploration = await memory.explored()
    #expect((exploration.violation == nil) == isAtomic, "\(exploration)")
  }
}
