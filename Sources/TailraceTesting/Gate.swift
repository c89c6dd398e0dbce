import Tailrace

/// A door that tasks wait at until a test opens it.
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
/// A test that waits for an arrival knows where the other task is, without sleeping.
public final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var passes = 0
    var arrived = 0
    var waiting = Registry<CheckedContinuation<Void, Never>>()
    var watching = CountWaiters()
  }

  private let state = Locked(State())

  /// Creates a gate that is closed.
  public init() {}

  /// Waits until the gate is open, or until a pass lets this task through.
  ///
  /// It does not look at cancellation: what must stop when cancelled is for the test to say.
  public func wait() async {
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

  /// Lets everybody through, now and from now on.
  public func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      return state.waiting.removeAll()
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Lets one task through: the first that waits, or the next that arrives.
  public func pass() {
    let first: CheckedContinuation<Void, Never>? = state.withLock { state in
      let first = state.waiting.removeFirst()
      if first == nil { state.passes += 1 }
      return first
    }
    first?.resume()
  }

  /// How many times a task has come to the gate.
  public var arrived: Int { state.withLock { $0.arrived } }

  /// Waits until tasks have come to the gate that many times, counted from its making.
  public func waitForArrivals(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.arrived >= count { return true }
        state.watching.add(continuation, until: count)
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// The former name of ``waitForArrivals(_:)``.
  @available(*, deprecated, renamed: "waitForArrivals(_:)")
  public func arrivals(_ count: Int) async { await waitForArrivals(count) }
}
