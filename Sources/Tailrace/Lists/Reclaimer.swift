import Synchronization

/// Releases objects that own objects that own objects, to any depth, on one stack frame.
///
/// Letting go of an unevaluated list releases its closures, which may hold the last reference to
/// another unevaluated list, and so on. Only the first release of such a chain really releases; the
/// nested ones leave their object to it.
enum Reclaimer {
  // Outside of a task the runtime keeps a task-local value per thread.
  @TaskLocal private static var pile: Pile?

  static func release(_ object: consuming AnyObject) {
    if let pile, pile.add(object) { return }
    let pile = Pile(object)
    $pile.withValue(pile) {
      while let next = pile.next() { _ = consume next }
    }
  }

  /// What is still to be released by the loop above. A task that is started by a `deinit` inherits
  /// the pile, hence the lock, and may outlive it, hence the end.
  private final class Pile: Sendable {
    private let objects: Mutex<[Reclaimable]?>

    init(_ object: AnyObject) { objects = Mutex([Reclaimable(object: object)]) }

    func add(_ object: AnyObject) -> Bool {
      let added = Reclaimable(object: object)
      return objects.withLock { objects in
        if objects == nil { return false }
        objects?.append(added)
        return true
      }
    }

    func next() -> AnyObject? {
      let last: Reclaimable? = objects.withLock { objects in
        if let last = objects?.popLast() { return last }
        objects = nil
        return nil
      }
      return last?.object
    }
  }

  // Guard: it is only released, never used; whoever pops it owns it alone.
  // May touch it: the loop that releases.
  private struct Reclaimable: @unchecked Sendable {
    let object: AnyObject
  }
}
