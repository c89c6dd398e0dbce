import Measuring

/// The cost of our contender of a row inside a Swift Testing test, and outside.
///
/// Swift Testing sees every error that is thrown, and captures a backtrace for it; a test is a task
/// in a task, with task-local values.
struct Inside {
  let row: Row
  let size: Int
  private(set) var outside = Timing()
  private(set) var inside = Timing()

  /// Both take turns, though they are two processes: the one that waits does not run.
  init(_ topic: Topic, _ row: Row, at outpost: Outpost, _ options: Options) async throws {
    self.row = row
    size = row.sizeInside
    var entrant = try await Entrant(row.ours, of: row, at: size)
    try await entrant.warm()
    // The first time, it sets up and warms up.
    _ = try outpost.sample(topic, row, by: options.stopwatch)
    for _ in 0..<options.rounds {
      outside.append(try await entrant.sample(by: options.stopwatch))
      inside.append(try outpost.sample(topic, row, by: options.stopwatch))
    }
  }

  var ratio: Timing { inside / outside }

  func limit(_ topic: Topic) -> Limit {
    Limit("inside a test: \(topic.name) · \(row.name)", ratio.median, atMost: 1.5)
  }
}
