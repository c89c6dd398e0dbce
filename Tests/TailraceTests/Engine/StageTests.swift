import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("Stages: the pulling face that operators are written with", .inTurn)
struct StageTests {
  typealias List = LazyList<Int, Never>

  /// Gives the sums of two neighbours.
  private func sums(_ list: List, _ runs: Probe<Int>) -> List {
    list.stage([Int]()) { (pulled, source) in
      runs.record(pulled.count)
      while pulled.count < 2 {
        guard let element = source.next() else { return source.ending(with: pulled.first) }
        pulled.append(element)
      }
      defer { pulled = [] }
      return .element(pulled[0] + pulled[1])
    }
  }

  @Test("a body runs again with the state that it has recorded, when an element was not there")
  func restarted() async {
    let runs = Probe<Int>()
    let gate = Gate()
    let sums = sums(
      List(1...5).map { (number: Int) async in
        if number == 2 { await gate.wait() }
        return number
      }, runs)
    async let all = sums.array()
    await gate.waitForArrivals(1)
    gate.open()
    #expect(await all == [3, 7, 5])
    #expect(runs.values.contains(1), "it came back with one element of two")
    let plain = Probe<Int>()
    #expect(await self.sums(List(1...5), plain).array() == [3, 7, 5])
    #expect(plain.values == [0, 0, 0])
  }

  @Test("elements put back again and again leave nothing behind", arguments: [false, true])
  func pushedBack(_ isHeld: Bool) {
    let list = List(1...3).map { $0 }
    var cursor = Cursor(list)
    let held = isHeld ? list : .empty
    for _ in 0..<100 {
      guard let element = cursor.next() else { return #expect(Bool(false), "an element is lost") }
      #expect(element == 1)
      cursor.pushBack(element)
    }
    var segments = 0
    _ = Segment.resolve(cursor.segment, .max / 2) { (_, _) in
      segments += 1
      return true
    }
    #expect(segments <= 2)
    #expect([cursor.next(), cursor.next(), cursor.next(), cursor.next()] == [1, 2, 3, nil])
    withExtendedLifetime(held) {}
  }

  @Test("a body in the task of the list awaits its source")
  func inTask() async {
    let list: List = List(1...4).mapAsync { $0 }.stageInTask(0) { (sum, source, steps) async in
      guard let element = steps.pull(&source) else { return .nothing(source.takeAbsence()) }
      await Task.yield()
      sum += element
      return .element(sum)
    }
    #expect(await list.array() == [1, 3, 6, 10])
  }

  @Test("a rule gives an element, skips one, gives the last, and ends", arguments: [false, true])
  func rules(_ suspends: Bool) async {
    let pulls = Probe<Int>()
    @Sendable func judge(_ number: Int, _ end: Int, _ isLast: Bool) -> Step<Int> {
      if number == end { return isLast ? .last(number) : .nothing(.end) }
      return number % 2 == 0 ? .skip : .element(number)
    }
    for (isLast, expected) in [(true, [1, 3, 5]), (false, [1, 3])] {
      let list = List(1...).map { pulls.pass($0) }
      let judged: List =
        suspends
        ? list.transformInTask(()) { (_, number) async throws(Never) in judge(number, 5, isLast) }
        : list.transform(()) { (_, number) throws(Never) in judge(number, 5, isLast) }
      #expect(await judged.array() == expected)
    }
    #expect(pulls.values == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5])
  }

  @Test("with the last element the source is let go of, although the list is held")
  func released() async {
    let instances = InstanceCounter()
    func make() -> List {
      let member = instances.member()
      return List(1...).map { $0 + member.number * 0 }.transform(()) { (_, number) throws(Never) in
        number == 2 ? .last(number) : .element(number)
      }
    }
    let list = make()
    #expect(await list.head() == 1)
    #expect(instances.alive == 1)
    #expect(await list.element(at: 1) == 2)
    #expect(instances.alive == 0)
    #expect(await list.array() == [1, 2])
  }

  @Test("an element whose closure failed for now is put back, and asked about again")
  func retried() async throws {
    let asked = Probe<Int>()
    let list = LazyList<Int, any Error>(1...3).transform((), retryingFailures: true) {
      (_, element) throws in
      asked.record(element)
      if asked.count == 2 { throw Mishap(position: 1) }
      return .element(element * 10)
    }
    await #expect(throws: Mishap.self) { try await list.array() }
    #expect(try await list.array() == [10, 20, 30])
    #expect(asked.values == [1, 2, 2, 3])
  }

  @Test("a step of one word fits in four registers")
  func size() {
    #expect(MemoryLayout<Step<Int>>.size <= 4 * MemoryLayout<Int>.size)
  }

  @Test("patience ends with every 1024th element")
  func patience() {
    var patience = Patience()
    let ends = (1...3000).filter { _ in !patience.lasts() }
    #expect(ends == [1024, 2048])
  }
}
