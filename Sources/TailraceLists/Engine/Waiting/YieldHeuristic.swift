import Synchronization

/// Whether the awaited contents are mostly there after all ready tasks have run once. Waiting for
/// that costs less than a wake-up.
@usableFromInline
final class YieldHeuristic: Sendable {
  /// How often in a row they were not, or the attempt was skipped.
  private let misses = Atomic(0)

  @usableFromInline
  init() {}

  var isWorthTrying: Bool {
    let misses = misses.load(ordering: .relaxed)
    if misses < 4 || misses & 31 == 0 { return true }
    note(false)
    return false
  }

  func note(_ isThere: Bool) {
    if isThere {
      misses.store(0, ordering: .relaxed)
    } else {
      misses.wrappingAdd(1, ordering: .relaxed)
    }
  }
}
