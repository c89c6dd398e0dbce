import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals

/// A model of a shared signal, as simple as can be: one thread runs all of it, on a virtual
/// scheduler.
private final class Model: @unchecked Sendable {
  /// How many elements each run of the source has sent.
  var sent: [Int] = []
  /// The run is still to be heard of: nobody has ended it by leaving.
  var isLive = false

  /// An element of a run. It says where it belongs.
  static func element(_ run: Int, _ index: Int) -> Int { run * 1000 + index }

  /// Where a reader begins that comes now.
  func start(_ window: Int) -> (run: Int, index: Int) {
    guard isLive else { return (sent.count, 0) }
    return (sent.count - 1, max(0, sent[sent.count - 1] - window))
  }
}

/// One random program: a source, readers that come and go, and what they all do when.
private struct Program {
  let window: Int
  let patience: Duration
  let policy: Signal<Int, any Error>.BufferingPolicy
  let isAsync: Bool
  let isDerived: Bool
  let waits: Bool
  /// When each element is sent, after the one before.
  let gaps: [Int]
  let ending: Int
  let readers: [Reader]

  struct Reader {
    let arrival: Int
    let pauses: [Int]
    /// It leaves after so many elements.
    let leavesAfter: Int
    /// It is cancelled at a time.
    let cancelledAt: Int?
  }

  init(_ random: inout SeededGenerator) {
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    window = number(0...4)
    patience = .milliseconds([0, 0, 3, 10, 1000][number(0...4)])
    let bound = number(0...4)
    policy =
      [
        .unbounded, .unbounded, .bufferingOldest(bound), .bufferingNewest(bound),
        .failing(beyond: bound),
      ][number(0...4)]
    isAsync = number(0...1) == 0
    isDerived = number(0...3) == 0
    waits = isAsync && number(0...1) == 0
    gaps = (0..<number(0...12)).map { _ in max(0, number(-3...4)) }
    ending = number(0...3)
    readers = (0..<number(1...4)).map { _ in
      Reader(
        arrival: number(0...30), pauses: (0..<4).map { _ in max(0, number(-6...5)) },
        leavesAfter: number(0...2) == 0 ? number(0...8) : .max,
        cancelledAt: number(0...2) == 0 ? number(0...40) : nil)
    }
  }

  /// Sends what this program says, in virtual time.
  private func source(
    _ model: Model, _ scheduler: VirtualScheduler
  ) -> Signal<Int, any Error> {
    @Sendable func begin(_ subscriber: Signal<Int, any Error>.Subscriber) -> Int {
      model.sent.append(0)
      model.isLive = true
      subscriber.onTermination { if case .cancelled = $0 { model.isLive = false } }
      return model.sent.count - 1
    }
    @Sendable func end(_ subscriber: Signal<Int, any Error>.Subscriber) {
      switch ending {
      case 0: subscriber.complete()
      case 1: subscriber.fail(Mishap(position: 0))
      default: return  // It is let go of.
      }
    }
    if isAsync {
      return Signal { [gaps, waits] subscriber in
        let run = begin(subscriber)
        for (index, gap) in gaps.enumerated() {
          if gap > 0 { try? await scheduler.sleep(for: .milliseconds(gap)) }
          let element = Model.element(run, index)
          if waits {
            // Sent when the broadcaster takes it, which is when the number has to be raised.
            let result = await subscriber.send(whenReady: element)
            if case .terminated = result { return }
            if Task.isCancelled { return }
          } else {
            subscriber.send(element)
          }
          model.sent[run] += 1
        }
        end(subscriber)
      }
    }
    return Signal { [gaps] subscriber in
      let run = begin(subscriber)
      @Sendable func send(_ index: Int) {
        guard index < gaps.count else { return end(subscriber) }
        let gap = gaps[index]
        let step: @Sendable () -> Void = {
          subscriber.send(Model.element(run, index))
          model.sent[run] += 1
          send(index + 1)
        }
        guard gap > 0 else { return step() }
        scheduler.schedule(after: .milliseconds(gap), step)
      }
      send(0)
    }
  }

  /// Reads, and says what was wrong with what it read.
  private static func read(
    _ signal: Signal<Int, any Error>, as reader: Reader, of program: Program, _ model: Model,
    _ scheduler: VirtualScheduler, _ complain: @escaping @Sendable (String) -> Void
  ) async {
    try? await scheduler.sleep(for: .milliseconds(reader.arrival))
    if Task.isCancelled { return }
    let start = model.start(program.window)
    let isExact = !program.isDerived
    var iterator = signal.makeAsyncIterator()
    /// The element to come next, unless it is dropped.
    var next: (run: Int, index: Int)? = isExact ? start : nil
    var counted = 0
    var count = 0
    do {
      while count < reader.leavesAfter, let element = try await iterator.next() {
        let (run, index) = (element / 1000, element % 1000)
        let missing = iterator.droppedCount - counted
        counted = iterator.droppedCount
        if let next, (run, index) != (next.run, next.index + missing) {
          complain("\(element) in place of \(next) and \(missing) missing")
        }
        next = (run, index + 1)
        count += 1
        let pause = reader.pauses[count % reader.pauses.count]
        if pause > 0 { try? await scheduler.sleep(for: .milliseconds(pause)) }
      }
      guard count < reader.leavesAfter, !Task.isCancelled else { return }
      if program.ending == 1 { complain("completed in place of a failure") }
    } catch is CancellationError {
      if !Task.isCancelled { complain("cancelled by nobody") }
      return
    } catch let overflow as SignalOverflow {
      guard case .failing(let bound, _) = program.policy else { return complain("\(overflow)") }
      if overflow.bound != max(bound, program.window) { complain("\(overflow)") }
      return
    } catch {
      if program.ending != 1 { complain("failed in place of its completion") }
    }
    let missing = iterator.droppedCount - counted
    if let next, next.index + missing != program.gaps.count {
      complain("ended at \(next) with \(missing) missing")
    }
  }

  func run(_ complain: @escaping @Sendable (String) -> Void) {
    let scheduler = VirtualScheduler()
    let model = Model()
    do {
      let source = source(model, scheduler)
      let shared = (isDerived ? source.map { $0 } : source).shared(
        replaying: window, keptFor: patience, scheduler: scheduler, bufferingPolicy: policy)
      var tasks: [Task<Void, Never>] = []
      let finished = Counter()
      for reader in readers {
        let task = Task(executorPreference: scheduler) {
          await Self.read(shared, as: reader, of: self, model, scheduler, complain)
          finished.increment()
        }
        tasks.append(task)
        if let time = reader.cancelledAt {
          scheduler.schedule(after: .milliseconds(time)) { task.cancel() }
        }
      }
      scheduler.run()
      if finished.value < readers.count { complain("somebody waits for ever") }
      for task in tasks { task.cancel() }
      scheduler.run()
    }
    scheduler.run()
    if scheduler.pendingCount > 0 { complain("something is left to be done") }
  }
}

@Suite("Shared signals, in random schedules", .timeLimit(.minutes(15)), .inTurn)
struct SharedScheduleTests {
  #if os(Linux)
    @Test("nothing is lost, nothing comes twice, and a late reader begins at the window")
    func schedules() {
      let count = RandomCases.count("TAILRACE_SCHEDULES", debug: 2_000, optimised: 100_000)
      for number in 0..<UInt64(count) {
        let seed = RandomCases.firstSeed &+ number
        var random = SeededGenerator(seed: seed)
        let program = Program(&random)
        program.run { Issue.record("seed \(seed): \($0)") }
      }
    }
  #endif
}
