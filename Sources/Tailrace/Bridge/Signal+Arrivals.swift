extension Signal {
  /// What a reader of ``Signal/arrivals`` gets: an element, or the number of elements missing
  /// here.
  public enum Arrival: Sendable {
    /// The next element that was kept.
    case element(Element)
    /// The policy dropped this many elements here, because the reader was too slow.
    case dropped(Int)
  }

  /// The elements, and between them the number of dropped ones.
  ///
  /// ```swift
  /// let (levels, meter) = Signal<Int, Never>.makeSignal(bufferingPolicy: .bufferingNewest(2))
  /// for level in 1...5 { meter.send(level) }
  /// meter.complete()
  /// await levels.arrivals.array()   // [.dropped(3), .element(4), .element(5)]
  /// ```
  ///
  /// The number takes the place of the dropped elements.
  public var arrivals: Signal<Arrival, Failure> {
    Signal<Arrival, Failure>(
      on: scheduler,
      opening: { [open] in
        let reading = open()
        // An event that was read but not returned yet, because elements are missing before it.
        let state = Owned((counted: 0, held: Event?.none))
        @Sendable func arrival(_ event: Event) -> Signal<Arrival, Failure>.Event {
          let missing = reading.droppedCount - state.state.counted
          if missing > 0 {
            state.state = (reading.droppedCount, event)
            return .next(.dropped(missing))
          }
          state.state.held = nil
          switch event {
          case .next(let element): return .next(.element(element))
          case .failure(let failure): return .failure(failure)
          case .completed: return .completed
          }
        }
        return .derived(
          DerivedReader(
            reading,
            pop: { fetching in
              let held = state.state.held ?? reading.pop(fetching: fetching).map { .next($0) }
              guard case .next? = held, case .next(let arrival)? = held.map(arrival) else {
                return nil
              }
              return arrival
            },
            event: { leavingWhenCancelled in
              if let held = state.state.held { return arrival(held) }
              return await reading.event(leavingWhenCancelled: leavingWhenCancelled).map(arrival)
            }))
      })
  }
}

extension Signal.Arrival: Equatable where Element: Equatable {}
extension Signal.Arrival: Hashable where Element: Hashable {}
