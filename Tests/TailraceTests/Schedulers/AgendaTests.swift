import Tailrace
import Testing

@testable import TailraceTesting

@Suite("Virtual time, as a value")
struct AgendaTests {
  typealias Instant = VirtualScheduler.Instant

  /// An advance in its single steps, and work that other threads add in between.
  struct World: Explorable {
    enum Event {
      case add(after: Int)
      case advance(by: Int)
      case step
    }

    struct Key: Hashable {
      let pending: [Int]
      let counts: [Int]
    }

    private var agenda = Agenda()
    /// Work that nobody runs or cancels: all entries have it.
    private static let idle = VirtualScheduler()
    private static let work = idle.schedule {}

    /// The dates of the pending work.
    private var pending: [Int] = []
    /// The limit of the advance that is going on.
    private var target: Int?
    private var now = 0
    private var additions = 4
    private var advances = 3
    private(set) var violation: String?

    var key: Key {
      Key(
        pending: pending,
        counts: [now, additions, advances, target ?? -1])
    }

    var events: [Event] {
      let events: [Event] = additions > 0 ? (0...2).map { .add(after: $0) } : []
      if target != nil { return events + [.step] }
      return advances > 0 ? events + (0...2).map { .advance(by: $0) } : events
    }

    mutating func apply(_ event: Event) {
      switch event {
      case .add(let delay):
        additions -= 1
        let place = pending.firstIndex { [now] in $0 > now + delay } ?? pending.endIndex
        pending.insert(now + delay, at: place)
        // A thread may have read the time before it passed.
        _ = agenda.add(.work(Self.work), at: Self.instant(now + delay - (delay == 0 ? 1 : 0)))
      case .advance(let duration):
        advances -= 1
        target = now + duration
      case .step: step()
      }
      if agenda.nextDate != pending.first.map(Self.instant) {
        violation = "the next date is \(String(describing: agenda.nextDate))"
      }
    }

    private mutating func step() {
      guard let limit = target else { return }
      let entry = agenda.next(until: Self.instant(limit))
      let due = pending.first.flatMap { $0 <= limit ? $0 : nil }
      if agenda.now < Self.instant(now) { violation = "time runs back" }
      if let entry {
        if entry.date != due.map(Self.instant) { violation = "another entry is taken" }
        if agenda.now != entry.date { violation = "now is not the date of the work" }
        if !pending.isEmpty { pending.removeFirst() }
        now = due ?? now
      } else {
        if due != nil { violation = "work that is due is left" }
        if agenda.now != Self.instant(limit) { violation = "the advance has ended at another time" }
        (now, target) = (limit, nil)
      }
    }

    private static func instant(_ second: Int) -> Instant { .start + .seconds(second) }
  }

  @Test("time does not run back, and stops where it should, in every order of events")
  func everyOrder() async { await World().expectSafe() }
}
