/// What a stored list does where it has read all that is stored, and more is demanded.
public enum TailPolicy: Sendable, Hashable {
  /// Computes the next element. Where somebody else writes the list, the demand fails with
  /// ``ListStoreError/inUse``, and the next demand tries again.
  case compute
  /// Waits until somebody else has stored more.
  case follow
  /// Computes, if nobody else does; otherwise waits, and takes over when the other one is gone.
  case computeOrFollow
}
