extension Topic {
  /// All of them, in the order of the tables.
  public static let all: [Topic] = [
    .memory, .iteration, .firstPass, .collecting, .fanOut, .contention, .asyncSteps, .streams, .depth,
    .operators,
    .memos, .collections, .schedulers, .signals, .workingAhead, .growth,
    .layouts,
  ]
}
