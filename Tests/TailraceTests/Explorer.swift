import Testing

/// A pure state that can be explored: the events that may come next, what each does, and what must hold.
///
/// A model is the state that is tested together with what the test knows beside it, such as who sleeps, or
/// what has been given out. An answer that is wrong is kept there, and is a violation.
protocol Explorable {
  associatedtype Event
  associatedtype Key: Hashable

  /// The events that are possible now.
  var events: [Event] { get }
  mutating func apply(_ event: Event)
  /// Describes a fault of this state; `nil` if it has none.
  var violation: String? { get }
  /// Describes a fault of this state if nothing can happen any more; `nil` if it has none.
  var violationAtRest: String? { get }
  /// States with the same key are the same state.
  var key: Key { get }
}

extension Explorable {
  var violationAtRest: String? { nil }
}

extension Explorable where Self: Hashable {
  var key: Self { self }
}

/// The result of exploring a state.
struct Exploration<Event>: CustomStringConvertible {
  var violation: String?
  /// The events that lead to the violation: no other order is shorter.
  var order: [Event] = []
  /// How many different states were reached.
  var states = 1
  /// How many events were applied.
  var transitions = 0
  /// How many events lead to the states that are furthest away.
  var depth = 0
  /// Whether every event was applied to every state that there is.
  var isComplete = false
  var duration = Duration.zero

  var description: String {
    let size =
      "\(states) states, \(transitions) events, depth \(depth), \(isComplete ? "all" : "cut"), \(duration)"
    guard let violation else { return "nothing in \(size)" }
    let steps = order.enumerated().map { "  \($0 + 1). \($1)" }
    return ([violation + " after " + size] + steps).joined(separator: "\n")
  }
}

extension Explorable {
  /// Tries every order of events, up to so many, until one breaks what must hold.
  ///
  /// It goes on from the nearest states first, so that the order that it finds is a shortest one. Other
  /// tasks run in between, because a pool of two threads has other tests to run.
  ///
  /// - Parameter limit: how many states are reached at most.
  nonisolated(nonsending) func explored(
    depth: Int = .max, limit: Int = 1_000_000
  ) async -> Exploration<Event> {
    let start = ContinuousClock.now
    var turn = start
    var exploration = Exploration<Event>()
    // By which event each state was reached first, and from which state.
    var origins: [(parent: Int, event: Event)?] = [nil]
    var reached: Set<Key> = [key]
    var front = [(number: 0, state: self)]

    func found(_ violation: String, at number: Int) -> Exploration<Event> {
      exploration.violation = violation
      var number = number
      while let (parent, event) = origins[number] {
        exploration.order.append(event)
        number = parent
      }
      exploration.order.reverse()
      exploration.duration = start.duration(to: .now)
      return exploration
    }

    if let violation { return found(violation, at: 0) }
    while !front.isEmpty, exploration.depth < depth {
      var next: [(number: Int, state: Self)] = []
      for (number, state) in front {
        if number % 64 == 0, turn.duration(to: .now) > .milliseconds(20) {
          await Task.yield()
          turn = .now
        }
        let events = state.events
        if events.isEmpty, let violation = state.violationAtRest {
          return found(violation, at: number)
        }
        for event in events {
          var successor = state
          successor.apply(event)
          exploration.transitions += 1
          // First: a wrong answer may leave a state that is known.
          if let violation = successor.violation {
            origins.append((number, event))
            return found(violation, at: origins.count - 1)
          }
          guard reached.insert(successor.key).inserted else { continue }
          origins.append((number, event))
          exploration.states += 1
          if exploration.states >= limit {
            exploration.duration = start.duration(to: .now)
            return exploration
          }
          next.append((origins.count - 1, successor))
        }
      }
      front = next
      if !front.isEmpty { exploration.depth += 1 }
    }
    exploration.isComplete = front.isEmpty
    exploration.duration = start.duration(to: .now)
    return exploration
  }

  /// Expects that no order of events breaks what must hold.
  nonisolated(nonsending) func expectSafe(
    depth: Int = .max, limit: Int = 1_000_000, isComplete: Bool = true,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let exploration = await explored(depth: depth, limit: limit)
    if RandomCases.areFull { print("\(Self.self): \(exploration)") }
    #expect(exploration.violation == nil, "\(exploration)", sourceLocation: sourceLocation)
    if isComplete {
      #expect(exploration.isComplete, "\(exploration)", sourceLocation: sourceLocation)
    }
  }
}
