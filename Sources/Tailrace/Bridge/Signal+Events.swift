extension Signal {
  /// The signal's events as elements, including the failure or the end.
  ///
  /// ```swift
  /// await ticks.events.array()   // [.next(1), .next(2), .next(3), .completed]
  /// ```
  ///
  /// Replaces `-materialize`.
  public var events: Signal<Event, Never> {
    Signal<Event, Never>(
      on: scheduler,
      opening: { [open] in
        .derived(
          DerivedReader(open()) { $0.isEnding ? .last(.next($0)) : .element(.next($0)) })
      })
  }

  /// Returns the signal that these events describe. Events after an ending are not read.
  ///
  /// ```swift
  /// await ticks.events.dematerialized().array()   // [1, 2, 3]
  /// ```
  ///
  /// Events that stop without an ending complete it.
  ///
  /// Replaces `-dematerialize`.
  public func dematerialized<E, F>() -> Signal<E, F>
  where Element == Signal<E, F>.Event, Failure == Never {
    Signal<E, F>(
      on: scheduler,
      opening: { [open] in
        .derived(
          DerivedReader(open()) { event in
            guard case .next(let event) = event else { return .nothing(.end) }
            return .element(event)
          })
      })
  }
}
