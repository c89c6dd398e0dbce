import Tailrace
import Testing

@testable import TailraceLists
@testable import TailraceStored

@Suite("The next action of a stored list, without a store", .inTurn)
struct TailTrackerTests {
  typealias Tracker = TailTracker<String>

  private func name(_ action: Tracker.Action) -> String {
    switch action {
    case .read: "read"
    case .give: "give"
    case .acquire: "acquire"
    case .wait: "wait"
    case .compute(let checkpoint): "compute \(checkpoint.count) \(checkpoint.state ?? "-")"
    case .end: "end"
    case .fail(let failure): "fail \(failure)"
    }
  }

  private func checkpoint(_ count: Int, isEnded: Bool = false) -> ListCheckpoint<String> {
    ListCheckpoint(count: count, state: "state \(count)", isEnded: isEnded)
  }

  @Test("stored elements are given, whatever the policy", arguments: TailPolicy.all)
  func giving(_ policy: TailPolicy) {
    var tracker = Tracker(policy, position: 3)
    #expect(name(tracker.didRead(5, isEnd: false)) == "give")
    #expect(tracker.position == 8)
    #expect(name(tracker.didRead(2, isEnd: true)) == "give")
    #expect(name(tracker.didRead(0, isEnd: true)) == "end")
    #expect(tracker.position == 10)
  }

  @Test(
    "where nothing is there",
    arguments: [(.compute, "acquire"), (.computeOrFollow, "acquire"), (.follow, "wait")]
      as [(
        TailPolicy, String
      )])
  func nothing(_ policy: TailPolicy, _ expected: String) {
    var tracker = Tracker(policy, position: 0)
    #expect(name(tracker.didRead(0, isEnd: false)) == expected)
  }

  @Test("where somebody else writes")
  func inUse() {
    var computing = Tracker(.compute, position: 0)
    #expect(name(computing.didAcquire(nil)) == "fail \(ListStoreError.inUse)")
    var both = Tracker(.computeOrFollow, position: 0)
    #expect(name(both.didAcquire(nil)) == "wait")
  }

  @Test("a lease that ends here is where to compute from; or the end")
  func here() {
    var tracker = Tracker(.compute, position: 4)
    #expect(name(tracker.didAcquire(checkpoint(4))) == "compute 4 state 4")
    #expect(name(tracker.didAcquire(checkpoint(4, isEnded: true))) == "end")
  }

  @Test("a lease that ends further on is made again there, for the state of then")
  func further() {
    var tracker = Tracker(.compute, position: 4)
    #expect(name(tracker.didAcquire(checkpoint(6))) == "read")
    #expect(name(tracker.didRead(1, isEnd: false)) == "give")
    #expect(name(tracker.didRead(1, isEnd: false)) == "give")
    #expect(name(tracker.didRead(0, isEnd: false)) == "acquire")
    #expect(name(tracker.didAcquire(checkpoint(6))) == "compute 6 state 6")
  }

  @Test("others may have gone on meanwhile: the list reads on once more")
  func passed() {
    var tracker = Tracker(.compute, position: 4)
    #expect(name(tracker.didAcquire(checkpoint(6))) == "read")
    #expect(name(tracker.didRead(2, isEnd: false)) == "give")
    #expect(name(tracker.didRead(0, isEnd: false)) == "acquire")
    #expect(name(tracker.didAcquire(checkpoint(7))) == "read")
    #expect(name(tracker.didRead(1, isEnd: false)) == "give")
    #expect(name(tracker.didRead(0, isEnd: false)) == "acquire")
    #expect(name(tracker.didAcquire(checkpoint(7))) == "compute 7 state 7")
  }

  @Test("a repair after the lease takes its elements, its state and its end away")
  func repaired() {
    var tracker = Tracker(.compute, position: 4)
    #expect(name(tracker.didAcquire(checkpoint(6, isEnded: true))) == "read")
    #expect(name(tracker.didRead(0, isEnd: false)) == "acquire")
    #expect(name(tracker.didAcquire(checkpoint(4))) == "compute 4 state 4")
    var reader = Tracker(.compute, position: 4)
    #expect(name(reader.didAcquire(checkpoint(6, isEnded: true))) == "read")
    #expect(name(reader.didRead(2, isEnd: false)) == "give")
    #expect(name(reader.didRead(0, isEnd: false)) == "acquire")
    #expect(name(reader.didAcquire(checkpoint(6))) == "compute 6 state 6")
  }

  @Test("elements that two leases count, and that cannot be read in between, are damage")
  func missing() {
    var tracker = Tracker(.compute, position: 4)
    #expect(name(tracker.didAcquire(checkpoint(6))) == "read")
    #expect(name(tracker.didRead(0, isEnd: false)) == "acquire")
    #expect(name(tracker.didAcquire(checkpoint(6))) == "fail \(ListStoreError.damaged(at: 4))")
    // A later attempt begins anew.
    #expect(name(tracker.didRead(0, isEnd: false)) == "acquire")
    #expect(name(tracker.didAcquire(checkpoint(6))) == "read")
    #expect(name(tracker.didRead(1, isEnd: false)) == "give")
    #expect(name(tracker.didAcquire(checkpoint(2))) == "fail \(ListStoreError.damaged(at: 2))")
  }

  @Test("two appends that lose at one position, with no element between them, end the computation")
  func lostAppends() {
    var tail = TailTracker<Int>(.compute, position: 0)
    var answers = [tail.didLose(), tail.didLose()]
    _ = tail.didRead(1, isEnd: false)
    answers.append(tail.didLose())
    tail.didAppend(1)
    answers += [tail.didLose(), tail.didLose()]
    #expect(answers == [true, false, true, true, false])
  }

  @Test("fewer elements than are before the list are no damage, if it has read none")
  func beyond() {
    var tracker = Tracker(.compute, position: 4)
    guard case .fail(.refused(let why)) = tracker.didAcquire(checkpoint(2)) else {
      Issue.record("it was not refused")
      return
    }
    #expect(why.contains("has 2 elements") && why.contains("at position 4"))
    #expect(name(tracker.didAcquire(checkpoint(4))) == "compute 4 state 4")
  }

  @Test("when a snapshot is due")
  func snapshots() {
    func due(_ policy: SnapshotPolicy, upTo count: Int) -> [Int] {
      var (last, taken) = (0, [Int]())
      for number in 1...count where policy.isDue(after: number, since: last) {
        last = number
        taken.append(number)
      }
      return taken
    }
    #expect(due(.never, upTo: 10_000) == [])
    #expect(due(.every(3), upTo: 10) == [3, 6, 9])
    #expect(due(.growing, upTo: 7_000) == [1024, 2048, 3072, 4608, 6912])
    // All snapshots of a state that grows with the list, against the last one.
    let all = due(.growing, upTo: 1_000_000)
    #expect(all.reduce(0, +) <= 3 * (all.last ?? 0) + 3 * 3072)
  }
}

extension TailPolicy {
  static let all: [TailPolicy] = [.compute, .follow, .computeOrFollow]
}
