import TailraceLists

/// How often a list that rebuilds its state from its elements also stores the state.
///
/// A snapshot costs its bytes, and saves reading the elements before it when the list continues.
public enum SnapshotPolicy: Sendable, Hashable {
  /// Never: continuing folds all elements.
  case never
  /// After every given number of elements, 1 or more.
  case every(Int)
  /// After at least 1024 elements, and half as many as at the last snapshot: at 1024, 2048, 3072,
  /// 4608 and so on. Continuing folds at most a third of the list, or 1023 elements. If the state
  /// grows with the list, all snapshots together have three times the bytes of the last one: the
  /// bytes written per element do not grow with the list.
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
