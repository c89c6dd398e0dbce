import Tailrace
import TailraceSupport

/// Records values in the order of their arrival.
///
/// ```swift
/// let probe = Probe<Int>()
/// let list = LazyList(1...).map { probe.pass($0) }
/// _ = await list.element(at: 2)
/// probe.values   // [1, 2, 3]
/// ```
public final class Probe<Value: Sendable>: Sendable {
  private struct State {
    var values: [Value] = []
    var watching = CountWaiters()
  }

  private let state = Locked(State())

  /// Creates an empty probe.
  public init() {}

  /// Records a value.
  public func record(_ value: Value) {
    let watchers = state.withLock { state in
      state.values.append(value)
      return state.watching.reached(state.values.count)
    }
    for watcher in watchers { watcher.resume() }
  }

  /// Records a value and returns it.
  @discardableResult
  public func pass(_ value: Value) -> Value {
    record(value)
    return value
  }

  /// All recorded values.
  public var values: [Value] { state.withLock { $0.values } }

  /// The number of recorded values.
  public var count: Int { state.withLock { $0.values.count } }

  /// Waits until that many values have been recorded.
  public func waitForCount(_ count: Int) async {
    let mark = Exploring.waits(
      for: Exploring.Wait(
        "value \(count) of ", "a Probe<\(Value.self)>", self, " (so far \(self.count))"))
    defer { mark?.end() }
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.values.count >= count { return true }
        state.watching.add(continuation, until: count)
        return false
      }
      if isThere { continuation.resume() }
    }
  }
}
