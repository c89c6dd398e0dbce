import TailraceTesting
import Testing

@testable import Tailrace

@Suite("A step that runs beside others", .inTurn)
struct InFlightTransformTests {
  @Test("a waiter that leaves takes nobody along", arguments: 0..<3)
  func leaving(_ leaver: Int) {
    let all = [Waiter(), Waiter(), Waiter()]
    var state = InFlightState<Waiter>()
    #expect(state.begin() == true)
    for waiter in all { #expect(state.enter(waiter) == true) }
    state.leave(all[leaver])
    let others = all.indices.filter { $0 != leaver }.map { all[$0] }
    #expect(state.complete().map(ObjectIdentifier.init) == others.map(ObjectIdentifier.init))
    #expect(state.enter(all[leaver]) == false, "the result is there")
  }

  @Test("a failure that does not stay is told to those who waited, or to the first who comes")
  func told() {
    var awaited = InFlightState<Waiter>()
    #expect(awaited.begin() == true)
    #expect(awaited.enter(Waiter()) == true)
    _ = awaited.complete()
    #expect(awaited.tell() == false, "it was told in the moment in which it was there")
    var alone = InFlightState<Waiter>()
    #expect(alone.begin() == true)
    let nobody = alone.complete()
    #expect(nobody.isEmpty)
    #expect(alone.tell() == true)
    #expect(alone.tell() == false)
  }

  @Test(
    "a step that nobody wants does not begin, and one that has begun is cancelled when it is known")
  func unwanted() {
    var early = InFlightState<Waiter>()
    #expect(early.cancel() == nil)
    #expect(early.begin() == false)
    var late = InFlightState<Waiter>()
    #expect(late.begin() == true)
    #expect(late.cancel() == nil, "its task is being made")
    #expect(late.attach(Task {}) == false, "which is to be cancelled")
    var known = InFlightState<Waiter>()
    #expect(known.begin() == true)
    let task = Task {}
    #expect(known.attach(task) == true)
    #expect(known.cancel() == task)
  }

  @Test("readers that are cancelled leave the others their result", .timeLimit(.minutes(5)))
  func cancelled() async {
    for round in 0..<200 {
      let gate = Gate()
      let list = LazyList(0..<1).concurrentMap(limit: 2) { element in
        await gate.wait()
        return element
      }
      let readers = (0..<4).map { _ in
        Task { () async -> Int? in
          var iterator = list.makeAsyncIterator()
          return await iterator.next()
        }
      }
      await gate.waitForArrivals(1)
      for _ in 0..<20 { await Task.yield() }
      readers[round % 4].cancel()
      _ = await readers[round % 4].value
      gate.open()
      for (number, reader) in readers.enumerated() where number != round % 4 {
        #expect(await reader.value == 0)
      }
    }
  }
}
