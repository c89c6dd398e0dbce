import Tailrace
import Testing

/// Operators of signals are calls within calls. Chains as long as the documentation says can be read
/// and released.
@Suite("Chains of a signal's operators")
struct SignalDepthTests {
  @Test("a thousand operators", .timeLimit(.minutes(15)))
  func stacked() async {
    var signal = Signal<Int, Never> { subscriber in
      subscriber.send(1)
      subscriber.complete()
    }
    for _ in 0..<1000 { signal = signal.map { $0 + 1 } }
    #expect(await signal.array() == [1001])
  }
}
