import Testing

@testable import TailraceObservation

@Suite("What a model loads: every order of events")
struct PagingStateTests {
  struct Refused: Error {}

  enum Event: Hashable {
    case loadMore, retry, refresh, cancel
    /// A task ends: with a page, the last page, a failure before or after elements, or because it was
    /// cancelled.
    case ends(Int, Ending)
  }

  enum Ending: CaseIterable {
    case page, lastPage, failure, failureAfterElements, cancelled

    var outcome: PagingState.Outcome {
      switch self {
      case .page: .page(isLast: false)
      case .lastPage: .page(isLast: true)
      case .failure: .failure(Refused(), hasElements: false)
      case .failureAfterElements: .failure(Refused(), hasElements: true)
      case .cancelled: .cancelled
      }
    }
  }

  /// The state, and what a model has begun.
  struct World {
    var state = PagingState()
    /// The tasks that have not ended, and what each loads.
    var tasks: [Int: PagingState.Work] = [:]
    var newest = 0

    var events: [Event] {
      [.loadMore, .retry, .refresh, .cancel]
        + tasks.keys.sorted().flatMap { number in Ending.allCases.map { .ends(number, $0) } }
    }

    /// Describes what is wrong after the event.
    mutating func apply(_ event: Event) -> String? {
      let former = state.state
      switch event {
      case .loadMore:
        let begun = state.loadMore()
        note(begun)
        if case .idle = former { return begun?.work == .more ? nil : "idle, and nothing begins" }
        return begun == nil ? nil : "began beside \(former)"
      case .retry:
        let begun = state.retry()
        note(begun)
        guard case .failed(_, let work) = former else {
          return begun == nil ? nil : "retried \(former)"
        }
        return begun?.work == work ? nil : "what failed is not what is tried again"
      case .refresh:
        let before = newest
        note(state.refresh())
        return newest > before && tasks[newest] == .again ? nil : "a refreshment joined another"
      case .cancel:
        state.cancel()
        if case .loading = state.state { return "loads after it was cancelled" }
        return nil
      case .ends(let number, let ending):
        let work = tasks.removeValue(forKey: number)
        let shown = state.end(number, ending.outcome)
        guard case .loading(_, number) = former else {
          return shown == nil && "\(state.state)" == "\(former)" ? nil : "an older task was heard"
        }
        switch (ending, state.state) {
        case (.page, .idle), (.lastPage, .ended), (.failureAfterElements, .failed(_, .more)):
          return shown == work ? nil : "what was loaded is not shown"
        case (.failure, .failed(_, let failed)):
          return failed == work ? nil : "\(failed) failed, and not what was loaded"
        case (.cancelled, .idle): return shown == nil ? nil : "shown, though cancelled"
        default: return "\(ending) leads to \(state.state)"
        }
      }
    }

    private mutating func note(_ begun: (work: PagingState.Work, number: Int)?) {
      guard let begun else { return }
      newest = begun.number
      tasks[begun.number] = begun.work
    }
  }

  @Test("no model waits for a task that is over, and no older page is shown")
  func orders() {
    var worlds = [World()]
    var checked = 0
    for _ in 0..<6 {
      var next: [String: World] = [:]
      for world in worlds {
        for event in world.events where world.tasks.count < 3 || event != .refresh {
          var changed = world
          let problem = changed.apply(event)
          #expect(problem == nil, "\(event) in \(world.state.state)")
          if case .loading(_, let number) = changed.state.state {
            #expect(changed.tasks[number] != nil, "it loads for ever after \(event)")
          }
          checked += 1
          next["\(changed.state) \(changed.tasks.sorted { $0.key < $1.key })"] = changed
        }
      }
      worlds = Array(next.values)
    }
    #expect(checked > 1_000)
  }
}
