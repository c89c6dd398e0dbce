/// A hot signal, as a value: who listens, and whether it is over.
///
/// ```
///   open ── end(with:) ──▶ ended(failure?)
///     └──── the last listener leaves, and nobody can come ──▶ abandoned
/// ```
@usableFromInline
struct HubState<Listener: AnyObject & Sendable, Failure: Error>: Sendable {
  @usableFromInline
  enum Phase: Sendable {
    case open
    case ended(Failure?)
    case abandoned
  }

  enum Joining: Sendable {
    /// Take the seat: what was sent before the first subscription waits there.
    case seat(Listener)
    /// Listen from now on.
    case listens
    /// Too late: all that is left is the ending.
    case ended(Failure?)
    case abandoned
  }

  @usableFromInline var phase = Phase.open
  @usableFromInline var listeners: [Listener]
  /// Kept for the first subscription.
  var seat: Listener?
  /// Somebody can still subscribe.
  var isReachable = true
  var disposal = Disposal.none

  init(seat: Listener) {
    listeners = [seat]
    self.seat = seat
  }

  /// Somebody subscribes, and offers a listener in case that the seat is taken.
  mutating func join(_ listener: Listener) -> Joining {
    if let seat = seat.take() { return .seat(seat) }
    switch phase {
    case .open:
      listeners.append(listener)
      return .listens
    case .ended(let failure): return .ended(failure)
    case .abandoned: return .abandoned
    }
  }

  /// A listener is gone. Returns what is to be run if it was the last one.
  mutating func leave(_ listener: Listener) -> [Disposal.Handler] {
    listeners.removeAll { $0 === listener }
    return abandonIfDeserted()
  }

  /// Nobody can subscribe any more; a seat that was not taken never will be.
  mutating func becomeUnreachable() -> (unused: Listener?, handlers: [Disposal.Handler]) {
    isReachable = false
    let unused = seat.take()
    if let unused { listeners.removeAll { $0 === unused } }
    return (unused, abandonIfDeserted())
  }

  /// The first ending counts. Returns who is to be told, and what is to be run.
  mutating func end(with failure: Failure?) -> (listeners: [Listener], handlers: [Disposal.Handler])
  {
    guard case .open = phase else { return ([], []) }
    phase = .ended(failure)
    defer { listeners = [] }
    return (listeners, disposal.dispose())
  }

  mutating func onCancel(_ handler: @escaping Disposal.Handler) -> Bool { disposal.add(handler) }

  var isOver: Bool { if case .open = phase { false } else { true } }

  private mutating func abandonIfDeserted() -> [Disposal.Handler] {
    guard case .open = phase, !isReachable, listeners.isEmpty else { return [] }
    phase = .abandoned
    return disposal.dispose()
  }
}
