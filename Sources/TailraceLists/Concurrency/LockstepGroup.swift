import TailraceSupport
public import Synchronization

typealias LockstepStanding = (position: Int, standing: LockstepState<Waiter>.Standing)

/// The readers of one list that stay within a distance of one another: the shell of
/// ``LockstepState``.
@usableFromInline
final class LockstepGroup: Sendable {
  private let state: Locked<LockstepState<Waiter>>
  private let positions: [LockstepPosition]
  let distance: Int

  /// - Parameter distance: 1 or more.
  init(readers count: Int, distance: Int) {
    self.distance = distance
    state = Locked(LockstepState(readers: count, distance: distance))
    positions = (0..<count).map { _ in LockstepPosition() }
  }

  /// One for each reader. Releasing one leaves the group.
  @usableFromInline
  func members() -> [LockstepMember] {
    positions.enumerated().map { LockstepMember(self, $0.offset, $0.element) }
  }

  private func locate(_ reader: Int, _ isAwaited: Bool) -> Int {
    positions[reader].locate(isAwaited)
  }

  /// Waits until a reader may take another element. Returns the position before which it may, or
  /// `nil` if the task is cancelled first and that ends the wait.
  fileprivate nonisolated(nonsending) func demand(
    by reader: Int, at position: Int, cancellable: Bool
  ) async -> Int? {
    while true {
      let waiter = Waiter()
      let answer = state.withLock {
        $0.demand(by: reader, at: position, waiter: waiter, locate)
      }
      if case .mayRead(let end) = answer { return end }
      let mark = Exploring.waits(
        for: Exploring.Wait("the other readers of ", "a list read in step", self))
      defer { mark?.end() }
      if case .cancelled = await waiter.wait(cancellable: cancellable) { return nil }
    }
  }

  fileprivate func moved(_ reader: Int) {
    let woken = state.withLock { state in
      positions[reader].told()
      return state.moved(locate)
    }
    for waiter in woken { waiter.wake(.lookAgain) }
  }

  /// Each reader's position, and how it is getting on, all at one moment but for those that go on.
  func standings(of readers: Range<Int>) -> [LockstepStanding] {
    state.withLock { state in
      readers.map { (positions[$0].locate(false), state.standing(of: $0, locate)) }
    }
  }

  var count: Int { positions.count }

  fileprivate func leave(_ reader: Int) {
    for waiter in state.withLock({ $0.leave(reader, locate) }) { waiter.wake(.lookAgain) }
  }
}

/// A reader's position, and whether another waits for it to go on: one word, so that a change of
/// either is seen with the other.
// The object spans two cache lines, so that readers on different processors do not contend for them
// ("In step").
@usableFromInline
final class LockstepPosition: Sendable {
  @usableFromInline typealias Padding = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

  private let before: Padding = (0, 0, 0, 0, 0, 0)
  /// Twice the position, plus 1 if a reader waits.
  @usableFromInline let word = Atomic(0)
  private let after: Padding = (0, 0, 0, 0, 0, 0)

  @usableFromInline
  init() {}

  /// The reader has gone on. True if another waits for that.
  @_alwaysEmitIntoClient @inline(__always)
  func advance(by cost: Int) -> Bool {
    word.wrappingAdd(cost &<< 1, ordering: .relaxed).oldValue & 1 != 0
  }

  fileprivate func locate(_ isAwaited: Bool) -> Int {
    isAwaited
      ? word.bitwiseOr(1, ordering: .relaxed).oldValue >> 1 : word.load(ordering: .relaxed) >> 1
  }

  /// No reader waits any longer: those that did are told now.
  fileprivate func told() { word.bitwiseAnd(~1, ordering: .relaxed) }
}

/// A place among the readers. It has one owner at a time: the reader, then its iteration.
@usableFromInline
final class LockstepMember: Sendable {
  let group: LockstepGroup
  let reader: Int
  let position: LockstepPosition

  fileprivate init(_ group: LockstepGroup, _ reader: Int, _ position: LockstepPosition) {
    self.group = group
    self.reader = reader
    self.position = position
  }

  deinit { group.leave(reader) }

  nonisolated(nonsending) func demand(at position: Int, cancellable: Bool) async -> Int? {
    await group.demand(by: reader, at: position, cancellable: cancellable)
  }

  @usableFromInline
  func moved() { group.moved(reader) }
}
