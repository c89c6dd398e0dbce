import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("Waiter: woken once, before it sleeps or afterwards", .hangLimit, .inTurn)
struct WaiterTests {
  private let waiter = Waiter()

  private static func name(_ reason: ResumeReason) -> String {
    switch reason {
    case .lookAgain: "look again"

    case .cancelled: "cancelled"
    case .released: "released"
    case .unwaited: "awaited by nobody"
    case .failed(let failure): "\(failure)"
    }
  }

  @Test("the first reason counts; later ones say nothing")
  func first() async {
    #expect(waiter.isWaiting)
    #expect(waiter.wake(.failed(Mishap(position: 1))))
    #expect(!waiter.isWaiting)
    #expect(!waiter.wake(.lookAgain))
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
      #expect(waiter.wake(.released))
      #expect(!waiter.wake(.lookAgain))
      #expect(await sleeper.value == "released")
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
      #expect(waiter.wake(.lookAgain) == !isCancellable)
      #expect(await sleeper.value == (isCancellable ? "cancelled" : "look again"))
    }.value
  }

  @Test("woken and cancelled on two threads while it falls asleep, it goes on once, for one reason")
  func racing() async {
    let reasons = await Duo.run { duo in
      var reasons: Set<String> = []
      for round in 0..<2_000 {
        let waiter = Waiter()
        let (isFirst, isSecond) = await duo.together([round % 7, round / 7 % 7]) {
          waiter.wake(.lookAgain)
        } _: {
          waiter.wake(.cancelled)
        }
        let reason = Self.name(await waiter.park())
        reasons.insert(
          isFirst != isSecond && isFirst == (reason == "look again") ? reason : "\(round)")
      }
      return reasons
    }
    #expect(reasons.isSubset(of: ["look again", "cancelled"]))
  }
}
