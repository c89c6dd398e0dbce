import TailraceLists

/// Reads another subscription, and derives its own events.
@usableFromInline
final class DerivedReader<Element: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Event = Signal<Element, Failure>.Event

  @usableFromInline
  typealias Read =
    nonisolated(nonsending) @Sendable (_ leavingWhenCancelled: Bool) async -> Event?

  /// An element available without waiting. It may give up: `nil` does not mean that there is none.
  @usableFromInline let pop: @Sendable (_ fetching: Bool) -> Element?
  @usableFromInline let event: Read
  let droppedCount: @Sendable () -> Int
  let start: @Sendable () -> Void
  let cancel: @Sendable () -> Void

  /// Reads with its own closures, which may wait.
  @usableFromInline
  init<E, F>(
    _ reading: Reading<E, F>,
    pop: @escaping @Sendable (_ fetching: Bool) -> Element? = { _ in nil },
    event: @escaping Read
  ) {
    self.pop = pop
    self.event = event
    droppedCount = { reading.droppedCount }
    start = { reading.start() }
    cancel = { reading.cancel() }
  }

  /// Reads the events that a rule makes. It makes none of some events, and says which is the last.
  /// An ending is returned again and again, and ends the subscription.
  @_alwaysEmitIntoClient
  convenience init<E, F>(
    _ reading: Reading<E, F>,
    judging judge: @escaping @Sendable (Signal<E, F>.Event) -> (event: Event?, isLast: Bool)
  ) {
    let ending = Owned(Event?.none)
    /// The event to return; `nil` to skip it.
    @Sendable func answer(_ event: Signal<E, F>.Event) -> Event? {
      let (given, isLast) = judge(event)
      guard let given else { return nil }
      if isLast { ending.state = .completed }
      if given.isEnding { ending.state = given }
      if ending.state != nil { reading.cancel() }
      return given
    }
    self.init(
      reading,
      pop: { fetching in
        // Bounded: senders can keep up with a rule that skips everything, and the caller has
        // elements to return. A reader that needs one more asks for an event, which can be cancelled.
        for _ in 0..<256 {
          guard ending.state == nil, let element = reading.pop(fetching: fetching) else { break }
          if case .next(let element)? = answer(.next(element)) { return element }
        }
        return nil
      },
      event: { leavingWhenCancelled in
        while ending.state == nil {
          let event = await reading.event(leavingWhenCancelled: leavingWhenCancelled)
          // Another copy of the iterator may have read the last event meanwhile.
          if ending.state != nil { break }
          guard let event else { return nil }
          if let answer = answer(event) { return answer }
        }
        return ending.state
      })
  }
}
