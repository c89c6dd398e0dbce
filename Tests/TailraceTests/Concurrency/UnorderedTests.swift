import Tailrace
import TailraceTesting
import Testing

@Suite("Several steps of a list at a time, in any order", .inTurn)
struct UnorderedTests {
  @Test("the head starts as many as may run, and no more", arguments: [1, 2, 4])
  func limit(_ limit: Int) async {
    let gate = Gate()
    let pulls = Probe<Int>()
    let list = LazyList(1...9).map { pulls.pass($0) }.concurrentMapUnordered(limit: limit) {
      number in
      await gate.wait()
      return number * 10
    }
    #expect(pulls.count == 0)
    async let head = list.head()
    await gate.waitForArrivals(limit)
    #expect(pulls.count == limit)
    gate.open()
    #expect(await head != nil)
    #expect(await list.array().sorted() == (1...9).map { $0 * 10 })
    #expect(gate.arrived == 9)
  }

  @Test("each result as soon as it is there; the order is remembered")
  func order() async {
    let gates = (0..<4).map { _ in Gate() }
    let list = LazyList(0..<4).concurrentMapUnordered(limit: 4) { number in
      await gates[number].wait()
      return number
    }
    var expected: [Int] = []
    for number in [2, 0, 3, 1] {
      let position = expected.count
      async let next = list.element(at: position)
      await gates[number].waitForArrivals(1)
      gates[number].open()
      expected.append(number)
      #expect(await next == number)
    }
    for _ in 0..<2 { #expect(await list.array() == [2, 0, 3, 1]) }
  }

  @Test("never more at once than the limit", arguments: [1, 3, 16])
  func running(_ limit: Int) async {
    let running = InstanceCounter()
    let list = LazyList(0..<2_000).concurrentMapUnordered(limit: limit) { number in
      let member = running.member()
      for _ in 0..<number % 3 { await Task.yield() }
      return number + member.number
    }
    #expect(await list.array().sorted() == Array(0..<2_000))
    #expect(running.greatest <= limit)
  }

  @Test("a failure comes behind what was there before it, and cancels what runs")
  func failure() async {
    let (gates, cancelled) = ((0..<3).map { _ in Gate() }, Probe<Int>())
    let list = LazyList(0..<3).concurrentMapUnordered(limit: 3) { number async throws -> Int in
      if number == 2 {
        gates[2].open()
        await ConcurrencyTests.cancellation()
        return cancelled.pass(number)
      }
      await gates[number].wait()
      if number == 1 { throw Mishap(position: 1) }
      return number
    }
    let reader = Task { try await list.array() }
    await gates[2].wait()
    gates[0].open()
    #expect((try? await list.head()) == 0)
    gates[1].open()
    await #expect(throws: Mishap.self) { try await reader.value }
    await cancelled.waitForCount(1)
    await #expect(throws: Mishap.self) { try await list.array() }
    #expect(list.evaluatedPrefix == [0])
  }

  @Test("a failure of the source comes behind all results", arguments: SourceKind.allCases)
  func sourceFailure(_ kind: SourceKind) async {
    let list = kind.make(Probe(), failingAt: 4).concurrentMapUnordered(limit: 3) { number in
      for _ in 0..<5 - number { await Task.yield() }
      return number
    }
    await #expect(throws: Mishap.self) { try await list.array() }
    #expect(list.evaluatedPrefix.sorted() == [1, 2, 3])
  }

  @Test("closures that run are cancelled when nobody is left who could read")
  func release() async {
    let (started, cancelled) = (Gate(), Probe<Int>())
    let reader: Task<Int?, Never>
    do {
      let list = LazyList(0..<3).concurrentMapUnordered(limit: 3) { number in
        started.open()
        await ConcurrencyTests.cancellation()
        return cancelled.pass(number)
      }
      reader = Task {
        for await element in list { return element }; return nil
      }
    }
    await started.wait()
    reader.cancel()
    #expect(await reader.value == nil)
    await cancelled.waitForCount(1)
  }
}
