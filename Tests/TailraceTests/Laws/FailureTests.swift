import Tailrace
import TailraceTesting
import Testing

@Suite("Failure: an element's fate, remembered at its position", .inTurn)
struct FailureTests {
  @Test(
    "the elements before it, then the error, for every reader",
    arguments: Row.all, SourceKind.allCases)
  func remembered(_ row: Row, _ kind: SourceKind) async throws {
    let pulls = Probe<Int>()
    let list = row.apply(kind.make(pulls, failingAt: 2), Calls())
    var first: [Int]?
    for _ in 0..<3 {
      var seen: [Int] = []
      var failure: (any Error)?
      do {
        for try await element in list { seen.append(element) }
      } catch {
        failure = error
      }
      // A row that never asks for the second element does not fail.
      if !row.recovers, row.forSecond >= 2 || row.elements.count > 2 {
        #expect(failure as? Mishap == Mishap(position: 1))
      }
      #expect(seen == first ?? seen)
      first = seen
    }
    #expect(pulls.values.filter { $0 == 2 }.count <= 1, "the failed step ran once")
    #expect(list.evaluatedPrefix == first)
  }

  @Test("a closure that throws gives its error at its position, and no other element")
  func closures() async {
    let list = LazyList(1...5).map { (number: Int) throws -> Int in
      if number == 3 { throw Mishap(position: 2) }
      return number
    }
    await #expect(throws: Mishap(position: 2)) { try await list.count() }
    #expect(list.evaluatedPrefix == [1, 2])
    #expect(list.debugDescription.contains("failed: Mishap"))
    await #expect(throws: Mishap(position: 2)) { try await list.element(at: 2) }
    await #expect(throws: Mishap(position: 2)) { try await list.element(at: 4) }
  }

  @Test("retrying runs the failed step again, with the state as it was", arguments: [true, false])
  func retrying(_ suspends: Bool) async throws {
    let attempts = Probe<Int>()
    @Sendable func step(_ state: inout [Int]) throws -> Int? {
      state.append(state.count)
      attempts.record(state.count)
      if attempts.values.filter({ $0 == state.count }).count < 3 && state.count == 2 {
        throw Mishap(position: 1)
      }
      return state.count
    }
    let list: LazyList<Int, any Error> =
      if suspends {
        LazyList(state: [Int](), retryingFailures: true) { state async throws in
          await Task.yield()
          return try step(&state)
        }
      } else {
        LazyList(state: [Int](), retryingFailures: true) { state throws in try step(&state) }
      }
    let derived = list.map { $0 * 10 }.filter { $0 > 0 }
    await #expect(throws: Mishap.self) { try await derived.element(at: 1) }
    await #expect(throws: Mishap.self) { try await list.element(at: 1) }
    #expect(try await derived.element(at: 1) == 20)
    #expect(try await list.prefix(3).array() == [1, 2, 3])
    #expect(attempts.values == [1, 2, 2, 2, 3])
  }

  @Test("a failed attempt that did not suspend is nobody else's to swallow")
  func retryingAtOnce() async throws {
    let attempts = Probe<Int>()
    let list = LazyList<Int, any Error>(state: 0, retryingFailures: true) { state async throws in
      attempts.record(state)
      if attempts.count < 3 { throw Mishap(position: 0) }
      return 7
    }
    await #expect(throws: Mishap.self) { try await list.head() }
    await #expect(throws: Mishap.self) { try await list.map { $0 + 1 }.head() }
    #expect(try await list.head() == 7)
    #expect(attempts.count == 3)
    let (stream, continuation) = AsyncThrowingStream<Int, any Error>.makeStream()
    continuation.yield(1)
    continuation.finish(throwing: Mishap(position: 1))
    let streamed = stream.memoized(retryingFailures: true)
    await #expect(throws: Mishap.self) { try await streamed.array() }
  }

  @Test("without retrying the failed step never runs again")
  func notRetrying() async {
    let attempts = Probe<Int>()
    let list = LazyList<Int, any Error>(state: 0) { state throws in
      attempts.record(state)
      throw Mishap(position: 0)
    }
    for _ in 0..<3 { await #expect(throws: Mishap.self) { try await list.head() } }
    #expect(attempts.count == 1)
  }

  @Test("everybody who waits for an attempt gets its failure; the next demand tries again")
  func waiters() async throws {
    let gate = Gate()
    let list = LazyList<Int, any Error>(state: 0, retryingFailures: true) { state async throws in
      await gate.wait()
      if gate.arrived == 1 { throw Mishap(position: 0) }
      return 7
    }
    let readers = (0..<5).map { _ in Task { try await list.head() } }
    await gate.waitForArrivals(1)
    gate.open()
    var failures = 0
    for reader in readers {
      // Those that came late start the second attempt.
      do { #expect(try await reader.value == 7) } catch { failures += 1 }
    }
    #expect(failures >= 1)
    #expect(try await list.head() == 7)
    #expect(gate.arrived == 2)
  }

  @Test("a typed failure stays typed")
  func typed() async {
    let list = LazyList<Int, Mishap>.failing(Mishap(position: 0)).prepending(1).map { $0 + 1 }
    do throws(Mishap) {
      _ = try await list.count()
      Issue.record("the list must fail")
    } catch {
      #expect(error.position == 0)
    }
    #expect(list.evaluatedPrefix == [2])
  }
}
