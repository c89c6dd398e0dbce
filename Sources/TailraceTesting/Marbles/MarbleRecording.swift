import Tailrace
import TailraceSupport

/// A recording of a signal, a stream or a list in virtual time.
///
/// ```swift
/// let recording = scheduler.record(signal)
/// scheduler.advance(by: .seconds(4))
/// #expect(recording == "a-b--")
/// ```
///
/// A failing expectation prints both lines, one above the other:
///
/// ```
/// Expectation failed: (recording →
/// expected  a-b--
/// recorded  a--b-
///             ^ tick 2) == ("a-b--" → a-b--)
/// ```
///
/// Events from outside the scheduler, such as an answer of another actor, are not under its
/// control: wait for them before advancing the scheduler.
public final class MarbleRecording: Sendable {
  private let tape: MarbleTape
  private let reading: Task<Void, Never>
  /// The expected line, if the last comparison failed.
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
    // Here, not in the task: making the iterator subscribes to a hot signal.
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

  /// The events until now: until the ending, or until the clock's tick.
  public var marbles: Marbles { tape.marbles }

  /// Ends the reading and its subscription.
  public func stop() { reading.cancel() }

  /// Whether these are the events until now.
  public static func == (recording: MarbleRecording, expected: Marbles) -> Bool {
    let isEqual = recording.marbles == expected
    // A test framework describes each side of an expectation separately: this side remembers the
    // other one, and describes both.
    recording.refuted.withLock { $0 = isEqual ? nil : expected }
    return isEqual
  }
}

extension MarbleRecording: CustomStringConvertible {
  /// The line; after a failed comparison, both lines, one above the other.
  public var description: String {
    let marbles = marbles
    let difference = refuted.withLock { $0 }.flatMap { marbles.difference(from: $0) }
    return difference.map { "\n\($0)" } ?? marbles.description
  }
}

/// The recorded events and their ticks.
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

  /// How many ticks have passed on the clock.
  private var now: Int { Int((scheduler.now - start).attoseconds / tick.attoseconds) }
}

extension [[Marbles.Marble]] {
  fileprivate mutating func lengthen(to index: Int) {
    while count <= index { append([]) }
  }
}
