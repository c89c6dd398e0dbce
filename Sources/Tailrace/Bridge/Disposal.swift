/// What is to be run when somebody loses interest, as a value: every handler once, the latest first.
@usableFromInline
enum Disposal: Sendable {
  @usableFromInline typealias Handler = @Sendable () -> Void

  case pending([Handler])
  case done

  @usableFromInline static var none: Disposal { .pending([]) }

  /// Keeps a handler. False if it is too late: then the caller runs it, now.
  mutating func add(_ handler: @escaping Handler) -> Bool {
    guard case .pending(var handlers) = self else { return false }
    handlers.append(handler)
    self = .pending(handlers)
    return true
  }

  /// What the caller has to run, in this order. Nothing the second time.
  @usableFromInline
  mutating func dispose() -> [Handler] {
    guard case .pending(let handlers) = self else { return [] }
    self = .done
    return handlers.reversed()
  }
}
