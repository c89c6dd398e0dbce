import Tailrace
import TailraceSupport

/// Counts its living members, exactly, by reference counting.
///
/// ```swift
/// let instances = InstanceCounter()
/// let list = LazyList(1...).map { instances.member($0) }
/// _ = await list.dropFirst(1000).head()
/// instances.alive   // 1001; what the list still holds
/// ```
public final class InstanceCounter: Sendable {
  /// An object counted while it lives.
  public final class Member: Sendable {
    /// The number given to it.
    public let number: Int
    private let instances: InstanceCounter

    fileprivate init(_ number: Int, _ instances: InstanceCounter) {
      self.number = number
      self.instances = instances
      instances.count { $0 += 1 }
    }

    deinit { instances.count { $0 -= 1 } }
  }

  private struct State {
    var alive = 0
    var greatest = 0
    var watching: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  /// Creates a counter without members.
  public init() {}

  /// Returns a new member.
  public func member(_ number: Int = 0) -> Member { Member(number, self) }

  /// How many members are alive.
  public var alive: Int { state.withLock { $0.alive } }

  /// The highest number of members alive at once.
  public var greatest: Int { state.withLock { $0.greatest } }

  /// Waits until no member is alive.
  public func waitUntilEmpty() async {
    let mark = Exploring.waits(
      for: Exploring.Wait("", "a InstanceCounter", self, " to be released (alive \(alive))"))
    defer { mark?.end() }
    await withCheckedContinuation { continuation in
      let isDead = state.withLock { state in
        if state.alive == 0 { return true }
        state.watching.append(continuation)
        return false
      }
      if isDead { continuation.resume() }
    }
  }

  private func count(_ change: (inout Int) -> Void) {
    let watchers = state.withLock { state in
      change(&state.alive)
      state.greatest = max(state.greatest, state.alive)
      guard state.alive == 0 else { return [CheckedContinuation<Void, Never>]() }
      defer { state.watching = [] }
      return state.watching
    }
    for watcher in watchers { watcher.resume() }
  }
}
