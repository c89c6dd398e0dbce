public import Synchronization

/// A value behind a mutex, for what is rare and short.
///
/// The atomic beside it says to the thread sanitizer what the mutex does: on Linux the kernel hands
/// a contended mutex over, where the sanitizer cannot see it.
@usableFromInline
package struct Locked<Value: Sendable>: ~Copyable, Sendable {
  @usableFromInline let value: Mutex<Value>
  @usableFromInline let turns = Atomic(0)

  @inlinable
  package init(_ value: Value) { self.value = Mutex(value) }

  @inlinable
  package borrowing func withLock<R: Sendable>(_ body: (inout Value) -> R) -> R {
    value.withLock { value in
      let turn = turns.load(ordering: .acquiring)
      defer { turns.store(turn &+ 1, ordering: .releasing) }
      return body(&value)
    }
  }
}
