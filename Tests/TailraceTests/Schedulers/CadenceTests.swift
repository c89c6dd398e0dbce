import Tailrace
import Testing

@testable import TailraceSchedulers
@testable import TailraceTesting

@Suite("Cadence: dates that do not drift", .inTurn)
struct CadenceTests {
  typealias Instant = VirtualScheduler.Instant

  private static func at(_ milliseconds: Int) -> Instant {
    Instant(offset: .milliseconds(milliseconds))
  }

  @Test(
    "the next date is the next on the grid; a late tick stands for those that it has missed",
    arguments: [
      ([0], [110]), ([100, 110, 120], [110, 120, 130]), ([109], [110]), ([110], [120]),
      ([119], [120]), ([125], [130]), ([125, 125], [130, 140]),
      ([145, 145, 171], [150, 160, 180]),
      ([1_000_005], [1_000_010]),
    ])
  func next(_ happened: [Int], _ due: [Int]) {
    var cadence = Cadence(first: Self.at(100), interval: .milliseconds(10))
    #expect(cadence.due == Self.at(100))
    let dates = happened.map { now in
      cadence.advance(now: Self.at(now))
      return cadence.due
    }
    #expect(dates == due.map(Self.at))
  }

  @Test("a million late ticks do not drift")
  func drift() {
    var cadence = Cadence(first: Instant.start, interval: .nanoseconds(333_333_333))
    let drifted = (1...100_000).filter { tick in
      cadence.advance(now: cadence.due + .nanoseconds(tick % 1000))
      return cadence.due.offset != .nanoseconds(333_333_333) * tick
    }
    #expect(drifted == [])
  }

  /// The time of a clock that shows whole seconds.
  private struct Second: InstantProtocol {
    var number: Int64

    func advanced(by duration: Duration) -> Second {
      Second(number: number + duration.components.seconds)
    }

    func duration(to other: Second) -> Duration { .seconds(other.number - number) }

    static func < (first: Second, second: Second) -> Bool { first.number < second.number }
  }

  @Test(
    "on a clock that is coarser than the interval, the next date is the next one that it shows",
    arguments: [
      Duration.milliseconds(300), .milliseconds(999), .nanoseconds(1), Duration(attoseconds: 1),
    ])
  func coarse(_ interval: Duration) {
    var cadence = Cadence(first: Second(number: 5), interval: interval)
    var dates = [cadence.due.number]
    for _ in 1...4 {
      cadence.advance(now: cadence.due)
      dates.append(cadence.due.number)
    }
    #expect(dates == [5, 6, 7, 8, 9])
    cadence.advance(now: Second(number: 20))
    #expect(cadence.due.number == 21)
    #expect(!cadence.isOver)
  }

  @Test("an enormous interval does not overflow")
  func enormous() {
    var cadence = Cadence(first: Instant.start, interval: Duration(attoseconds: .max))
    cadence.advance(now: Instant.start)
    #expect(cadence.due.offset == .farthest)
  }

  @Test(
    "at the end of time there is no next date", arguments: [Duration.farthest, .seconds(1 << 59)])
  func endOfTime(_ interval: Duration) {
    let scheduler = VirtualScheduler()
    var turns = 0
    var cadence = Cadence(first: scheduler.date(after: interval), interval: interval)
    while !cadence.isOver, turns < 1000 {
      cadence.advance(now: cadence.due)
      turns += 1
    }
    #expect(turns == Int(Duration.farthest / interval))
    let ran = Counter()
    let work = scheduler.schedule(every: interval) { ran.increment() }
    scheduler.advance(by: .farthest)
    scheduler.advance(by: .farthest)
    #expect(ran.value == turns)
    #expect(!work.isOver)
    work.cancel()
    #expect(work.isOver)
  }
}
