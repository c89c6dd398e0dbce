import Synchronization
import TailraceTesting
import Testing

@testable import Tailrace

/// What `PublicationOrdersTests` says of a model, on the machine that runs the tests: a list's task publishes
/// a cell and looks whether somebody waits, while a reader says that it waits and looks for the cell.
///
/// `TAILRACE_PUBLICATIONS` sets how many cells are published.
@Suite("A published cell and a reader that comes at that moment do not miss each other", .hangLimit)
struct PublicationTests {
  private static let cells = RandomCases.count(
    "TAILRACE_PUBLICATIONS", debug: 10_000, optimised: 1_000_000, full: 20)
  /// Cells of one list. Every other one has a reader; those between let the claim forget it.
  private static let length = 1_000

  /// Where the step of a list and a reader wait for each other; each counts positions.
  private final class Meeting: Sendable {
    let isReady = Atomic(-1)
    let isStepOver = Atomic(-1)
    let isAnswered = Atomic(-1)
    let waiter = Locked(Waiter?.none)
  }

  @Test("the reader has the cell, or is woken before the next step begins")
  func meetings() async {
    let missed = await Duo.run { duo in
      var generator = SeededGenerator(seed: RandomCases.firstSeed)
      for _ in 0..<max(1, Self.cells / Self.length) {
        let pauses = (0..<Self.length).map { _ in Int.random(in: 0...30, using: &generator) }
        if let missed = await Self.missed(duo, pauses) { return missed }
      }
      return nil
    }
    #expect(missed == nil)
  }

  /// The position of a cell whose reader was not woken.
  private static func missed(_ duo: Duo, _ pauses: [Int]) async -> Int? {
    let (meeting, missed, length) = (Meeting(), Locked(Int?.none), length)
    let list = LazyList<Int, Never>(state: 0) { position async -> Int? in
      if position > 0, position % 2 == 1 {
        // The cell before this one has been published, and its reader has looked for it.
        Duo.spin { meeting.isAnswered.load(ordering: .acquiring) == position - 1 }
        let cell = position - 1
        if meeting.waiter.withLock({ $0 })?.isWaiting == true {
          missed.withLock { $0 = $0 ?? cell }
        }
      } else if position < length {
        Duo.spin { meeting.isReady.load(ordering: .acquiring) == position }
        meeting.isStepOver.store(position, ordering: .releasing)
        Duo.pause(pauses[position] / 8)
      }
      defer { position += 1 }
      return position < length ? position : nil
    }
    let (count, _) = await duo.together([0, 0]) {
      await list.array().count
    } _: {
      guard var segment = list.segment else { return }
      for position in stride(from: 0, to: length, by: 2) {
        // The step before this one is over when its cell is there.
        Duo.spin {
          while case .more(let next, _) = segment.linkIfClosed { segment = next }
          return segment.start + segment.published.load(ordering: .acquiring).count == position
        }
        let mark = segment.published.load(ordering: .acquiring)
        let (waiter, evaluator) = (Waiter(), segment.source.evaluator)
        meeting.isReady.store(position, ordering: .releasing)
        Duo.spin { meeting.isStepOver.load(ordering: .acquiring) == position }
        Duo.pause(pauses[position])
        let isWaiting = evaluator?.enter(waiter, until: position + 1) {
          segment.published.load(ordering: .acquiring) != mark
        }
        meeting.waiter.withLock { $0 = isWaiting == true ? waiter : nil }
        meeting.isAnswered.store(position, ordering: .releasing)
        // It has been looked at when the step after that is over.
        if position + 2 < length {
          Duo.spin {
            while case .more(let next, _) = segment.linkIfClosed { segment = next }
            return segment.start + segment.published.load(ordering: .acquiring).count >= position
              + 2
          }
        }
        evaluator?.leave(waiter)
      }
    }
    return count == length ? missed.withLock { $0 } : -1
  }
}

extension Segment {
  /// What follows, if nothing will be added.
  fileprivate var linkIfClosed: Link<Element> {
    published.load(ordering: .acquiring).isClosed ? link : .end
  }
}
