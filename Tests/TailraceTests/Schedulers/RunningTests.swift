import Tailrace
import TailraceTesting
import Testing

@Suite("run, and schedule of what awaits: the same through every type", .hangLimit, .inTurn)
struct RunningTests {
  typealias Question = nonisolated(nonsending) @Sendable () async -> sending [Bool]

  /// A scheduler, called through a type.
  struct Face: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let run: nonisolated(nonsending) @Sendable (Question) async -> [Bool]
    let schedule: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>

    static func some(_ scheduler: some Scheduler) -> Face {
      Face(
        testDescription: "some", run: { await scheduler.run($0) },
        schedule: { scheduler.schedule($0) })
    }

    static func any(_ scheduler: any Scheduler) -> Face {
      Face(
        testDescription: "any", run: { await scheduler.run($0) },
        schedule: { scheduler.schedule($0) })
    }
  }

  private static let immediate = [
    Face(
      testDescription: "concrete", run: { await ImmediateScheduler.shared.run($0) },
      schedule: { ImmediateScheduler.shared.schedule($0) }),
    .some(ImmediateScheduler.shared), .any(ImmediateScheduler.shared),
  ]

  private actor Resident {
    let scheduler: QueueScheduler
    init(_ scheduler: QueueScheduler) { self.scheduler = scheduler }
    nonisolated var unownedExecutor: UnownedSerialExecutor { scheduler.asUnownedSerialExecutor() }

    func ask(through face: Face, _ question: Question) async -> [Bool] {
      // Swift 6.3.1 comes here only where something besides the call of a stored closure needs it.
      preconditionIsolated()
      return await face.run(question)
    }
  }

  private let here = QueueScheduler(name: "here")
  private let there = QueueScheduler(name: "there")
  private let always = [true, true, true, true]

  /// Whether code is where it should be: at first, after a visit to another scheduler, after a sleep
  /// and after a yield.
  private nonisolated(nonsending) func stays(
    where isRight: @Sendable () -> Bool
  ) async -> [Bool] {
    var stays = [isRight()]
    await there.run {}
    stays.append(isRight())
    try? await Task.sleep(for: .nanoseconds(1))
    stays.append(isRight())
    await Task.yield()
    return stays + [isRight()]
  }

  @Test("in place, run stays in the isolation that it is called from", arguments: Self.immediate)
  @MainActor
  func inPlace(_ face: Face) async {
    let main = QueueScheduler.main
    #expect(await face.run { await stays { main.isIsolatingCurrentContext() == true } } == always)
    MainActor.preconditionIsolated()
    let resident = Resident(here)
    #expect(
      await resident.ask(through: face) { await stays { currentScheduler === here } } == always)
    #expect(
      await here.run { await face.run { await stays { currentScheduler === here } } } == always)
  }

  @Test("in place, an async closure has begun when schedule returns", arguments: Self.immediate)
  func begun(_ face: Face) async {
    let (probe, gate) = (Probe<String>(), Gate())
    let task = face.schedule {
      probe.record("begins")
      await gate.wait()
      probe.record("ends")
    }
    #expect(probe.values == ["begins"])
    gate.open()
    await task.value
    #expect(probe.values == ["begins", "ends"])
  }

  @Test("on a queue, all stays there; results and errors come to the caller")
  @MainActor
  func onQueue() async {
    for face in [Face.some(here), .any(here)] {
      #expect(await face.run { await stays { currentScheduler === here } } == always)
      MainActor.preconditionIsolated()
      let probe = Probe<[Bool]>()
      await face.schedule { probe.record(await stays { currentScheduler === here }) }.value
      #expect(probe.values == [always])
    }
    let scheduler: any Scheduler = here
    await #expect(throws: CancellationError.self) {
      try await scheduler.run { throw CancellationError() }
    }
  }
}
