import Foundation
import Synchronization
import Tailrace

/// Two threads that do something at the same moment, again and again.
///
/// They have nothing else to do, and wait for each other without sleeping: where two tasks are to meet within
/// nanoseconds, waking one of them takes too long.
// Guard: `word`. May touch the work: who posts it, then who has seen it posted.
final class Duo: @unchecked Sendable {
  private enum Word { static let (idle, posted, done, over) = (0, 1, 2, 3) }

  private let word = Atomic(Word.idle)
  private var work: (@Sendable () async -> Void)?
  private let first = Atomic(0)
  private let second = Atomic(0)
  private var meetings = 0

  /// Runs a closure on the first of two threads.
  static func run<Output: Sendable>(
    _ body: @escaping @Sendable (Duo) async -> Output
  ) async -> Output {
    let duo = Duo()
    async let other: Void = OneThread.run { await duo.serve() }
    let output = await OneThread.run {
      defer { duo.word.store(Word.over, ordering: .releasing) }
      return await body(duo)
    }
    await other
    return output
  }

  /// Runs two closures, each on a thread of its own, which begin together.
  ///
  /// - Parameter pauses: how long each of them hesitates, in turns of an empty loop.
  func together<First: Sendable, Second: Sendable>(
    _ pauses: [Int], _ first: @Sendable () async -> First,
    _ second: @escaping @Sendable () async -> Second
  ) async -> (First, Second) {
    meetings += 1
    let (meeting, result) = (meetings, Slot<Second>())
    work = { [self] in
      meet(self.second, self.first, meeting, pauses[1])
      result.value = await second()
    }
    word.store(Word.posted, ordering: .releasing)
    meet(self.first, self.second, meeting, pauses[0])
    let own = await first()
    Self.spin { word.load(ordering: .acquiring) == Word.done }
    work = nil
    word.store(Word.idle, ordering: .relaxed)
    return (own, result.value!)
  }

  private func serve() async {
    while true {
      Self.spin { [Word.posted, Word.over].contains(self.word.load(ordering: .acquiring)) }
      guard word.load(ordering: .relaxed) == Word.posted else { return }
      await work?()
      word.store(Word.done, ordering: .releasing)
    }
  }

  private func meet(
    _ own: borrowing Atomic<Int>, _ other: borrowing Atomic<Int>, _ meeting: Int, _ pause: Int
  ) {
    own.store(meeting, ordering: .sequentiallyConsistent)
    Self.spin { other.load(ordering: .sequentiallyConsistent) >= meeting }
    Self.pause(pause)
  }

  /// Does nothing for a while.
  static func pause(_ turns: Int) {
    let count = Atomic(0)
    while count.load(ordering: .relaxed) < turns { count.add(1, ordering: .relaxed) }
  }

  /// Waits for another thread, without sleeping.
  static func spin(until isDone: () -> Bool) {
    var turns = 0
    while !isDone() {
      turns += 1
      // The other one may have no core.
      if turns % 1_000 == 0 { sched_yield() }
    }
  }

  // Guard: written by one thread before `word` says done, read by the other one after that.
  private final class Slot<Value: Sendable>: @unchecked Sendable {
    var value: Value?
  }
}
