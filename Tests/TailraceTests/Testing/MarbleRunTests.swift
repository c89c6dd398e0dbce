import Tailrace
import TailraceTesting
import Testing

/// Fails at `#`.
private struct Refusal: Error, Equatable {}

@Suite("Marbles: played and recorded on virtual time", .hangLimit, .inTurn)
struct MarbleRunTests {
  private let scheduler = VirtualScheduler()

  static let lines: [Marbles] = [
    "|", "#", "a|", "a-b-|", "--a-(bc)--#", "(ab|)", "-(abc#)", "'10'-'20'|",
  ]

  @Test("a signal, a stream and a list give the line that they play", arguments: lines)
  func identity(_ line: Marbles) {
    let source = scheduler.source(line, failure: Refusal() as any Error)
    let recordings = [
      scheduler.record(source.signal), scheduler.record(source.signal.stream()),
      scheduler.record(source.list), scheduler.record(source.signal.memoized()),
      scheduler.record(source.makeHotSignal()),
    ]
    scheduler.run()
    for recording in recordings { #expect(recording.marbles == line) }
  }

  @Test("a line without an ending goes on", arguments: ["", "-", "a-b", "a-b---"] as [Marbles])
  func open(_ line: Marbles) {
    let source = scheduler.source(line)
    let recordings = [scheduler.record(source.signal), scheduler.record(source.list)]
    scheduler.run()
    // A list asks for nothing after its last element, and so lets no time pass there.
    for recording in recordings {
      #expect(recording.marbles.ticks.count == max(line.ticks.count, 1))
      #expect(recording.marbles.ticks.joined().elementsEqual(line.ticks.joined()))
    }
    scheduler.advance(by: .seconds(2))
    for recording in recordings {
      #expect(recording.marbles.ticks.count == max(line.ticks.count, 1) + 2)
    }
  }

  @Test("each subscription gets the whole line, from its own instant on")
  func cold() {
    let signal = scheduler.source("a-b-|").signal
    let first = scheduler.record(signal)
    scheduler.advance(by: .seconds(3))
    let second = scheduler.record(signal)
    #expect(first == "a-b-")
    scheduler.run()
    #expect(first == "a-b-|")
    #expect(second == "a-b-|")
  }

  @Test("a hot signal plays whether somebody listens or not")
  func hot() {
    let signal = scheduler.source("a-b-c|").makeHotSignal()
    let first = scheduler.record(signal)
    scheduler.advance(by: .seconds(2))
    let second = scheduler.record(signal)
    scheduler.run()
    #expect(first == "a-b-c|")
    #expect(second == "--c|")
  }

  @Test("a hot signal is listened to from the moment of the call")
  func listening() {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    let recordings = [scheduler.record(signal), scheduler.record(signal)]
    subscriber.send(1)
    scheduler.advance(by: .seconds(1))
    subscriber.send(2)
    subscriber.complete()
    scheduler.run()
    for recording in recordings { #expect(recording == "1(2|)") }
  }

  @Test("a slow reader delays the steps of a list, but not what is sent")
  func slow() {
    let source = scheduler.source("-1-2-3|", of: Int.self)
    let slowly: @Sendable (Int) async -> Int = { [scheduler] number in
      try? await scheduler.sleep(for: .seconds(3))
      return number
    }
    let pulled = scheduler.record(source.list.map(slowly))
    let pushed = scheduler.record(source.signal.memoized().map(slowly))
    let ahead = scheduler.record(source.list.prefetching(2).map(slowly))
    scheduler.run()
    #expect(pulled == "----1----2----3|")
    #expect(pushed == "----1--2--(3|)")
    #expect(ahead == "----1--2--(3|)")
  }

  @Test("operators of lists and signals, on virtual time")
  func operators() {
    let list = scheduler.source("-1-2-3-4|", of: Int.self).list
    let signal = scheduler.source("-1-2-3-4|", of: Int.self).signal
    let recordings: [(MarbleRecording, Marbles)] = [
      (scheduler.record(list.map { $0 * 2 }), "-2-4-6-8|"),
      (scheduler.record(list.prefix(2)), "-1-(2|)"),
      (scheduler.record(list.chunks(ofCount: 3)), "-----'[1, 2, 3]'--('[4]'|)"),
      (scheduler.record(signal.filter { $0 != 2 }), "-1---3-4|"),
      (scheduler.record(signal.prefix(2)), "-1-(2|)"),
    ]
    scheduler.run()
    for (recording, expected) in recordings { #expect(recording == expected) }
  }

  @Test("a tick is as long as it is said to be")
  func ticks() {
    let signal = scheduler.source("a-b|", every: .milliseconds(50)).signal
    let coarse = scheduler.record(signal, every: .milliseconds(100))
    let fine = scheduler.record(signal, every: .milliseconds(25))
    scheduler.advance(by: .milliseconds(100))
    #expect(coarse == "ab")
    #expect(fine == "a---b")
    scheduler.advance(by: .milliseconds(50))
    #expect(coarse == "a(b|)")
    #expect(fine == "a---b-|")
  }

  @Test("elements of any type, under names")
  func names() {
    let points = ["a": Duration.seconds(1), "b": .seconds(2)]
    let signal = scheduler.source("a-b-a|", points).signal
    let failing = scheduler.source("a#", points, failure: Refusal()).list
    let recordings: [(MarbleRecording, Marbles)] = [
      (scheduler.record(signal, points), "a-b-a|"),
      (scheduler.record(signal, ["x": .seconds(2)]), "'1.0 seconds'-x-'1.0 seconds'|"),
      (scheduler.record(signal, naming: { $0 == .seconds(1) ? "1" : "2" }), "1-2-1|"),
      (scheduler.record(failing, points), "a#"),
    ]
    scheduler.run()
    for (recording, expected) in recordings { #expect(recording == expected) }
  }

  @Test("an element under its own name, of any type that has one")
  func types() async {
    let characters: [Character] = await characters()
    #expect(characters == ["a", "7"])
  }

  private func characters() async -> [Character] {
    let scheduler = VirtualScheduler()
    let task = Task(executorPreference: scheduler) {
      await scheduler.source("a-7|", of: Character.self).list.array()
    }
    scheduler.run()
    return await task.value
  }

  @Test("a recording that is stopped or released leaves nothing behind")
  func stopped() {
    let source = scheduler.source("a---b|")
    let stopped = scheduler.record(source.signal)
    var released: MarbleRecording? = scheduler.record(source.list)
    scheduler.advance(by: .seconds(1))
    #expect(stopped == "a-" && released?.marbles == "a-")
    stopped.stop()
    released = nil
    scheduler.advance(by: .zero)
    #expect(scheduler.pendingCount == 0)
    scheduler.advance(by: .seconds(1))
    #expect(stopped == "a--")
  }

  @Test("a signal whose readers are gone sends no more")
  func abandoned() {
    let instances = InstanceCounter()
    var recording: MarbleRecording? = scheduler.record(
      scheduler.source("a-b--", ["a": instances.member(1), "b": instances.member(2)]).signal,
      naming: { "\($0.number)" })
    scheduler.run()
    #expect(recording?.marbles == "1-2--")
    recording = nil
    scheduler.run()
    #expect(instances.alive == 0)
  }

  @Test("the same run records the same, each time")
  func deterministic() {
    for _ in 0..<200 {
      let scheduler = VirtualScheduler()
      let list = scheduler.source("-(1234)-5|", of: Int.self).list
      let busy = list.concurrentMap(limit: 2) { number in
        try? await scheduler.sleep(for: .seconds(number.isMultiple(of: 2) ? 2 : 5))
        return number
      }
      let merged = scheduler.source("1-2-3|", of: Int.self).signal
        .merging(scheduler.source("-4-(56)|", of: Int.self).signal)
      let recordings: [(MarbleRecording, Marbles)] = [
        (scheduler.record(busy), "------(12)----(34)----(5|)"),
        (scheduler.record(merged), "142(56)3|"),
        (scheduler.record(zip(list, list.prefetching(2)).map { $0 + $1 }), "-(2468)-'10'|"),
      ]
      scheduler.run()
      for (recording, expected) in recordings { #expect(recording == expected) }
    }
  }

  @Test("an expectation that fails shows both lines, one under the other")
  func message() throws {
    let recording = scheduler.record(scheduler.source("a--b|").signal)
    scheduler.run()
    #expect(recording.description == "a--b|")
    let issues = Probe<String>()
    withKnownIssue {
      #expect(recording == "a-b-|")
    } matching: { issue in
      issues.record("\(issue)")
      return true
    }
    let both = """
      expected  a-b-|
      recorded  a--b|
                  ^ tick 2
      """
    #expect(try #require(issues.values.first).contains(both))
    #expect(recording.description == "\n" + both)
    // One that holds is not told about.
    #expect(recording == "a--b|")
    #expect(recording.description == "a--b|")
  }

  @Test("mistakes trap")
  func mistakes() async {
    await #expect(processExitsWith: .failure) {
      _ = VirtualScheduler().source("a", of: Int.self)
    }
    await #expect(processExitsWith: .failure) { _ = VirtualScheduler().source("1#", of: Int.self) }
    await #expect(processExitsWith: .failure) { _ = VirtualScheduler().source("b", ["a": 1]) }
    await #expect(processExitsWith: .failure) { _ = VirtualScheduler().source("a", every: .zero) }
    await #expect(processExitsWith: .failure) {
      let scheduler = VirtualScheduler()
      _ = scheduler.record(scheduler.source("a").list, every: .zero)
    }
  }
}
