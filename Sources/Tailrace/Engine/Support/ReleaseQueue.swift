/// Releases objects that own objects that own objects, to any depth, on one stack frame.
///
/// Letting go of an unevaluated list releases its closures, which may hold the last reference to
/// another unevaluated list, and so on. Only the first release of such a chain really releases; the
/// nested ones leave their object to it.
@usableFromInline
enum ReleaseQueue {
  // Outside of a task the runtime keeps a task-local value per thread.
  @TaskLocal private static var pile: Pile?

  @usableFromInline
  static func release(_ leftover: Leftover) {
    if let pile, pile.add(leftover) { return }
    let pile = Pile(leftover)
    $pile.withValue(pile) {
      while let next = pile.next() { next.release() }
    }
  }

  /// What is still to be released by the loop above. A task that is started by a `deinit` inherits
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

/// An object that is wanted no more: the one reference to it, to be let go of at the right place.
// Guard: it is handed from one owner to the next, never shared.
// May touch it: who made it, then the loop that releases.
@usableFromInline
final class Leftover: @unchecked Sendable {
  private var object: AnyObject?

  @usableFromInline
  init(_ object: consuming AnyObject) { self.object = object }

  func release() { object = nil }
}
