import TailraceLists

/// The phase of a subscription or a hot signal, as a value.
///
/// ```
///          end(with:)                   cancel()
///   open ─────────────▶ ended(failure?) ────────▶ cancelled
///     └──────────────────── cancel() ─────────────────▲
/// ```
///
/// The first transition is the termination. Every handler gets that one, once, the latest handler
/// first; a handler registered later gets it at once.
@usableFromInline
struct Lifecycle<Element: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Termination = Signal<Element, Failure>.Termination
  typealias Handler = @Sendable (Termination) -> Void

  @usableFromInline
  enum Phase: Sendable {
    case open
    /// Accepts nothing more; accepted elements can still be read.
    case ended(Failure?)
    /// The readers have left.
    case cancelled(Termination)
  }

  @usableFromInline private(set) var phase = Phase.open
  /// The handlers to call.
  private var handlers: [Handler] = []

  @usableFromInline
  init() {}

  @_alwaysEmitIntoClient var isOpen: Bool { if case .open = phase { true } else { false } }

  /// Records the ending. False if it is too late: the first one counts.
  @usableFromInline @discardableResult
  mutating func end(with failure: Failure?) -> Bool {
    guard isOpen else { return false }
    phase = .ended(failure)
    return true
  }

  /// Records that the readers have left. False if already known.
  @discardableResult
  mutating func cancel() -> Bool {
    switch phase {
    case .open: phase = .cancelled(.cancelled)
    case .ended(let failure): phase = .cancelled(Termination(failure))
    case .cancelled: return false
    }
    return true
  }

  /// Keeps a handler. If it is too late, returns the termination: the caller then runs the
  /// handler.
  mutating func onTermination(_ handler: @escaping Handler) -> Termination? {
    if termination == nil { handlers.append(handler) }
    return termination
  }

  /// The handlers to run, in order, outside the lock; none while open, or the second time.
  mutating func takeHandlers() -> [@Sendable () -> Void] {
    guard let termination else { return [] }
    defer { handlers = [] }
    return handlers.reversed().map { handler in { handler(termination) } }
  }

  private var termination: Termination? {
    switch phase {
    case .open: nil
    case .ended(let failure): Termination(failure)
    case .cancelled(let first): first
    }
  }
}
