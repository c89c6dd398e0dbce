/// Releases chains of objects that own objects, to any depth, on one stack frame.
///
/// Releasing an unevaluated list releases its closures, which may hold the last reference to
/// another unevaluated list, and so on. Only the first release of such a chain really releases; the
/// nested ones leave their object to it.
@usableFromInline
enum ReleaseQueue {
  // Outside of a task the runtime keeps task-local values per thread.
  @TaskLocal private static var pile: Pile?

  @usableFromInline
  static func release(_ leftover: Leftover) {
    if let pile, pile.add(leftover) { return }
    let pile = Pile(leftover)
    $pile.withValue(pile) {
      while let next = pile.next() { next.release() }
    }
  }

  /// The objects that the loop above still has to release. A task that a `deinit` starts inherits
  /// the pile, hence the lock, and may outlive it, hence the end.
  private final class Pile: Sendable {
    private let leftovers: Locked<[Leftover]?>

    init(_ leftover: Leftover) { leftovers = Locked([leftover]) }

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

/// An unwanted object, or closure: the only reference to it, to be released at the right place.
// Guard: each owner passes it to the next; it is never shared.
// May touch it: its maker, then the releasing loop.
@usableFromInline
final class Leftover: @unchecked Sendable {
  private var object: AnyObject?
  private var closure: (() -> Void)?

  @usableFromInline
  init(_ object: consuming AnyObject?, _ closure: (() -> Void)? = nil) {
    self.object = object
    self.closure = closure
  }

  func release() { (object, closure) = (nil, nil) }
}
