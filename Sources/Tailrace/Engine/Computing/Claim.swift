public import Synchronization

/// Who may compute the cells of a list: whoever holds the claim, and nobody else.
///
/// It is held from the first look at the producer to the published cell: by the demanding task for a
/// plain step, by the list's own task for an asynchronous one, also while that is suspended. Taking
/// it and letting go cost one atomic exchange each; the two other bits are for those who find it
/// taken, and the holder looks at them when it lets go.
@usableFromInline
struct Claim: ~Copyable, Sendable {
  @usableFromInline let word = Atomic<UInt8>(0)

  @usableFromInline static var held: UInt8 { 1 }
  /// Somebody waits in the list's waiting room.
  @usableFromInline static var awaited: UInt8 { 2 }
  /// Nobody can read any more. It stays held for ever.
  @usableFromInline static var abandoned: UInt8 { 4 }

  @inlinable
  init() {}

  @inlinable
  func take() -> Bool {
    word.compareExchange(expected: 0, desired: Self.held, ordering: .acquiring).exchanged
  }

  /// Lets go, if nobody has left a word meanwhile.
  @inlinable
  func release() -> Bool {
    word.compareExchange(expected: Self.held, desired: 0, ordering: .releasing).exchanged
  }

  /// Lets go although somebody waits. False where the list was abandoned: then the claim is kept.
  @usableFromInline
  func releaseAwaited() -> Bool {
    var seen = word.load(ordering: .acquiring)
    while seen & Self.abandoned == 0 {
      let freed = word.compareExchange(
        expected: seen, desired: 0, ordering: .acquiringAndReleasing)
      if freed.exchanged { return true }
      seen = freed.original
    }
    return false
  }

  /// Says that somebody waits. False if nobody holds the claim: there is nothing to wait for.
  @usableFromInline
  func await() -> Bool {
    var seen = word.load(ordering: .acquiring)
    while seen & Self.held != 0 {
      if seen & Self.awaited != 0 { return true }
      let marked = word.compareExchange(
        expected: seen, desired: seen | Self.awaited, ordering: .acquiringAndReleasing)
      if marked.exchanged { return true }
      seen = marked.original
    }
    return false
  }

  /// Those who waited have been told: the holder goes on.
  @usableFromInline
  func answered() { word.bitwiseAnd(~Self.awaited, ordering: .acquiringAndReleasing) }

  /// Nobody can read any more. True if the claim was free: then it is the caller's, for ever.
  @usableFromInline
  func abandon() -> Bool {
    word.bitwiseOr(Self.held | Self.abandoned, ordering: .acquiringAndReleasing).oldValue
      & Self.held == 0
  }

  /// Whether the holder should look up: somebody waits, or nobody can read any more.
  @inlinable var isContested: Bool { word.load(ordering: .relaxed) != Self.held }
  @inlinable var isHeld: Bool { word.load(ordering: .relaxed) & Self.held != 0 }
  @inlinable var isAbandoned: Bool { word.load(ordering: .acquiring) & Self.abandoned != 0 }
}
