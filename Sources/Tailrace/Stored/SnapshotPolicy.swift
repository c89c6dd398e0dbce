/// How often a list that rebuilds its state from its elements stores the state, too.
///
/// A snapshot costs its bytes, and spares whoever goes on the elements before it.
public enum SnapshotPolicy: Sendable, Hashable {
  /// Never: going on folds all elements.
  case never
  /// After every so many elements, 1 or more.
  case every(Int)
  /// After at least 1024 elements, and half as many as there were at the last snapshot: at 1024,
  /// 2048, 3072, 4608 and so on. Going on folds at most a third of the list, or 1023 elements; and
  /// where the state grows with the list, all snapshots together have three times the bytes of the
  /// last one, so that the bytes that are written for an element stay the same however long the
  /// list gets.
  case growing
}

extension SnapshotPolicy {
  @usableFromInline
  func isDue(after count: Int, since last: Int) -> Bool {
    switch self {
    case .never: false
    case .every(let interval): count - last >= interval
    case .growing: count - last >= max(1024, last / 2)
    }
  }
}
