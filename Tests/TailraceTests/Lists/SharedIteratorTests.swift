import Tailrace
import TailraceTesting
import Testing

@Suite("Shared iterators", .inTurn)
struct SharedIteratorTests {
  @Test("each element goes to exactly one task", arguments: SourceKind.allCases)
  func dealing(_ kind: SourceKind) async throws {
    let iterator = kind.make(upTo: 200, Probe()).makeSharedIterator()
    var dealt: [Int] = []
    try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<8 {
        group.addTask {
          var mine: [Int] = []
          while let element = try await iterator.next() { mine.append(element) }
          return mine
        }
      }
      for try await elements in group { dealt += elements }
    }
    #expect(dealt.sorted() == Array(1...200))
    #expect(try await iterator.next() == nil)
  }

  @Test("many on one another, each read by a step after a reader, take no deep stack")
  func nested() async {
    await OneThread.run {
      var list = LazyList<Int, Never>(state: 0) { number async in
        number += 1
        return number
      }
      for _ in 0..<300 {
        let iterator = list.makeSharedIterator()
        _ = await iterator.next()
        list = LazyList(state: 0) { _ in await iterator.next() }
      }
      #expect(await list.head() == 301)
    }
  }

  @Test("demands no more than is asked for")
  func demand() async throws {
    let pulls = Probe<Int>()
    let iterator = SourceKind.plain.make(pulls).makeSharedIterator()
    #expect(pulls.count == 0)
    #expect(try await iterator.next() == 1)
    #expect(try await iterator.next() == 2)
    #expect(pulls.values == [1, 2])
  }

  @Test("a thousand tasks over a thousand elements: each goes to one of them")
  func crowd() async {
    let gate = Gate()
    let iterator = LazyList(0..<1000).map { (number: Int) async -> Int in
      if number == 0 { await gate.wait() }
      await Task.yield()
      return number
    }.makeSharedIterator()
    var dealt: [Int] = []
    await withTaskGroup(of: [Int].self) { group in
      for _ in 0..<1000 {
        group.addTask {
          var mine: [Int] = []
          while let element = await iterator.next() { mine.append(element) }
          return mine
        }
      }
      await gate.waitForArrivals(1)
      gate.open()
      for await elements in group { dealt += elements }
    }
    #expect(dealt.sorted() == Array(0..<1000))
  }

  /// Takes elements without leaving the iterator's isolation: nobody comes in between who has not
  /// asked before.
  static func take(
    _ count: Int, from iterator: isolated SharedIterator<Int, Never>, _ asks: Probe<Void>
  ) async -> [Int] {
    var taken: [Int] = []
    for _ in 0..<count {
      asks.record(())
      if let element = await iterator.next() { taken.append(element) }
    }
    return taken
  }

  @Test("first come, first served: a reader that asks again comes behind those that wait")
  func fairness() async {
    let (tasks, rounds) = (10, 20)
    let (gate, asks) = (Gate(), Probe<Void>())
    let iterator = LazyList(0..<tasks * rounds).map { (number: Int) async -> Int in
      if number == 0 { await gate.wait() }
      return number
    }.makeSharedIterator()
    let readers = (0..<tasks).map { _ in
      Task { await Self.take(rounds, from: iterator, asks) }
    }
    await asks.waitForCount(tasks)
    // When this one has left the line, all that have asked are in it.
    let leaver = Task { await iterator.next() }
    leaver.cancel()
    #expect(await leaver.value == nil)
    gate.open()
    for reader in readers {
      let taken = await reader.value
      let first = taken.first ?? 0
      #expect(taken == (0..<rounds).map { first + $0 * tasks })
    }
  }

  @Test("a reader that is cancelled in the line leaves it at once, and takes nothing")
  func leaving() async {
    let gate = Gate()
    let iterator = LazyList(0..<100).map { (number: Int) async -> Int in
      await gate.wait()
      return number
    }.makeSharedIterator()
    let first = Task { await iterator.next() }
    await gate.waitForArrivals(1)
    // The gate is closed: nobody gets on but by being cancelled.
    for _ in 0..<100 {
      let leaver = Task { await iterator.next() }
      leaver.cancel()
      #expect(await leaver.value == nil)
    }
    let others = (0..<10).map { _ in Task { await iterator.next() } }
    let leavers = (0..<10).map { _ in Task { await iterator.next() } }
    for leaver in leavers { leaver.cancel() }
    for leaver in leavers { #expect(await leaver.value == nil) }
    gate.open()
    #expect(await first.value == 0)
    var dealt: [Int] = []
    for other in others { if let element = await other.value { dealt.append(element) } }
    #expect(dealt.sorted() == Array(1...10))
    #expect(await iterator.next() == 11)
  }

  @Test("a reader that is cancelled hands its turn on; one that fails, too")
  func handingOn() async {
    let gate = Gate()
    let list = LazyList<Int, any Error>(0..<3).map { (number: Int) async throws -> Int in
      await gate.wait()
      if number == 1 { throw Mishap(position: 1) }
      return number
    }
    let iterator = list.makeSharedIterator()
    let leaver = Task { try await iterator.next() }
    await gate.waitForArrivals(1)
    let others = (0..<5).map { _ in Task { try await iterator.next() } }
    leaver.cancel()
    await #expect(throws: CancellationError.self) { try await leaver.value }
    gate.open()
    var (dealt, failures) = (0, 0)
    for other in others {
      switch await other.result {
      case .success(let element):
        #expect(element == 0)
        dealt += 1
      case .failure(let failure):
        #expect(failure is Mishap)
        failures += 1
      }
    }
    #expect(dealt == 1)
    #expect(failures == 4)
  }
}
