/// How far something that is sent into has come, as a value: a subscription, or a hot signal.
///
/// ```
///          end(with:)                   cancel()
///   open ─────────────▶ ended(failure?) ────────▶ cancelled
///     └──────────────────── cancel() ─────────────────▲
/// ```
///
/// The first transition is its termination. Every handler is told that one, once, the latest handler
/// first; a handler that is registered later is told at once.
@usableFromInline
struct Lifecycle<Element: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Termination = Signal<Element, Failure>.Termination
  typealias Handler = @Sendable (Termination) -> Void

  @usableFromInline
  enum Phase: Sendable {
    case open
    /// Nothing more is accepted; what was accepted can still be read.
    case ended(Failure?)
    /// Nobody reads any more.
    case cancelled(Termination)
  }

  @usableFromInline private(set) var phase = Phase.open
  /// Those that are still to be told.
  private var handlers: [Handler] = []

  @usableFromInline
  init() {}

  @inlinable var isOpen: Bool { if case .open = phase { true } else { false } }

  /// The ending is sent. False if it comes too late: the first one counts.
  @usableFromInline @discardableResult
  mutating func end(with failure: Failure?) -> Bool {
    guard isOpen else { return false }
    phase = .ended(failure)
    return true
  }

  /// Nobody will read any more. False if that is known.
  mutating func cancel() -> Bool {
    switch phase {
    case .open: phase = .cancelled(.cancelled)
    case .ended(let failure): phase = .cancelled(Termination(failure))
    case .cancelled: return false
    }
    return true
  }

  /// Keeps a handler. If it is too late, returns the termination: then the caller runs the handler, now.
  mutating func onTermination(_ handler: @escaping Handler) -> Termination? {
    if termination == nil { handlers.append(handler) }
    return termination
  }

  /// What is to be run, in this order, outside of the lock; nothing while it is open, or the second time.
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
