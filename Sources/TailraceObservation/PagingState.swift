/// What a ``ListModel`` loads, as a value: each event is one method, which says what to do.
///
/// | state | becomes |
/// |---|---|
/// | idle | loading, by `loadMore()` or `refresh()` |
/// | loading | idle, failed or ended by the outcome with its number; idle by `cancel()`; loading with another number by `refresh()` |
/// | failed | loading, by `retry()`, with the same work; or by `refresh()` |
/// | ended | loading, by `refresh()` |
///
/// Each loading has a number of its own. An outcome with another number belongs to a loading that was
/// given up, and changes nothing: so no model waits for a task that is over, and no page of an older
/// list is shown.
struct PagingState {
  enum Work: Hashable {
    /// The page after the elements.
    case more
    /// The first page of a new list.
    case again
  }

  enum Outcome {
    /// A page, and whether there is none after it.
    case page(isLast: Bool)
    /// A failure, and whether elements came before it.
    case failure(any Error, hasElements: Bool)
    /// The task that loads was cancelled.
    case cancelled
  }

  enum State {
    case idle
    case loading(Work, number: Int)
    case failed(any Error, Work)
    case ended
  }

  private(set) var state = State.idle
  private var lastNumber = 0

  /// The work to begin, with its number; `nil` if there is nothing to do.
  mutating func loadMore() -> (work: Work, number: Int)? {
    if case .idle = state { begin(.more) } else { nil }
  }

  mutating func retry() -> (work: Work, number: Int)? {
    if case .failed(_, let work) = state { begin(work) } else { nil }
  }

  /// Gives up what is being loaded: the newest list is the one that is wanted.
  mutating func refresh() -> (work: Work, number: Int) { begin(.again) }

  mutating func cancel() { if case .loading = state { state = .idle } }

  /// What was loaded if it is to be shown, `nil` if not.
  mutating func end(_ number: Int, _ outcome: Outcome) -> Work? {
    guard case .loading(let work, number) = state else { return nil }
    switch outcome {
    case .page(let isLast): state = isLast ? .ended : .idle
    case .failure(let error, let hasElements):
      // Elements are those of the new list; what failed is then the page after them.
      let failed = hasElements ? .more : work
      state = .failed(error, failed)
      if case .again = failed { return nil }
    case .cancelled:
      state = .idle
      return nil
    }
    return work
  }

  private mutating func begin(_ work: Work) -> (work: Work, number: Int) {
    lastNumber += 1
    state = .loading(work, number: lastNumber)
    return (work, lastNumber)
  }
}
