import Tailrace
import TailraceTesting
import Testing

/// Thousands of readers of lists that look ahead: each gets every element once, in order, and nothing stays.
@Suite("Look-ahead under load", .inTurn)
struct LookaheadStressTests {
  typealias List = LazyList<Int, Never>

  typealias Layer = StackedLookaheadTests.Layer

  static let layers = [
    Layer(testDescription: "prefetching(2), plain steps") { $0.prefetching(2) },
    Layer(testDescription: "prefetching(2), steps that yield") { list in
      list.mapAsync { number in
        await Task.yield()
        return number
      }.prefetching(2)
    },
    Layer(testDescription: "prefetching(3), steps that leave their thread") { list in
      list.mapAsync { number in await Task.detached { number }.value }.prefetching(3)
    },
    Layer(testDescription: "prefetching over concurrentMap over prefetching") {
      $0.prefetching(2).concurrentMap(limit: 3) { $0 }.prefetching(1)
    },
  ]

  @Test("all readers agree, and everything is let go of", .hangLimit, arguments: layers)
  func agree(_ layer: Layer) async {
    let instances = InstanceCounter()
    await withTaskGroup { group in
      for round in 0..<Size.usual(150, full: 1_500) {
        let count = 20 + round % 40
        let token = instances.member(1)
        let list = layer.apply(LazyList(0..<count).map { $0 * token.number })
        for reader in 0..<4 {
          group.addTask {
            switch reader {
            case 0: #expect(await list.array() == Array(0..<count))
            case 1: #expect(await list.element(at: round % count) == round % count)
            case 2:
              let cancelled = Task { for await _ in list {} }
              cancelled.cancel()
              await cancelled.value
            default:
              var expected = 0
              for await number in list {
                #expect(number == expected)
                expected += 1
              }
              #expect(expected == count)
            }
          }
        }
      }
    }
    await instances.waitUntilEmpty()
  }
}
