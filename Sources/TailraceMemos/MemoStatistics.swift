/// Statistics of memos since they were made.
public struct MemoStatistics: Sendable, Equatable {
  /// Requests that found a value, or its computation. One that finds a value that is due begins a new
  /// computation, too.
  public var hits = 0
  /// Computations that were started.
  public var loads = 0
  /// Computations that failed. With `cancelsUnobservedSteps`, only those that were neither forgotten nor
  /// cancelled.
  public var failures = 0
  /// Values that were removed because there were too many.
  public var evictions = 0
  /// Computations that failed, and gave the expired value instead (`servingStaleFor`).
  public var servedStale = 0
  /// Calls of a closure that computes many keys (`Memos(batchSize:)`).
  public var batches = 0
  /// Values that became out of date because another key did (`Memos.recursive`). One that turns out to
  /// be still the right one counts, too.
  public var outdated = 0

  @_alwaysEmitIntoClient
  init() {}
}

/// What has happened to a key of memos, as `reporting` is told.
///
/// ```swift
/// let squares = Memos(reporting: { print($0) }) { (number: Int) in number * number }
/// _ = await squares.value(for: 3)
/// _ = await squares.value(for: 3)
/// ```
/// ```
/// load(3)
/// hit(3)
/// ```
public enum MemoEvent<Key: Sendable>: Sendable {
  /// A request found a value, or a failure that is kept.
  case hit(Key)
  /// A computation of a key begins.
  case load(Key)
  /// A computation of a key has failed.
  case failure(Key, any Error)
  /// A value was removed because there were too many.
  case eviction(Key)
  /// A computation has failed, and gave the expired value.
  case servedStale(Key)
  /// A value became out of date because another key did.
  case outdated(Key)
  /// A closure is about to compute this many keys.
  case batch(Int)
}
