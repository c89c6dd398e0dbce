public import Synchronization

/// The right to compute a list's cells. Only its holder may.
///
/// It is held from the first look at the producer to the published cell, by the demand, on its stack.
/// No claim is held while a step is suspended. Taking and releasing it cost one atomic exchange each. The
/// two other bits are set by those that find it taken; the holder checks them when it releases.
///
/// Whatever only the holder may do asks for its ``Held`` token.
@usableFromInline
struct Claim: ~Copyable, Sendable {
  @usableFromInline let word = Atomic<UInt8>(0)

  @usableFromInline static var held: UInt8 { 1 }
  /// A task waits in the list's queue.
  @usableFromInline static var awaited: UInt8 { 2 }
  /// Nothing can read any more. It stays held for ever.
  @usableFromInline static var abandoned: UInt8 { 4 }

  @inlinable
  init() {}

  /// Takes the claim, if it is free.
  @inlinable @inline(__always)
  func take() -> Held? {
    word.compareExchange(expected: 0, desired: Self.held, ordering: .acquiring).exchanged
      ? Held() : nil
  }

  /// Releases the claim, unless another bit was set meanwhile: then the caller still holds it.
  @inlinable @inline(__always)
  func release(_ held: consuming Held) -> Held? {
    assert(isHeld, "a claim was released that is free")
    held.end()
    return word.compareExchange(expected: Self.held, desired: 0, ordering: .releasing).exchanged
      ? nil : Held()
  }

  /// Releases the claim although a task waits. If the list was abandoned, the caller still holds it.
  func releaseAwaited(_ held: consuming Held) -> Held? {
    assert(isHeld, "a claim was released that is free")
    held.end()
    var seen = word.load(ordering: .acquiring)
    while seen & Self.abandoned == 0 {
      let freed = word.compareExchange(
        expected: seen, desired: 0, ordering: .acquiringAndReleasing)
      if freed.exchanged { return nil }
      seen = freed.original
    }
    return Held()
  }

  /// Marks that a task waits. False if the claim is free: then there is nothing to wait for.
  func noteAwaited() -> Bool {
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

  /// Nothing can read any more. If the claim was free, the caller holds it for ever.
  func abandon() -> Held? {
    let former = word.bitwiseOr(Self.held | Self.abandoned, ordering: .acquiringAndReleasing)
    return former.oldValue & Self.held == 0 ? Held() : nil
  }

  /// Whether the holder should react: a task waits, or nothing can read any more.
  @inlinable var isContested: Bool { word.load(ordering: .relaxed) != Self.held }
  @inlinable var isAwaited: Bool { word.load(ordering: .relaxed) & Self.awaited != 0 }
  @inlinable var isHeld: Bool { word.load(ordering: .relaxed) & Self.held != 0 }
  @inlinable var isAbandoned: Bool { word.load(ordering: .acquiring) & Self.abandoned != 0 }
}

/// The proof that the caller holds a claim: only ``Claim`` makes one.
///
/// It takes no space. Its owner releases the claim, or keeps it for ever; one that does neither traps.
@frozen @usableFromInline
struct Held: ~Copyable {
  @inlinable @inline(__always)
  init() {}

  /// The claim is released, or kept for ever.
  @inlinable @inline(__always)
  consuming func end() { discard self }

  @inlinable
  deinit { Self.dropped() }

  @usableFromInline
  static func dropped() { fatalError("a claim was not released") }
}
