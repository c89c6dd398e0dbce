extension Signal {
  /// What happens in the signal, as elements: a failure is one of them, and so is the end.
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
        let reading = open()
        let isOver = Owned(false)
        return .derived(
          DerivedReader(reading) { leavingWhenCancelled in
            if isOver.state { return .completed }
            let event = await reading.event(leavingWhenCancelled: leavingWhenCancelled)
            isOver.state = event?.isEnding ?? false
            return event.map { .next($0) }
          })
      })
  }

  /// The signal that these events happen in. What comes after an ending is not read.
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
        let reading = open()
        let ending = Owned(Signal<E, F>.Event?.none)
        return .derived(
          DerivedReader(reading) { leavingWhenCancelled in
            if let ending = ending.state { return ending }
            switch await reading.event(leavingWhenCancelled: leavingWhenCancelled) {
            case .next(.next(let element)): return .next(element)
            case .next(let event):
              ending.state = event
              reading.cancel()
              return event
            case .completed: return .completed
            case nil: return nil
            }
          })
      })
  }
}
