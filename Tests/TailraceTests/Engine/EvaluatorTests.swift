import Tailrace
import Testing

@testable import TailraceLists

extension Evaluator {
  /// The first isolated member: a call of it hops.
  fileprivate func hop() {}
}

@Suite("Evaluator: an actor whose claim is taken in place", .inTurn)
struct EvaluatorTests {
  @Test("a hop is a fault of the engine, and no demand")
  func hop() async {
    await #expect(processExitsWith: .failure) {
      await Evaluator<Int>(AsyncSteps { _ in }).hop()
    }
  }
}
