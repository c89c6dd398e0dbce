import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("FailedAttempt: told once, and only where it was made", .inTurn)
struct FailedAttemptTests {
  private final class Place {}

  private let here = Place()
  private let there = Place()

  private func attempt(_ position: Int = 3) -> FailedAttempt {
    FailedAttempt(here, position, Mishap(position: position))
  }

  @Test("the failure is given at its place, the first time")
  func once() {
    let attempt = attempt()
    #expect(attempt.isOpen)
    #expect(attempt.give(at: here, 3) as? Mishap == Mishap(position: 3))
    #expect(!attempt.isOpen)
    #expect(attempt.give(at: here, 3) == nil)
  }

  @Test("elsewhere nothing is given, and it stays open", arguments: [0, 2, 4])
  func elsewhere(_ position: Int) {
    let attempt = attempt()
    #expect(attempt.give(at: here, position) == nil)
    #expect(attempt.give(at: there, 3) == nil)
    #expect(attempt.isOpen && attempt.isAt(here, 3))
  }

  @Test("nothing is given in a list at the address of one that has gone")
  func gone() {
    var before: Place? = Place()
    let address = before.map { ObjectIdentifier($0) }
    let attempt = FailedAttempt(before ?? here, 3, Mishap(position: 3))
    #expect(attempt.isAt(before ?? here, 3))
    before = nil
    var others: [Place] = []
    repeat {
      others.append(Place())
    } while others.count < 10_000
      && others.last.map { ObjectIdentifier($0) } != address
    #expect(others.allSatisfy { attempt.give(at: $0, 3) == nil })
    #expect(attempt.isOpen)
  }

  @Test("two attempts at one element are the same, whatever each failed with")
  func same() {
    let other = FailedAttempt(here, 3, CancellationError())
    #expect(attempt().isSame(as: other))
    #expect(!attempt().isSame(as: attempt(4)))
    #expect(!attempt().isSame(as: FailedAttempt(there, 3, CancellationError())))
  }

  @Test("a demand takes it along, one call deeper each time, and gives it at its place")
  func demand() {
    let attempt = attempt()
    withExtendedLifetime(attempt) {
      var demand = Demand()
      demand.told = .passUnretained(attempt)
      demand.depth = 9
      let deeper = demand.deeper.deeper
      #expect(deeper.depth == 7)
      #expect(deeper.failure(at: there, 3) == nil)
      #expect(deeper.failure(at: here, 3) is Mishap)
      #expect(deeper.failure(at: here, 3) == nil)
    }
    #expect(Demand().failure(at: here, 3) == nil)
  }
}
