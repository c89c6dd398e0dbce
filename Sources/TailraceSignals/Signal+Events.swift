import TailraceLists

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
          DerivedReader(open()) { (.next($0), isLast: $0.isEnding) })
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
            guard case .next(let event) = event else { return (.completed, isLast: true) }
            return (event, isLast: false)
          })
      })
  }
}
