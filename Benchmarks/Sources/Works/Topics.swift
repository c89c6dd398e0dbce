import Measuring

extension Topic {
  /// All of them, in the order of the tables.
  public static let all: [Topic] = [
    .memory, .iteration, .firstPass, .collecting, .operators, .slices, .joins, .fanOut,
    .contention, .asyncSteps, .asyncChains, .streams, .memos, .keyedMemos, .batchedMemos, .depth,
    .workingAhead, .collections, .schedulers, .signals, .batches, .lockstep, .looking, .growth,
    .layouts, .stored,
  ]
}
