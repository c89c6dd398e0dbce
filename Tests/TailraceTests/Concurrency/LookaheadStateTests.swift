import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("The state of look-ahead, as a value", .inTurn)
struct LookaheadStateTests {
  typealias State = LookaheadState<Int, Waiter>

  final class Waiter: Sendable, ExpressibleByStringLiteral {
    let name: String
    init(stringLiteral name: String) { self.name = name }
  }

  /// A demand, in words.
  static func demand(_ state: inout State) -> String {
    switch state.demand() {
    case .slot(let slot, let starts): "\(slot)\(starts ? ", call" : "")"
    case .pull(nil): "pull"
    case .pull(_?): "pull or wait"
    case .wait: "wait"
    case .end: "end"
    case .failed: "failed"
    case .failedTransiently: "failed for now"
    case .abandoned: "abandoned"
    }
  }

  /// An element that was pulled ahead, in words.
  static func pulled(_ element: Int, _ state: inout State) -> String {
    switch state.pulledAhead(element, element) {
    case .kept(let pullsOn, let waiters):
      (["\(pullsOn ? "on" : "enough")"] + waiters.map(\.name)).joined(separator: ", ")
    case .refused: "refused"
    }
  }

  /// The first element is pulled by its demand.
  static func called(_ distance: Int) -> State {
    var state = State(distance: distance)
    #expect(demand(&state) == "pull")
    #expect(state.pulledOnDemand().starts == (distance > 0))
    return state
  }

  /// The first element is pulled by its demand, and the task that pulls ahead has begun.
  static func begun(_ distance: Int) -> State {
    var state = called(distance)
    #expect(state.begin() == true)
    return state
  }

  @Test("the first demand pulls for itself, then somebody pulls as many ahead as there may be")
  func distance() {
    var state = Self.begun(2)
    #expect(Self.pulled(1, &state) == "on")
    #expect(Self.pulled(2, &state) == "enough")
    #expect(Self.demand(&state) == "1, call")
    #expect(Self.demand(&state) == "2", "one is called already")
    #expect(state.begin() == true)
    #expect(Self.demand(&state) == "wait")
    #expect(state.enter("demand", after: 2) == false, "another demand has been there")
    #expect(state.enter("demand", after: 3) == true)
    #expect(state.isPulling(after: 3))
    #expect(Self.pulled(3, &state) == "on, demand", "one will be taken")
    #expect(!state.isPulling(after: 3))
    #expect(Self.pulled(4, &state) == "enough", "it has not been taken yet")
    #expect(Self.demand(&state) == "3, call")
    #expect(state.begin() == true)
    #expect(Self.pulled(5, &state) == "enough")
    #expect(Self.demand(&state) == "4, call")
  }

  @Test("until the called task has begun, demands pull for themselves what is there at once")
  func calledTask() {
    var state = Self.called(2)
    for _ in 0..<3 {
      #expect(Self.demand(&state) == "pull or wait")
      #expect(state.pulledOnDemand().starts == false, "one is called already")
    }
    #expect(Self.demand(&state) == "pull or wait")
    #expect(state.leftToTask().starts == false)
    #expect(state.enter("demand", after: 4) == true)
    #expect(state.begin() == true)
    #expect(Self.pulled(4, &state) == "on, demand")
    #expect(Self.demand(&state) == "4")
  }

  @Test("a task that begins while a demand pulls is over, and another one is called")
  func begunInVain() {
    var state = Self.called(2)
    #expect(Self.demand(&state) == "pull or wait")
    #expect(state.begin() == false)
    #expect(state.leftToTask().starts == true)
    #expect(Self.demand(&state) == "pull or wait")
    #expect(state.begin() == false)
    #expect(state.pulledOnDemand().starts == true)
    #expect(state.begin() == true)
  }

  @Test("a called task pulls for one who waits, also if the last demand causes no look-ahead")
  func limited() {
    var state = Self.called(2)
    _ = state.demand(isLimited: true)
    #expect(state.leftToTask().starts == false)
    #expect(state.enter("demand", after: 1) == true)
    #expect(state.begin() == true)
    #expect(Self.pulled(1, &state) == "enough, demand")
    _ = state.demand(isLimited: true)
    #expect(state.call() == false)
    #expect(state.begin() == false)
  }

  @Test("without a distance each demand pulls for itself")
  func none() {
    var state = Self.called(0)
    #expect(Self.demand(&state) == "pull")
    #expect(state.pulledOnDemand().starts == false)
    #expect(Self.demand(&state) == "pull")
  }

  @Test("an ending is found behind what was pulled", arguments: [nil, Mishap(position: 2)])
  func ending(_ failure: Mishap?) {
    var state = Self.begun(3)
    _ = Self.pulled(1, &state)
    let woken = state.end(with: failure)
    #expect(woken.isEmpty)
    #expect(Self.demand(&state) == "1")
    #expect(Self.demand(&state) == (failure == nil ? "end" : "failed"))
  }

  @Test("all who sleep are woken by the end, but for those who have left")
  func wokenByTheEnd() {
    var state = Self.begun(1)
    let waiters: [Waiter] = ["first", "second", "third"]
    for waiter in waiters { #expect(state.enter(waiter, after: 1) == true) }
    state.leave(waiters[1])
    #expect(state.end(with: nil).map(\.name) == ["first", "third"])
    #expect(state.enter("fourth", after: 1) == false)
    #expect(Self.demand(&state) == "end")
  }

  @Test("a failure for now beside the readers is kept for a demand; one of a demand is not")
  func transient() {
    var state = Self.begun(2)
    #expect(state.enter("demand", after: 1) == true)
    #expect(state.failed(Mishap(position: 1)).map(\.name) == ["demand"])
    #expect(Self.demand(&state) == "failed for now")
    #expect(Self.demand(&state) == "pull", "it is given once")
    #expect(state.enter("another", after: 1) == true)
    #expect(state.failed(nil).map(\.name) == ["another"])
    #expect(Self.demand(&state) == "pull")
    #expect(state.pulledOnDemand().starts == true)
    #expect(state.enter("a third", after: 1) == false, "the element has come")
    #expect(state.begin() == true)
    #expect(Self.demand(&state) == "wait")
  }

  @Test("a failed element drops what lies behind it, keeps what lies before it, and ends the pull")
  func failed() {
    var state = Self.begun(5)
    for element in 1...4 { _ = Self.pulled(element, &state) }
    #expect(state.failed(2).slots == [4, 3])
    #expect(Self.pulled(5, &state) == "refused")
    #expect(Self.demand(&state) == "1")
    #expect(Self.demand(&state) == "2")
    #expect(Self.demand(&state) == "end")
  }

  @Test("abandoned: all slots are given back, and nothing is pulled or demanded any more")
  func abandon() {
    var state = Self.begun(5)
    _ = Self.pulled(1, &state)
    let left = state.abandon()
    #expect(left.slots == [1])
    #expect(left.waiters.isEmpty)
    #expect(Self.pulled(2, &state) == "refused")
    #expect(Self.demand(&state) == "abandoned")
    #expect(state.failed(0).slots.isEmpty)
  }

  @Test("a failure that was pulled ahead is released by the caller", arguments: [true, false])
  func failureAhead(_ isAbandoned: Bool) {
    struct Failure: Error { let member: InstanceCounter.Member }
    let instances = InstanceCounter()
    var state = Self.begun(5)
    _ = Self.pulled(1, &state)
    _ = state.end(with: Failure(member: instances.member()))
    #expect(instances.alive == 1)
    let left = isAbandoned ? state.abandon() : state.failed(1)
    withExtendedLifetime(left) {
      #expect(instances.alive == 1, "the caller has released its lock before it releases this")
    }
  }

  @Test("the puller is raised once for each priority, and not to that with which it was made")
  func raised() {
    var state = Self.begun(5)
    let (first, second) = (Task {}, Task {})
    #expect(state.attach(first, madeAt: .utility).isWanted == true)
    #expect(state.raise(to: .utility) == nil)
    #expect(state.raise(to: .high) == first)
    #expect(state.raise(to: .high) == nil)
    for element in 1...5 { _ = Self.pulled(element, &state) }
    #expect(Self.demand(&state) == "1, call")
    #expect(state.attach(second, madeAt: .utility).isWanted == true)
    #expect(state.raise(to: .high) == second)
  }

  @Test("who has waited for a task before it is known raises it then")
  func raisedBefore() {
    var state = Self.called(5)
    #expect(state.raise(to: .high) == nil)
    #expect(state.attach(Task {}, madeAt: .utility).raised == .high)
    #expect(state.raise(to: .high) == nil)
  }

  @Test("who has waited with the priority that the task has raises nothing")
  func raisedBeforeToTheSame() {
    var state = Self.called(5)
    #expect(state.raise(to: .utility) == nil)
    #expect(state.attach(Task {}, madeAt: .utility).raised == nil)
  }

  @Test("an element whose work fails before it is kept is kept, and none behind it")
  func failsBeforeItIsKept() {
    var state = Self.begun(5)
    _ = state.failed(1)
    #expect(Self.pulled(2, &state) == "refused")
    #expect(Self.pulled(1, &state) == "enough", "its reader gets the failure")
    #expect(Self.demand(&state) == "1" && Self.demand(&state) == "end")
  }

  // At a cost that grows with the square, this would not end.
  @Test("giving back a million is one step for each")
  func manyAhead() {
    var state = Self.begun(.max)
    for element in 1...1_000_000 { _ = state.pulledAhead(element, element) }
    #expect(Self.demand(&state) == "1")
    #expect(state.failed(10).slots.count == 999_990)
    let left = state.abandon()
    #expect(left.slots == Array((2...10).reversed()))
  }
}
