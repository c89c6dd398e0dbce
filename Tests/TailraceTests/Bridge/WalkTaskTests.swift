import Testing

@testable import TailraceSignals

@Suite("The task in which a walk goes on")
struct WalkTaskTests {
  @Test(
    "the later part is cancelled, whichever of them is heard of first", arguments: [false, true])
  func order(_ isReversed: Bool) {
    let current = WalkTask()
    let parts = (1...2).map { ($0, Task<Void, Never> {}) }
    for (number, task) in isReversed ? parts.reversed() : parts { current.runs(number, in: task) }
    current.cancel()
    #expect(parts[1].1.isCancelled)
    let late = Task {}
    current.runs(3, in: late)
    #expect(late.isCancelled)
  }
}
