import Tailrace
import TailraceTesting
import Testing

@Suite("Attempts and limits of time, in virtual time")
struct AttemptsTests {
  struct Refused: Error, Equatable {
    var isFinal = false
  }

  /// When each attempt began, and what came of it.
  static func run(
    failures: Int, attempts: Int = 5, isFinal: Bool = false
  ) -> (begun: [Duration], answer: Result<Int, any Error>?) {
    let (scheduler, begun) = (VirtualScheduler(), Probe<Duration>())
    let answer = Probe<Result<Int, any Error>>()
    scheduler.schedule { () async in
      do {
        let value = try await retrying(
          attempts: attempts, first: .seconds(1), limit: .seconds(3), on: scheduler.clock,
          jitter: { 1 }, when: { ($0 as? Refused)?.isFinal != true }
        ) {
          begun.record(scheduler.now.offset)
          if begun.count <= failures { throw Refused(isFinal: isFinal) }
          return begun.count
        }
        answer.record(.success(value))
      } catch {
        answer.record(.failure(error))
      }
    }
    scheduler.advance(by: .seconds(100))
    return (begun.values, answer.values.first)
  }

  @Test("each wait is twice as long, up to the limit", arguments: 0...4)
  func waits(_ failures: Int) throws {
    let (begun, answer) = Self.run(failures: failures)
    #expect(begun == [0, 1, 3, 6, 9].prefix(failures + 1).map { Duration.seconds($0) })
    #expect(try answer?.get() == failures + 1)
  }

  @Test("the last failure is told, and no more attempts are made than allowed", arguments: 1...3)
  func givesUp(_ attempts: Int) {
    let (begun, answer) = Self.run(failures: 100, attempts: attempts)
    #expect(begun.count == attempts)
    #expect(throws: Refused()) { try answer?.get() }
  }

  @Test("a failure that is not worth another attempt is told at once")
  func final() {
    let (begun, answer) = Self.run(failures: 100, isFinal: true)
    #expect(begun.count == 1)
    #expect(throws: Refused(isFinal: true)) { try answer?.get() }
  }

  @Test("a cancellation is never tried again, and ends a wait at once")
  func cancelled() async {
    let (scheduler, begun) = (VirtualScheduler(), Counter())
    let task = scheduler.schedule { () async in
      await #expect(throws: CancellationError.self) {
        try await retrying(first: .seconds(60), on: scheduler.clock) {
          begun.increment()
          throw Refused()
        }
      }
    }
    scheduler.advance(by: .seconds(1))
    task.cancel()
    scheduler.advance(by: .zero)
    await task.value
    #expect(begun.value == 1)
    let thrown = Counter()
    await #expect(throws: CancellationError.self) {
      try await retrying {
        thrown.increment()
        throw CancellationError()
      }
    }
    #expect(thrown.value == 1)
  }

  @Test("no attempt traps, with words")
  func none() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try await retrying(attempts: 0) { 1 }
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("retrying(attempts:)") && said.contains("AttemptsTests.swift"))
  }

  @Test("in time, or too late", arguments: [1, 2, 3])
  func timeout(_ seconds: Int) async {
    let (scheduler, cancelled) = (VirtualScheduler(), Probe<Bool>())
    let answer = Probe<Result<Int, any Error>>()
    scheduler.schedule { () async in
      do {
        let value = try await withTimeout(.milliseconds(2_500), on: scheduler.clock) {
          do {
            try await scheduler.clock.sleep(for: .seconds(seconds))
          } catch {
            cancelled.record(Task.isCancelled)
            throw error
          }
          return seconds
        }
        answer.record(.success(value))
      } catch {
        answer.record(.failure(error))
      }
    }
    scheduler.advance(by: .seconds(10))
    if seconds < 3 {
      #expect((try? answer.values.first?.get()) == seconds && cancelled.count == 0)
    } else {
      #expect(throws: TimedOut(limit: .milliseconds(2_500))) { try answer.values.first?.get() }
      #expect(cancelled.values == [true])
    }
  }

  @Test("cancelled from outside: what the closure makes of it counts", arguments: [true, false])
  func cancelledFromOutside(gives: Bool) async throws {
    let (scheduler, gate) = (VirtualScheduler(), Gate())
    let task = Task {
      try await withTimeout(.seconds(60), on: scheduler.clock) {
        await gate.wait()
        if !gives { try Task.checkCancellation() }
        return 7
      }
    }
    await gate.waitForArrivals(1)
    task.cancel()
    gate.open()
    if gives {
      #expect(try await task.value == 7)
    } else {
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test("around a reader: the list computes on, and the next reader has what was computed")
  func reader() async throws {
    let (gate, begun) = (Gate(), Counter())
    let list = LazyList(state: 0) { number async throws -> Int? in
      begun.increment()
      await gate.wait()
      number += 1
      return number
    }
    await #expect(throws: TimedOut.self) {
      try await withTimeout(.zero) { try await list.head() }
    }
    gate.open()
    #expect(try await list.head() == 1 && begun.value == 1)
  }
}
