import Tailrace

/// What a signal, a stream or a list gives on virtual time, as it is recorded.
///
/// ```swift
/// let recording = scheduler.record(signal)
/// scheduler.advance(by: .seconds(4))
/// #expect(recording == "a-b--")
/// ```
///
/// When that expectation fails, it says so with both lines, one under the other:
///
/// ```
/// Expectation failed: (recording →
/// expected  a-b--
/// recorded  a--b-
///             ^ tick 2) == ("a-b--" → a-b--)
/// ```
///
/// What does not come by way of the scheduler, such as an answer of an actor that lives elsewhere,
/// comes in its own time: wait for it before the scheduler is advanced.
public final class MarbleRecording: Sendable {
  private let tape: MarbleTape
  private let reading: Task<Void, Never>
  /// What was expected instead, by the last comparison.
  private let refuted = Locked(Marbles?.none)

  init<Sequence: AsyncSequence & Sendable>(
    _ sequence: Sequence, on scheduler: VirtualScheduler, every tick: Duration,
    _ file: StaticString, _ line: UInt,
    naming name: @escaping @Sendable (Sequence.Element) -> String
  ) where Sequence.Element: Sendable {
    guard tick > .zero else {
      fatalError("MarbleRecording: a tick takes more than \(tick)", file: file, line: line)
    }
    let tape = MarbleTape(scheduler, tick)
    self.tape = tape
    // Here and not in the task, because that is when a hot signal is listened to.
    var iterator = sequence.makeAsyncIterator()
    reading = Task(executorPreference: scheduler) {
      do {
        while let element = try await iterator.next() { tape.record(.element(name(element))) }
        if !Task.isCancelled { tape.record(.completed) }
      } catch {
        if !Task.isCancelled { tape.record(.failure) }
      }
    }
  }

  deinit { reading.cancel() }

  /// What has happened until now: until the ending, or until the tick that the clock shows.
  public var marbles: Marbles { tape.marbles }

  /// Ends the reading, and with it a subscription.
  public func stop() { reading.cancel() }

  /// Whether this is what has happened until now.
  public static func == (recording: MarbleRecording, expected: Marbles) -> Bool {
    let isEqual = recording.marbles == expected
    // A test framework describes each side of an expectation by itself: so this side remembers
    // the other one, and can say both.
    recording.refuted.withLock { $0 = isEqual ? nil : expected }
    return isEqual
  }
}

extension MarbleRecording: CustomStringConvertible {
  /// The line; after a comparison that it failed, both lines, one under the other.
  public var description: String {
    let marbles = marbles
    let difference = refuted.withLock { $0 }.flatMap { marbles.difference(from: $0) }
    return difference.map { "\n\($0)" } ?? marbles.description
  }
}

/// What was recorded, and at which ticks.
private final class MarbleTape: Sendable {
  private let scheduler: VirtualScheduler
  private let start: VirtualScheduler.Instant
  private let tick: Duration
  private let ticks = Locked([[Marbles.Marble]]())

  init(_ scheduler: VirtualScheduler, _ tick: Duration) {
    self.scheduler = scheduler
    self.tick = tick
    start = scheduler.now
  }

  func record(_ marble: Marbles.Marble) {
    let now = now
    ticks.withLock { ticks in
      ticks.lengthen(to: now)
      ticks[now].append(marble)
    }
  }

  var marbles: Marbles {
    let now = now
    return Marbles(
      ticks.withLock { ticks in
        if ticks.last?.last?.isEnding != true { ticks.lengthen(to: now) }
        return ticks
      })
  }

  /// How many ticks the clock has gone through.
  private var now: Int { Int((scheduler.now - start).attoseconds / tick.attoseconds) }
}

extension [[Marbles.Marble]] {
  fileprivate mutating func lengthen(to index: Int) {
    while count <= index { append([]) }
  }
}
