import Synchronization

/// A reference that is set once, by whoever comes first.
///
/// As the standard library's `AtomicLazyReference`, whose calls are not inlined, so that the thread
/// sanitizer sees neither the release of what was stored nor the acquire of what is loaded, and reports
/// races that are none.
@usableFromInline
struct LazyReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  /// Owns one count of the object.
  private let word = Atomic<Unmanaged<Object>?>(nil)

  deinit { word.load(ordering: .acquiring)?.release() }

  func load() -> Object? { word.load(ordering: .acquiring)?.takeUnretainedValue() }

  /// Stores an object, unless there is one. Returns the one that is there.
  func storeIfNil(_ object: consuming Object) -> Object {
    let new = Unmanaged.passRetained(object)
    let (isStored, former) = word.compareExchange(
      expected: nil, desired: new, ordering: .acquiringAndReleasing)
    guard !isStored, let former else { return new.takeUnretainedValue() }
    new.release()
    return former.takeUnretainedValue()
  }
}
