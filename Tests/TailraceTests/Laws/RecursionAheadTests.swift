import Tailrace
import TailraceTesting
import Testing

/// Definitions by themselves, through operators that look ahead: element *i* needs element *i* - 1 only.
@Suite("Recursion through look-ahead", .inTurn)
struct RecursionAheadTests {
  typealias List = LazyList<Int, Never>

  #if DEBUG
    static let rounds = 150
  #else
    static let rounds = 3_000
  #endif

  struct Definition: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let define: @Sendable (List) -> List

    static let all = [
      Definition(testDescription: "prefetching(1)") { [1] + $0.prefetching(1).map { $0 + 1 } },
      Definition(testDescription: "prefetching(2)") { [1] + $0.prefetching(2).map { $0 + 1 } },
      Definition(testDescription: "prefetching(9)") { [1] + $0.map { $0 + 1 }.prefetching(9) },
      Definition(testDescription: "prefetching over asynchronous steps") {
        [1]
          + $0.mapAsync {
            await Task.yield()
            return $0 + 1
          }.prefetching(3)
      },
      Definition(testDescription: "concurrentMap(limit: 2)") {
        [1] + $0.concurrentMap(limit: 2) { $0 + 1 }
      },
      Definition(testDescription: "concurrentMap(limit: 3), suspending") {
        [1]
          + $0.concurrentMap(limit: 3) {
            await Task.yield()
            return $0 + 1
          }
      },
      Definition(testDescription: "one after the other") {
        [1] + $0.prefetching(2).concurrentMap(limit: 2) { $0 }.prefetching(1).map { $0 + 1 }
      },
      Definition(testDescription: "twice") { list in
        [1] + zip(list.prefetching(2), list.concurrentMap(limit: 2) { $0 }).map { $0.0 + 1 }
      },
    ]
  }

  @Test(
    "gives its elements, and is released while it looks ahead", .timeLimit(.minutes(15)),
    arguments: Definition.all)
  func released(_ definition: Definition) async {
    for _ in 0..<Self.rounds {
      let list = List.recursive(definition.define)
      #expect(await list.prefix(5).array() == [1, 2, 3, 4, 5])
    }
  }

  @Test(
    "many are kept and read by several tasks", .timeLimit(.minutes(15)), arguments: Definition.all)
  func kept(_ definition: Definition) async {
    let lists = (0..<Self.rounds / 3).map { _ in List.recursive(definition.define) }
    await withTaskGroup { group in
      for list in lists {
        for reader in 0..<3 {
          group.addTask {
            if reader == 0 {
              #expect(await list.prefix(20).array() == Array(1...20))
            } else {
              var expected = 1
              for await element in list.prefix(reader * 7) {
                #expect(element == expected)
                expected += 1
              }
              #expect(expected == reader * 7 + 1)
            }
          }
        }
      }
    }
    // Look-ahead has come to rest, or will, and reads no further than it may.
    for list in lists { #expect(await list.element(at: 20) == 21) }
  }

  @Test("everything is let go of", .timeLimit(.minutes(15)), arguments: Definition.all)
  func letGo(_ definition: Definition) async {
    let instances = InstanceCounter()
    for _ in 0..<Self.rounds / 10 {
      let token = instances.member(1)
      let list = List.recursive { list in
        definition.define(list.map { $0 * token.number })
      }
      let reader = Task { await list.prefix(7).array() }
      if Bool.random() { #expect(await list.element(at: 3) == 4) }
      #expect(await reader.value == Array(1...7))
    }
    await instances.waitUntilEmpty()
  }
}
