import TailraceSupport

/// Releases chains of objects that own objects, to any depth, on one stack frame.
///
/// Releasing an unevaluated list releases its closures, which may hold the last reference to
/// another unevaluated list, and so on. Only the first release of such a chain really releases; the
/// nested ones leave their object to it.
@usableFromInline
enum ReleaseQueue {
  // Outside of a task the runtime keeps task-local values per thread.
  @TaskLocal private static var pending: Pending?

  @usableFromInline
  static func release(_ leftover: consuming Leftover) {
    if let pending, pending.add(leftover) { return }
    let pending = Pending()
    var next: Leftover? = consume leftover
    $pending.withValue(pending) {
      repeat {
        // Released before the next one is looked for, which its release may add.
        next = nil
        next = pending.next()
      } while next != nil
    }
  }

  /// The objects that the loop above still has to release. A task that a `deinit` starts inherits
  /// the task-local, so there is a lock; it may outlive the loop, which then takes nothing more.
  private final class Pending: Sendable {
    private let leftovers = Locked<[Leftover]?>([])

    func add(_ leftover: Leftover) -> Bool {
      leftovers.withLock { leftovers in
        if leftovers == nil { return false }
        leftovers?.append(leftover)
        return true
      }
    }

    func next() -> Leftover? {
      leftovers.withLock { leftovers in
        if let last = leftovers?.popLast() { return last }
        leftovers = nil
        return nil
      }
    }
  }
}

/// An unwanted object, and a closure with what it captures, to be released at the right place.
///
/// Owners consume it when they pass it on: only the releasing loop may hold the last reference.
// Guard: each owner passes it to the next; it is never shared.
// May touch it: its maker, then the releasing loop.
@usableFromInline
struct Leftover: @unchecked Sendable {
  private let object: AnyObject?
  private let closure: (() -> Void)?

  @usableFromInline
  init(_ object: consuming AnyObject?, _ closure: (() -> Void)? = nil) {
    self.object = object
    self.closure = closure
  }
}
