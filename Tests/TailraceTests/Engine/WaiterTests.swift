import TailraceTesting
import Testing

@testable import Tailrace

@Suite("Waiter: woken once, before it sleeps or afterwards", .hangLimit, .inTurn)
struct WaiterTests {
  private let waiter = Waiter()

  private static func name(_ reason: ResumeReason) -> String {
    switch reason {
    case .retry: "retry"
    case .drive: "drive"
    case .cancelled: "cancelled"
    case .failedTransiently(let failure): "\(failure)"
    case .failedBehind(let attempt): "\(attempt.failure)"
    case .abandoned: "abandoned"
    case .cycle: "cycle"
    }
  }

  @Test("the first reason counts; later ones say nothing")
  func first() async {
    #expect(waiter.isWaiting)
    #expect(waiter.wake(.failedTransiently(Mishap(position: 1))))
    #expect(!waiter.isWaiting)
    #expect(!waiter.wake(.retry))
    #expect(Self.name(await waiter.park()) == "Mishap(position: 1)")
    #expect(Self.name(await waiter.park()) == "Mishap(position: 1)")
  }

  @Test("a task that sleeps goes on, with the reason")
  func sleeping() async {
    let executor = PerturbingExecutor(isSerial: true)
    await Task(executorPreference: executor) {
      let sleeper = Task(executorPreference: executor) { [waiter] in Self.name(await waiter.park())
      }
      await Task.yield()
      #expect(waiter.isWaiting)
      #expect(waiter.wake(.abandoned))
      #expect(!waiter.wake(.drive))
      #expect(await sleeper.value == "abandoned")
    }.value
  }

  @Test("a cancelled task goes on where it may, and else waits", arguments: [true, false])
  func cancelled(_ isCancellable: Bool) async {
    let executor = PerturbingExecutor(isSerial: true)
    await Task(executorPreference: executor) {
      let sleeper = Task(executorPreference: executor) { [waiter] in
        Self.name(await waiter.wait(cancellable: isCancellable))
      }
      await Task.yield()
      sleeper.cancel()
      #expect(waiter.isWaiting == !isCancellable)
      #expect(waiter.wake(.retry) == !isCancellable)
      #expect(await sleeper.value == (isCancellable ? "cancelled" : "retry"))
    }.value
  }

  @Test("woken and cancelled on two threads while it falls asleep, it goes on once, for one reason")
  func racing() async {
    let reasons = await Duo.run { duo in
      var reasons: Set<String> = []
      for round in 0..<2_000 {
        let waiter = Waiter()
        let (isFirst, isSecond) = await duo.together([round % 7, round / 7 % 7]) {
          waiter.wake(.retry)
        } _: {
          waiter.wake(.cancelled)
        }
        let reason = Self.name(await waiter.park())
        reasons.insert(isFirst != isSecond && isFirst == (reason == "retry") ? reason : "\(round)")
      }
      return reasons
    }
    #expect(reasons.isSubset(of: ["retry", "cancelled"]))
  }
}
