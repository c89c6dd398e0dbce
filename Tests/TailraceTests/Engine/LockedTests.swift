import Tailrace
import TailraceSupport
import Testing

@testable import TailraceLists

@Suite("Locked: one thread at a time", .hangLimit, .inTurn)
struct LockedTests {
  @Test("no change is lost, and nobody sees half of one")
  func counting() async {
    #if DEBUG
      let rounds = 10_000
    #else
      let rounds = 100_000
    #endif
    let pair = Locked((first: 0, second: 0))
    let isHalf = await Duo.run { duo in
      let count: @Sendable () -> Bool = {
        (0..<rounds).contains { _ in
          pair.withLock { pair in
            pair.first += 1
            defer { pair.second += 1 }
            return pair.first != pair.second + 1
          }
        }
      }
      let (first, second) = await duo.together([0, 0], count, count)
      return first || second
    }
    #expect(!isHalf)
    #expect(pair.withLock { $0.first } == 2 * rounds)
  }

  @Test("it gives back what its closure does")
  func result() {
    let list = Locked([1, 2, 3])
    #expect(list.withLock { $0.removeLast() } == 3)
    #expect(list.withLock { $0 } == [1, 2])
  }
}
