import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("FailedAttempt: told to those who waited, where it was made", .inTurn)
struct FailedAttemptTests {
  @Test("each happens later than the ones before")
  func times() {
    let before = FailedAttempt.now
    let first = FailedAttempt(Mishap(position: 1))
    let second = FailedAttempt(Mishap(position: 2))
    #expect(before < first.time && first.time < second.time)
    #expect(FailedAttempt.now >= second.time)
  }

  @Test(
    "who waits since before is told, and nobody else",
    arguments: [(-1, true), (0, false), (1, false)])
  func since(_ distance: Int, _ isTold: Bool) {
    let attempt = FailedAttempt(Mishap(position: 3))
    let last = LastFailure(attempt, at: 3)
    #expect((last.told(at: 3, since: attempt.time + distance) != nil) == isTold)
    #expect(last.told(at: 3, since: Demand().since) == nil, "a demand that has not waited")
    #expect(last.told(at: 3, since: attempt.time - 1)?.failure as? Mishap == Mishap(position: 3))
  }

  @Test("at another position nobody is told", arguments: [0, 2, 4])
  func elsewhere(_ position: Int) {
    #expect(
      LastFailure(FailedAttempt(Mishap(position: 3)), at: 3).told(at: position, since: 0) == nil)
  }

  @Test("a demand passes on since when its reader waits, however deep, and to steps")
  func demand() {
    let demand = Demand(.all, since: 7)
    #expect(
      demand.deeper.deeper.since == 7 && demand.forOne.since == 7 && demand.forStep.since == 7)
  }

  @Test("a missing cell knows when it was missed")
  func missed() {
    let list = LazyList<Int, Never>(state: 0) { _ in nil }
    guard let segment = list.segment else { return }
    let before = FailedAttempt.now
    let cell = MissingCell(segment, mark: segment.mark, .one)
    let after = FailedAttempt.now
    _ = FailedAttempt(Mishap(position: 0))
    #expect((before...after).contains(cell.since))
  }
}
