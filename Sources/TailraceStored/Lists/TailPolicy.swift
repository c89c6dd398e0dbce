import TailraceLists

/// The behaviour of a stored list when more is requested after the last stored element.
public enum TailPolicy: Sendable, Hashable {
  /// Computes the next element. If another writer holds the list, the request fails with
  /// ``ListStoreError/inUse``, and the next request tries again.
  case compute
  /// Waits until another writer has stored more.
  case follow
  /// Computes without another writer; otherwise waits, and takes over when that one is gone.
  case computeOrFollow
}
