public import Synchronization

/// A value behind a mutex, for rare and short accesses.
///
/// In debug builds an atomic beside it shows the thread sanitizer the mutex's effect: on Linux the
/// kernel passes a contended mutex on, where the sanitizer cannot see it. There is no build condition
/// for the sanitizer itself.
@usableFromInline
package struct Locked<Value: Sendable>: ~Copyable, Sendable {
  @usableFromInline let value: Mutex<Value>
  #if DEBUG
    @usableFromInline let turns = Atomic(0)
  #endif

  @inlinable
  package init(_ value: consuming Value) { self.value = Mutex(value) }

  @inlinable
  package borrowing func withLock<R: Sendable>(_ body: (inout Value) -> R) -> R {
    value.withLock { value in
      #if DEBUG
        let turn = turns.load(ordering: .acquiring)
        defer { turns.store(turn &+ 1, ordering: .releasing) }
      #endif
      return body(&value)
    }
  }
}
