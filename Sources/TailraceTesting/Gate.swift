import Tailrace
import TailraceSupport

/// Holds tasks until a test opens it.
///
/// ```swift
/// let gate = Gate()
/// let list = LazyList(state: 0) { state in
///   await gate.wait()
///   state += 1
///   return state
/// }
/// let reader = Task { await list.head() }
/// await gate.waitForArrivals(1)   // the step is in flight, for certain
/// reader.cancel()
/// gate.open()
/// ```
///
/// By waiting for an arrival, a test knows where the other task is, without sleeping.
public final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var passes = 0
    var arrived = 0
    var waiting = Registry<CheckedContinuation<Void, Never>>()
    var watching = CountWaiters()
  }

  private let state = Locked(State())

  /// Creates a closed gate.
  public init() {}

  /// Waits until the gate is open, or until a pass lets this task through.
  ///
  /// It ignores cancellation: the test decides how a cancelled task stops.
  public func wait() async {
    let mark = Exploring.waits(for: Exploring.Wait("", "a closed Gate", self))
    defer { mark?.end() }
    await withCheckedContinuation { continuation in
      let (goesOn, watchers) = state.withLock { state in
        state.arrived += 1
        let goesOn = state.isOpen || state.passes > 0
        if !state.isOpen && state.passes > 0 { state.passes -= 1 }
        if !goesOn { _ = state.waiting.add(continuation) }
        return (goesOn, state.watching.reached(state.arrived))
      }
      for watcher in watchers { watcher.resume() }
      if goesOn { continuation.resume() }
    }
  }

  /// Lets all tasks through, now and later.
  public func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      return state.waiting.removeAll()
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Lets one task through: the first waiting, or the next to arrive.
  public func pass() {
    let first: CheckedContinuation<Void, Never>? = state.withLock { state in
      let first = state.waiting.removeFirst()
      if first == nil { state.passes += 1 }
      return first
    }
    first?.resume()
  }

  /// How many times a task has arrived at the gate.
  public var arrived: Int { state.withLock { $0.arrived } }

  /// Waits until that many arrivals, counted from the gate's creation.
  public func waitForArrivals(_ count: Int) async {
    let mark = Exploring.waits(
      for: Exploring.Wait("arrival \(count) at ", "a Gate", self, " (so far \(arrived))"))
    defer { mark?.end() }
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.arrived >= count { return true }
        state.watching.add(continuation, until: count)
        return false
      }
      if isThere { continuation.resume() }
    }
  }
}
