import Synchronization
import TailraceSupport
import TailraceTesting
import Testing

import Tailrace

/// Steps that fail and are tried again, and calls of which one is cancelled, in many orders. A body each
/// for mistakes that these lists once had between two jobs.
@Suite("Every order: failures that are tried again", .tags(.long), .hangLimit, .inTurn)
struct EveryOrderRetryTests {
  typealias List = LazyList<Int, any Error>

  static let options = ExplorationOptions(
    runs: Size.usual(800, full: 30_000), preemptions: Size.usual(3, full: 4),
    randomRuns: Size.usual(300, full: 10_000))

  /// Steps of which each fails that many times, and how often it has.
  final class Attempts: Sendable {
    let failing: [Int: Int]
    let made = Locked<[Int: Int]>([:])
    let failed = Locked<[Int: Int]>([:])

    init(_ failing: [Int: Int]) { self.failing = failing }

    func attempt(_ position: Int) async throws -> Int {
      let attempt = made.withLock { made in
        made[position, default: 0] += 1
        return made[position] ?? 0
      }
      await Task.yield()
      if attempt <= failing[position] ?? 0 {
        failed.withLock { $0[position, default: 0] += 1 }
        throw Mishap(position: position)
      }
      return position
    }

    /// Reads element by element until the end, again after each failure, by one iterator or by a call for
    /// each element.
    func read(
      _ list: List, upTo count: Int, _ run: ExplorationRun, iterating: Bool = false
    ) async throws {
      var told: [Int: Int] = [:]
      var position = 0
      var iterator = list.makeAsyncIterator()
      while position < count {
        do {
          let element =
            iterating ? try await iterator.next() : try await list.element(at: position)
          try run.require(element == position, "\(element ?? -1) at \(position)")
          position += 1
        } catch let mishap as Mishap {
          try run.require(
            mishap.position == position,
            "told of \(mishap.position), and \(position) was wanted")
          try require(run, mishap, &told)
        }
      }
    }

    /// Each attempt must be told once.
    func require(_ run: ExplorationRun, _ mishap: Mishap, _ told: inout [Int: Int]) throws {
      let position = mishap.position
      told[position, default: 0] += 1
      let (times, attempts) = (told[position] ?? 0, failed.withLock { $0[position] ?? 0 })
      try run.require(
        times <= attempts, "told \(times) times of \(position), which has failed \(attempts) times")
    }
  }

  private func tried(
    _ body: @escaping @Sendable (ExplorationRun) async throws -> Void
  ) async throws {
    let summary = try await explore(Self.options, body: body)
    #expect(summary.jobsFromOutside == 0 && summary.divergedRuns == 0)
  }

  @Test("closures beside each other: a reader is told once of each failed call", arguments: [1, 2])
  func beside(_ readers: Int) async throws {
    try await tried { run in
      let attempts = Attempts([0: 1, 2: 1])
      let list = List(0..<3).concurrentMap(limit: 2, retryingFailures: true) {
        try await attempts.attempt($0)
      }
      let tasks = (0..<readers).map { number in
        run.spawn(name: "reader \(number)") { try await attempts.read(list, upTo: 3, run) }
      }
      for task in tasks { try await task.value }
    }
  }

  @Test("below mapFailure: a reader is told of the element that it wants, and once")
  func mapped() async throws {
    try await tried { run in
      let attempts = Attempts([0: 1, 1: 1])
      let list = List(0..<3).map(retryingFailures: true) { try await attempts.attempt($0) }
        .mapFailure { $0 }
      let tasks = (0..<3).map { number in
        run.spawn(name: "reader \(number)") {
          try await attempts.read(list, upTo: 3, run, iterating: number > 0)
        }
      }
      for task in tasks { try await task.value }
    }
  }

  @Test("behind look-ahead: a failure is caught at the element that failed")
  func caught() async throws {
    try await tried { run in
      let attempts = Attempts([0: 1, 1: 1])
      let list = List(0..<3).map(retryingFailures: true) { try await attempts.attempt($0) }
        .prefetching(1)
      let safe = list.catch { (error) -> List in
        .just(-1 - ((error as? Mishap)?.position ?? 100))
      }
      let direct = run.spawn(name: "direct") { try await attempts.read(list, upTo: 3, run) }
      let readers = (0..<2).map { number in
        run.spawn(name: "reader \(number)") { try await safe.array() }
      }
      let elements = try await readers[0].value
      if let last = elements.last, last < 0 {
        try run.require(
          -1 - last == elements.count - 1,
          "the failure of \(-1 - last) was caught at \(elements.count - 1)")
      } else {
        try run.require(elements == [0, 1, 2], "\(elements)")
      }
      let others = try await readers[1].value
      try run.require(others == elements, "\(others), \(elements)")
      try await direct.value
    }
  }

  @Test("ahead of the readers: a second catch does not meet the failure that the first has caught")
  func caughtTwice() async throws {
    try await tried { run in
      let failures = Counter()
      let last = List([3, 4]).map(retryingFailures: true) { number in
        if number == 3, failures.value == 0 {
          failures.increment()
          throw Mishap(position: 0)
        }
        return number
      }
      let safe = (List([1, 2]) + last).catch { _ in List([9]) + last.catch { _ in List([8]) } }
        .prefetching(3)
      let readers = (0..<2).map { number in
        run.spawn(name: "reader \(number)") { try await safe.array() }
      }
      for reader in readers {
        let elements = try await reader.value
        try run.require(elements == [1, 2, 9, 3, 4], "\(elements)")
      }
    }
  }

  @Test("beside calls for the whole list, one of which is cancelled: told once of each attempt")
  func whole() async throws {
    try await tried { run in
      let attempts = Attempts([0: 1, 1: 1])
      let list = List(state: 0, retryingFailures: true) { position async throws in
        guard position < 3 else { return nil }
        defer { position += 1 }
        do { return try await attempts.attempt(position) } catch {
          position -= 1
          throw error
        }
      }
      let whole = run.spawn(name: "whole") {
        var told: [Int: Int] = [:]
        while !Task.isCancelled {
          do { return try await list.array().count } catch let mishap as Mishap {
            try attempts.require(run, mishap, &told)
          }
        }
        return 0
      }
      let reader = run.spawn(name: "reader") { try await attempts.read(list, upTo: 3, run) }
      run.spawn(name: "canceller") {
        await Task.yield()
        whole.cancel()
      }
      try await reader.value
      _ = await whole.result
    }
  }

  @Test("a call for the whole list that is cancelled by a step takes no other one")
  func cancelled() async throws {
    try await tried { run in
      let calls = Counter()
      let reader = Locked<Task<[Int], any Error>?>(nil)
      let list = List(0..<20).map { number async throws in
        calls.increment()
        if number == 1 { await Task.yield() }
        if number == 2 { reader.withLock { $0 }?.cancel() }
        return number
      }
      let task = run.spawn(name: "reader") { try await list.array() }
      reader.withLock { $0 = task }
      _ = await task.result
      try run.require(
        calls.value <= 4, "\(calls.value) calls, though the third has cancelled the reader")
      reader.withLock { $0 = nil }
    }
  }
}
