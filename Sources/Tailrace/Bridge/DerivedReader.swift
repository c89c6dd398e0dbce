/// Reads another subscription, and makes other events of what it reads.
@usableFromInline
final class DerivedReader<Element: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Event = Signal<Element, Failure>.Event

  @usableFromInline
  typealias Read =
    nonisolated(nonsending) @Sendable (_ leavingWhenCancelled: Bool) async -> Event?

  /// An element that needs no waiting for.
  @usableFromInline let pop: @Sendable (_ fetching: Bool) -> Element?
  @usableFromInline let event: Read
  let droppedCount: @Sendable () -> Int
  let start: @Sendable () -> Void
  let cancel: @Sendable () -> Void

  /// Reads in a way of its own, which may wait.
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

  /// Reads what a verdict on each event makes. An ending is given again and again, and the
  /// subscription ends with it.
  @inlinable
  convenience init<E, F>(
    _ reading: Reading<E, F>,
    judging judge: @escaping @Sendable (Signal<E, F>.Event) -> Verdict<Event>
  ) {
    let ending = Owned(Event?.none)
    /// What is given for an event; `nil` if it is skipped.
    @Sendable func answer(_ event: Signal<E, F>.Event) -> Event? {
      let given: Event
      switch judge(event) {
      case .skip: return nil
      case .emit(let event): given = event
      case .last(let event):
        given = event
        ending.state = .completed
      case .end: given = .completed
      }
      if given.isEnding { ending.state = given }
      if ending.state != nil { reading.cancel() }
      return given
    }
    self.init(
      reading,
      pop: { fetching in
        while ending.state == nil, let element = reading.pop(fetching: fetching) {
          if case .next(let element)? = answer(.next(element)) { return element }
        }
        return nil
      },
      event: { leavingWhenCancelled in
        while true {
          if let ending = ending.state { return ending }
          let event = await reading.event(leavingWhenCancelled: leavingWhenCancelled)
          guard let event else { return nil }
          if let answer = answer(event) { return answer }
        }
      })
  }
}
