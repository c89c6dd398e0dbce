import Tailrace

@testable import TailraceLists

extension LockstepState {
  /// Asks, for a model of readers: hands over their positions, and notes which of them are awaited.
  mutating func answer<Answer>(
    at positions: [Int], noting awaited: inout [Bool],
    _ question: (inout LockstepState, Locate) -> Answer
  ) -> Answer {
    var marks = awaited
    defer { awaited = marks }
    return question(&self) { reader, isAwaited in
      if isAwaited { marks[reader] = true }
      return positions[reader]
    }
  }
}
