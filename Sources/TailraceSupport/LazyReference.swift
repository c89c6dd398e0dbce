public import Synchronization

/// A reference that is set once, by the first caller.
///
/// Like the standard library's `AtomicLazyReference`, whose calls are not inlined: the thread
/// sanitizer sees neither its release of the stored object nor its acquire of the loaded one, and
/// reports false races.
@usableFromInline
package struct LazyReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  /// Owns one count of the object.
  @usableFromInline let word = Atomic<Unmanaged<Object>?>(nil)

  @inlinable
  package init() {}

  @inlinable
  deinit { word.load(ordering: .acquiring)?.release() }

  @inlinable
  package func load() -> Object? { word.load(ordering: .acquiring)?.takeUnretainedValue() }

  /// Stores an object, unless there is one. Returns the one that is there.
  @inlinable
  package func storeIfNil(_ object: consuming Object) -> Object {
    let new = Unmanaged.passRetained(object)
    let (isStored, former) = word.compareExchange(
      expected: nil, desired: new, ordering: .acquiringAndReleasing)
    guard !isStored, let former else { return new.takeUnretainedValue() }
    new.release()
    return former.takeUnretainedValue()
  }
}
