import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

/// Lists that look ahead, in lists that look ahead: each keeps its distance.
@Suite("Look-ahead over look-ahead", .inTurn)
struct StackedLookaheadTests {
  typealias List = LazyList<Int, Never>

  struct Layer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let apply: @Sendable (List) -> List

    static let all = [
      Layer(testDescription: "none") { $0 },
      Layer(testDescription: "prefetching(4)") { $0.prefetching(4) },
      Layer(testDescription: "concurrentMap(limit: 2)") { list in
        list.concurrentMap(limit: 2) { number in
          await Task.yield()
          return number
        }
      },
      Layer(testDescription: "concurrentMapUnordered(limit: 2)") {
        $0.concurrentMapUnordered(limit: 2) { $0 }
      },
      Layer(testDescription: "asynchronous steps, then prefetching(1)") { list in
        list.mapAsync { number in
          await Task.yield()
          return number
        }.prefetching(1)
      },
      Layer(testDescription: "prefetching(3), twice") { $0.prefetching(3).prefetching(3) },
    ]
  }

  private static let count = 60

  /// Each closure waits until the last one that may run beside it has begun: if fewer ran at once,
  /// that would be for ever.
  private static func closures(
    _ numbers: Range<Int>, _ begun: [Gate], limit: Int
  ) -> List {
    LazyList(numbers).concurrentMap(limit: limit) { number in
      begun[number].open()
      await begun[min(number + limit - 1, numbers.upperBound - 1)].wait()
      return number
    }
  }

  @Test("as many closures run at once as without it", .hangLimit, arguments: Layer.all, [2, 4])
  func closures(_ layer: Layer, limit: Int) async {
    let begun = (0..<Self.count).map { _ in Gate() }
    let list = layer.apply(Self.closures(0..<Self.count, begun, limit: limit))
    var elements: [Int] = []
    for await element in list { elements.append(element) }
    #expect(elements.sorted() == Array(0..<Self.count))
  }

  @Test("also in lists that steps make, if no look-ahead demands them", .hangLimit)
  func inner() async {
    let begun = (0..<Self.count).map { _ in Gate() }
    let lists = LazyList(0..<Self.count / 10).flatMap { number in
      Self.closures(number * 10..<number * 10 + 10, begun, limit: 4)
    }
    var elements: [Int] = []
    for await element in lists { elements.append(element) }
    #expect(elements.sorted() == Array(0..<Self.count))
  }

  @Test("where look-ahead demands lists that steps make, theirs pauses", .hangLimit)
  func pausing() async {
    let running = Locked(0)
    let most = Locked(0)
    let lists = LazyList(0..<6).flatMap { number in
      LazyList(0..<10).concurrentMap(limit: 4) { element in
        let count = running.withLock { running in
          running += 1
          return running
        }
        // The reader itself demands the first list's first element, and all others are demanded ahead of it.
        if number > 0 { most.withLock { $0 = max($0, count) } }
        for _ in 0..<10 { await Task.yield() }
        running.withLock { $0 -= 1 }
        return number * 10 + element
      }
    }
    let list = lists.prefetching(100)
    #expect(await list.array() == Array(0..<60))
    #expect(most.withLock { $0 } == 1)
  }

  @Test("each demand begins what its distance says, and no more")
  func distance() async {
    let begun = Probe<Int>()
    let list = LazyList(0..<100).concurrentMap(limit: 4) { number in
      begun.record(number)
      return number
    }.prefetching(5).prefetching(2)
    #expect(await list.head() == 0)
    // Two ahead of the reader, five of those, three of those.
    await begun.waitForCount(11)
    for _ in 0..<100 { await Task.yield() }
    #expect(begun.values.sorted() == Array(0..<11))
  }

  @Test("a list of lists that look ahead in one another rests after a demand", .hangLimit)
  func fresh() async {
    let made = Probe<Int>()
    @Sendable func numbers(from number: Int) -> List {
      made.record(number)
      return [number] + List.deferred { numbers(from: number + 1) }.prefetching(2)
    }
    let list = numbers(from: 0)
    #expect(await list.prefix(3).array() == [0, 1, 2])
    var before = -1
    while before != made.count {
      before = made.count
      for _ in 0..<1_000 { await Task.yield() }
    }
    // Quick ones are pulled in place, 64 at most for each demand.
    #expect(made.count < 200)
  }
}
