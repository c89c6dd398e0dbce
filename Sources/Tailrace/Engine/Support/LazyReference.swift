import Synchronization

/// A reference that is stored once, by the first that needs it.
///
/// The counter beside it says to the thread sanitizer what the reference does: its own operations are
/// not inlined, so that the sanitizer cannot see that they acquire and release.
@usableFromInline
struct LazyReference<Instance: AnyObject & Sendable>: ~Copyable, Sendable {
  private let reference = AtomicLazyReference<Instance>()
  private let stores = Atomic(0)

  @usableFromInline
  init() {}

  @usableFromInline
  func load() -> Instance? {
    guard let instance = reference.load() else { return nil }
    _ = stores.load(ordering: .acquiring)
    return instance
  }

  /// The one that is stored: the new one, unless somebody was faster.
  @usableFromInline
  func storeIfNil(_ instance: consuming Instance) -> Instance {
    stores.add(1, ordering: .acquiringAndReleasing)
    let stored = reference.storeIfNil(instance)
    _ = stores.load(ordering: .acquiring)
    return stored
  }
}
