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
        // The events that were read but not returned yet, because elements are missing before
        // them. One reader has one at most; copies of an iterator can each have one.
        let state = Owned((counted: 0, held: FIFO<Event>()))
        @Sendable func arrival(_ event: Event) -> Signal<Arrival, Failure>.Event {
          let dropped = reading.droppedCount
          let missing = dropped - state.state.counted
          guard missing > 0 else { return present(event) }
          state.state.counted = dropped
          state.state.held.append(event)
          return .next(.dropped(missing))
        }
        @Sendable func present(_ event: Event) -> Signal<Arrival, Failure>.Event {
          switch event {
          case .next(let element): .next(.element(element))
          case .failure(let failure): .failure(failure)
          case .completed: .completed
          }
        }
        return .derived(
          DerivedReader(
            reading,
            pop: { fetching in
              if let held = state.state.held.first {
                // An ending is no element.
                guard case .next(let element) = held else { return nil }
                _ = state.state.held.popFirst()
                return .element(element)
              }
              guard let element = reading.pop(fetching: fetching),
                case .next(let arrival) = arrival(.next(element))
              else { return nil }
              return arrival
            },
            event: { leavingWhenCancelled in
              if let held = state.state.held.popFirst() { return present(held) }
              return await reading.event(leavingWhenCancelled: leavingWhenCancelled).map(arrival)
            }))
      })
  }
}

extension Signal.Arrival: Equatable where Element: Equatable {}
extension Signal.Arrival: Hashable where Element: Hashable {}
