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
}
