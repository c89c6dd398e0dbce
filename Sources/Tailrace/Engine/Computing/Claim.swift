public import Synchronization

/// The right to compute a list's cells. Only its holder may.
///
/// It is held from the first look at the producer to the published cell. The demanding task holds
/// it for a plain step; the list's own task holds it for an asynchronous one, even while suspended.
/// Taking and releasing it cost one atomic exchange each. The two other bits are set by those that
/// find it taken; the holder checks them when it releases.
@usableFromInline
struct Claim: ~Copyable, Sendable {
  @usableFromInline let word = Atomic<UInt8>(0)

  @usableFromInline static var held: UInt8 { 1 }
  /// A task waits in the list's waiting room.
  @usableFromInline static var awaited: UInt8 { 2 }
  /// Nothing can read any more. It stays held for ever.
  @usableFromInline static var abandoned: UInt8 { 4 }

  @inlinable
  init() {}

  @inlinable
  func take() -> Bool {
    word.compareExchange(expected: 0, desired: Self.held, ordering: .acquiring).exchanged
  }

  /// Releases the claim, unless another bit was set meanwhile.
  @inlinable
  func release() -> Bool {
    word.compareExchange(expected: Self.held, desired: 0, ordering: .releasing).exchanged
  }

  /// Releases the claim although a task waits. False if the list was abandoned: then the claim is
  /// kept.
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

  /// Marks that a task waits. False if the claim is free: then there is nothing to wait for.
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

  /// The waiters have been woken: the holder goes on.
  @usableFromInline
  func answered() { word.bitwiseAnd(~Self.awaited, ordering: .acquiringAndReleasing) }

  /// Nothing can read any more. True if the claim was free: then the caller holds it for ever.
  @usableFromInline
  func abandon() -> Bool {
    word.bitwiseOr(Self.held | Self.abandoned, ordering: .acquiringAndReleasing).oldValue
      & Self.held == 0
  }

  /// Whether the holder should react: a task waits, or nothing can read any more.
  @inlinable var isContested: Bool { word.load(ordering: .relaxed) != Self.held }
  @inlinable var isHeld: Bool { word.load(ordering: .relaxed) & Self.held != 0 }
  @inlinable var isAbandoned: Bool { word.load(ordering: .acquiring) & Self.abandoned != 0 }
}
