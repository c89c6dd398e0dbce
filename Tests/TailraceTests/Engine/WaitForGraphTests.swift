import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("WaitForGraph: who waits for whom", .tags(.long), .inTurn)
struct WaitForGraphTests {
  /// A list's task.
  private final class Node: Worker {
    let title: Title
    let position: Int
    private let onEnd: @Sendable () -> Void

    init(_ title: Title, at position: Int = 0, onEnd: @escaping @Sendable () -> Void = {}) {
      self.title = title
      self.position = position
      self.onEnd = onEnd
    }

    deinit { onEnd() }
  }

  /// Where a cell is missing until it is said to be there.
  private final class Cells: AwaitedPlace {
    let title: Title
    private let looksLeft: Locked<Int>

    /// - Parameter looks: how often the cell is still found missing.
    init(_ title: Title, thereAfter looks: Int = .max) {
      self.title = title
      looksLeft = Locked(looks)
    }

    var cell: MissingCell { MissingCell(self, mark: Published(count: 0), .one) }
    func appears() { looksLeft.withLock { $0 = 0 } }

    var awaitedWorker: (any Worker)? { nil }
    func isMissing(_ cell: MissingCell) -> Bool {
      looksLeft.withLock { looks in
        defer { looks = max(0, looks - 1) }
        return looks > 0
      }
    }
    func enter(_ waiter: Waiter, for cell: MissingCell) -> ResumeReason? { .lookAgain }
    func leave(_ waiter: Waiter) {}
    var raised: (any Raised)? { nil }
  }

  /// One wait, which ends with the test.
  private final class Wait {
    let waiter = Waiter()
    let cells: Cells
    let node: any Worker
    let error: CyclicEvaluationError?

    init(
      of node: any Worker, for other: any Worker, asked: Cells? = nil, cells: Cells? = nil,
      isWoken: Bool = false
    ) {
      self.node = node
      self.cells = cells ?? Cells(other.title)
      if isWoken { waiter.wake(.lookAgain) }
      error = WaitForGraph.add(
        waiter, of: node,
        for: self.cells.cell, on: other, asked: asked?.cell)
    }

    deinit { WaitForGraph.remove(waiter, of: node) }
  }

  private let nodes = (0..<4).map { Node("list \($0)", at: $0 * 10) }

  private func wait(_ from: Int, _ to: Int) -> Wait { Wait(of: nodes[from], for: nodes[to]) }

  @Test("waits that do not come back are no cycle: a chain, a fork, a diamond")
  func acyclic() {
    let waits = [wait(0, 1), wait(1, 2), wait(0, 2), wait(1, 3), wait(2, 3), wait(0, 3)]
    #expect(waits.allSatisfy { $0.error == nil })
  }

  @Test("a list that waits for itself is named once")
  func itself() {
    #expect(wait(2, 2).error == CyclicEvaluationError(lists: ["list 2"], position: 20))
  }

  @Test("the wait that closes a cycle is told the lists, from its own on, and its position")
  func cycle() {
    let waits = [wait(0, 1), wait(1, 2)]
    defer { withExtendedLifetime(waits) {} }
    let last = wait(2, 0)
    #expect(waits.allSatisfy { $0.error == nil })
    #expect(
      last.error == CyclicEvaluationError(lists: ["list 2", "list 0", "list 1"], position: 20))
    // It does not wait, so that nobody else is told.
    #expect(wait(1, 0).error != nil)
    #expect(wait(3, 0).error == nil)
  }

  @Test("the list that was asked is named, if the cell is another's")
  func asked() {
    let cells = Cells("cell")
    let first = Wait(of: nodes[0], for: nodes[1], asked: Cells("asked"), cells: cells)
    let second = Wait(of: nodes[1], for: nodes[0], asked: cells, cells: cells)
    #expect(first.error == nil)
    #expect(
      second.error
        == CyclicEvaluationError(lists: ["list 1", "list 0", "asked"], position: 10))
  }

  @Test("any of the waits of a step may be the one that comes back")
  func children() {
    let waits = [wait(0, 3), wait(0, 1), wait(0, 2), wait(2, 3), wait(1, 3)]
    defer { withExtendedLifetime(waits) {} }
    #expect(waits.allSatisfy { $0.error == nil })
    // By which of the three ways it comes back is not said.
    #expect(wait(3, 0).error?.lists.starts(with: ["list 3", "list 0"]) == true)
    #expect(wait(1, 0).error == CyclicEvaluationError(lists: ["list 1", "list 0"], position: 10))
  }

  /// How a wait comes to its end.
  enum Ending: CaseIterable { case woken, there, removed }

  @Test("a wait that is over is part of no cycle", arguments: Ending.allCases)
  func over(_ ending: Ending) {
    var waits = [wait(0, 1), wait(1, 2)]
    switch ending {
    case .woken: waits[0].waiter.wake(.lookAgain)
    case .there: waits[0].cells.appears()
    case .removed: waits.remove(at: 0)
    }
    #expect(wait(2, 0).error == nil)
    #expect(waits.allSatisfy { $0.error == nil })
  }

  @Test("a wait that was over before it was told closes no cycle")
  func overBefore() {
    let waits = [wait(0, 1), wait(1, 2)]
    let there = Cells("list 0")
    there.appears()
    #expect(Wait(of: nodes[2], for: nodes[0], cells: there).error == nil)
    #expect(Wait(of: nodes[2], for: nodes[0], isWoken: true).error == nil)
    #expect(wait(2, 0).error != nil)
    #expect(waits.allSatisfy { $0.error == nil })
  }

  /// Counts how often a search comes by.
  private final class Passed: AwaitedPlace {
    let looks = Counter()
    let title: Title = "passed"
    var awaitedWorker: (any Worker)? { nil }
    func isMissing(_ cell: MissingCell) -> Bool {
      looks.increment()
      return true
    }
    func enter(_ waiter: Waiter, for cell: MissingCell) -> ResumeReason? { .lookAgain }
    func leave(_ waiter: Waiter) {}
    var raised: (any Raised)? { nil }
  }

  @Test("a step for which nobody waits begins no search")
  func unawaited() {
    let passed = Passed()
    func passing(_ from: Int, _ to: Int) -> CyclicEvaluationError? {
      let waiter = Waiter()
      defer { WaitForGraph.remove(waiter, of: nodes[from]) }
      return WaitForGraph.add(
        waiter, of: nodes[from],
        for: MissingCell(passed, mark: Published(count: 0), .one), on: nodes[to], asked: nil)
    }
    #expect(passing(0, 1) == nil && passed.looks.value == 0)
    let first = wait(2, 0)
    #expect(passing(0, 2) != nil && passed.looks.value > 0)
    withExtendedLifetime(first) {}
  }

  @Test("a wait that ends during the search hides no other cycle", arguments: 0...6)
  func overMeanwhile(_ looks: Int) {
    let waits = [wait(1, 0), wait(1, 2)]
    let ending = Wait(of: nodes[2], for: nodes[0], cells: Cells("cell", thereAfter: looks))
    #expect(wait(0, 1).error?.lists.starts(with: ["list 0", "list 1"]) == true)
    #expect((waits + [ending]).allSatisfy { $0.error == nil })
  }

  @Test("one of several waits ends, and the others stay")
  func remaining() {
    var waits = [wait(0, 1), wait(0, 1), wait(0, 2)]
    defer { withExtendedLifetime(waits) {} }
    waits.remove(at: 0)
    #expect(wait(1, 0).error != nil)
    waits.remove(at: 0)
    #expect(wait(1, 0).error == nil)
    #expect(wait(2, 0).error != nil)
  }

  @Test("a chain of very many waits is walked without recursion")
  func long() {
    let nodes = (0..<Size.usual(50_000, full: 100_000)).map { Node("\($0)") }
    let waits = nodes.indices.dropLast().map { Wait(of: nodes[$0], for: nodes[$0 + 1]) }
    defer { withExtendedLifetime(waits) {} }
    #expect(waits.allSatisfy { $0.error == nil })
    let last = Wait(of: nodes[nodes.count - 1], for: nodes[0])
    #expect(last.error?.lists.count == nodes.count)
    #expect(last.error?.lists.prefix(3) == ["\(nodes.count - 1)", "0", "1"])
  }

  // It would wait for the lock that it holds itself.
  @Test("the last reference to a list may go with its wait, and ask the graph again", .hangLimit)
  func released() {
    let waiter = Waiter()
    let (node, isReleased) = (nodes[0], Counter())
    var other: Node? = Node("other") {
      WaitForGraph.remove(waiter, of: node)
      isReleased.increment()
    }
    var wait = other.map { Wait(of: node, for: $0) }
    other = nil
    #expect(wait?.error == nil && isReleased.value == 0)
    wait = nil
    #expect(isReleased.value == 1)
  }
}
