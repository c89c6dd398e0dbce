import TailraceTesting
import Testing

@testable import Tailrace

@Suite("A step that runs beside others")
struct InFlightTransformTests {
  @Test("who leaves takes nobody along", arguments: 0..<3)
  func leaving(_ leaver: Int) {
    let all = [Waiter(), Waiter(), Waiter()]
    var waiters = InFlightTransformWaiters()
    for waiter in all { waiters.add(waiter) }
    waiters.remove(all[leaver])
    let others = all.indices.filter { $0 != leaver }.map { all[$0] }
    let left = [waiters.first].compactMap { $0 } + waiters.others
    #expect(Set(left.map(ObjectIdentifier.init)) == Set(others.map(ObjectIdentifier.init)))
    #expect(waiters.first != nil)
    for waiter in others { waiters.remove(waiter) }
    #expect(waiters.first == nil && waiters.others.isEmpty)
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
      await gate.arrivals(1)
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
