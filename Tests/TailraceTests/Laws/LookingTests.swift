import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@Suite("Looking at a list takes nothing from those who wait", .inTurn)
struct LookingTests {
  #if DEBUG
    private static let rounds = Size.usual(300, full: 3_000)
  #else
    private static let rounds = Size.usual(3_000, full: 30_000)
  #endif

  /// One that only looks takes the outcome of a step that is done; a failure is for the reader who waits.
  @Test("a failure for now reaches its reader, however often others look meanwhile")
  func failures() async {
    let (calls, told) = (Counter(), Counter())
    for _ in 0..<Self.rounds {
      let list = LazyList(state: 0, retryingFailures: true) { (number: inout Int) async throws in
        calls.increment()
        await Task.yield()
        number += 1
        if calls.value % 2 == 0 { throw Mishap(position: number) }
        return number <= 3 ? number : nil
      }
      await withTaskGroup { group in
        let isOver = Counter()
        for _ in 0..<2 {
          group.addTask {
            while isOver.value == 0 {
              _ = (list.evaluatedCount, list.description)
              await Task.yield()
            }
          }
        }
        group.addTask {
          var iterator = list.makeAsyncIterator()
          while true {
            do { if try await iterator.next() == nil { break } } catch { told.increment() }
          }
          isOver.increment()
        }
      }
    }
    // Each call gives one of three elements or the end, or fails.
    #expect(calls.value - told.value == 4 * Self.rounds)
  }
}
