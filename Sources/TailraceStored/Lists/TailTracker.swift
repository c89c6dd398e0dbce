import TailraceLists

/// Decides what a stored list does next: a value with one method for each event.
///
/// | event | action |
/// |---|---|
/// | elements were read | give them; read on |
/// | the end was read | end the list |
/// | there are no more elements | by policy: wait, or acquire the lease; or compute, if the lease ends exactly here |
/// | a lease finds more elements | read on, and acquire again behind them |
/// | a second one does, after a read that found none | fail: they were lost |
/// | a lease finds fewer elements | fail: they were lost; or the list begins beyond them |
/// | there is another writer | by policy: wait, or fail |
/// | an append lost | read on; fail if the last one has at the same position |
///
/// A lease counts only if it ends where this list has read to: its state must be the one after
/// this list's last element. A lease that ends further on is not kept: until the list gets there,
/// its store may be repaired, and the state discarded.
@usableFromInline
struct TailTracker<State: Sendable> {
  @usableFromInline
  enum Action {
    case read
    case give
    case acquire
    case wait
    /// The list is the writer, and continues from there.
    case compute(ListCheckpoint<State>)
    case end
    case fail(ListStoreError)
  }

  @usableFromInline let policy: TailPolicy
  /// How many elements have been read or appended, as the store counts.
  @usableFromInline private(set) var position: Int
  /// Where the list begins.
  private let start: Int
  /// The last lease has counted elements beyond the position, and none has been read since.
  private var hasUnread = false
  /// Where an append lost against another writer's last.
  private var supersededAt: Int?

  @usableFromInline
  init(_ policy: TailPolicy, position: Int) {
    self.policy = policy
    self.position = position
    start = position
  }

  /// This many elements were read at the position.
  @usableFromInline
  mutating func didRead(_ count: Int, isEnd: Bool) -> Action {
    position += count
    if count > 0 {
      hasUnread = false
      return .give
    }
    if isEnd { return .end }
    return policy == .follow ? .wait : .acquire
  }

  /// The answer to a lease, made when nothing more could be read.
  @usableFromInline
  mutating func didAcquire(_ lease: ListCheckpoint<State>?) -> Action {
    let hadUnread = hasUnread
    hasUnread = false
    guard let lease else { return policy == .compute ? .fail(.inUse) : .wait }
    if lease.count < position { return .fail(failure(of: lease)) }
    if lease.count == position { return lease.isEnded ? .end : .compute(lease) }
    // The store counts them, and does not give them.
    if hadUnread { return .fail(.damaged(at: position)) }
    hasUnread = true
    return .read
  }

  /// Why nothing can be computed at the position, if a lease has fewer elements.
  private func failure(of lease: ListCheckpoint<State>) -> ListStoreError {
    // Elements that were read before are lost.
    if position > start { return .damaged(at: lease.count) }
    return .refused(
      "the store has \(lease.count) elements, and a list that begins at position \(position) "
        + "cannot compute those in between: begin at position \(lease.count) or before")
  }

  /// An append at the position lost. False if the one before has, too, with no element in between:
  /// then a store grants leases and takes nothing, and computing again would go on for ever.
  @usableFromInline
  mutating func didLose() -> Bool {
    defer { supersededAt = position }
    return supersededAt != position
  }

  /// This many elements were appended at the position.
  @_alwaysEmitIntoClient
  mutating func didAppend(_ count: Int) { position += count }
}
