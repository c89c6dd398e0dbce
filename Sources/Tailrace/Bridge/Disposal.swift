/// What is to be run when a subscription ends, as a value: every handler once, the latest first.
@usableFromInline
enum Disposal<Termination: Sendable>: Sendable {
  @usableFromInline typealias Handler = @Sendable (Termination) -> Void

  case pending([Handler])
  case done(Termination)

  @usableFromInline static var none: Disposal { .pending([]) }

  /// Keeps a handler. If it is too late, returns how it ended: then the caller runs the handler, now.
  mutating func add(_ handler: @escaping Handler) -> Termination? {
    switch self {
    case .pending(var handlers):
      handlers.append(handler)
      self = .pending(handlers)
      return nil
    case .done(let termination): return termination
    }
  }

  /// What the caller has to run, in this order. Nothing the second time.
  @usableFromInline
  mutating func dispose(_ termination: Termination) -> [@Sendable () -> Void] {
    guard case .pending(let handlers) = self else { return [] }
    self = .done(termination)
    return handlers.reversed().map { handler in { handler(termination) } }
  }
}
