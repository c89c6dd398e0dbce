import Tailrace
import TailraceTesting
import Testing

@Suite("A cancelled reader: its kind, and the failure of its list", .inTurn)
struct CancelledReaderTests {
  typealias Reader = CancelledReader

  /// 1, 2, 3; the step after the first waits at a gate.
  private func list(_ gate: Gate) -> LazyList<Int, Never> {
    LazyList(state: 0) { state async in
      if state > 0 { await gate.wait() }
      state += 1
      return state <= 3 ? state : nil
    }
  }

  /// Cancels a reader that waits.
  ///
  /// - Returns: its task, the gate still closed.
  private func cancelled<Failure: Error>(
    _ reader: Reader, _ list: LazyList<Int, Failure>, _ gate: Gate
  ) async -> Task<Int, any Error> {
    let task = Task { try await reader.read(list) }
    await gate.waitForArrivals(1)
    task.cancel()
    return task
  }

  /// What a reader does if the failure cannot say that it was cancelled.
  private func cannotSay<Failure: Error>(
    _ reader: Reader, _ list: LazyList<Int, Failure>, _ gate: Gate
  ) async throws {
    let task = await cancelled(reader, list, gate)
    switch reader.kind.manner {
    case .ends: #expect(try await task.value < 3)
    case .waits: break
    case .throwsCancellationError:
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    gate.open()
    if reader.kind.manner == .waits {
      #expect(try await task.value == 3)
    }
    // The list is as it was.
    #expect(try await list.array() == [1, 2, 3])
  }

  @Test("the list cannot fail", arguments: Reader.all)
  func never(_ reader: Reader) async throws {
    let gate = Gate()
    try await cannotSay(reader, list(gate), gate)
  }

  @Test("the list fails with a type that cannot say it", arguments: Reader.all)
  func own(_ reader: Reader) async throws {
    let gate = Gate()
    try await cannotSay(reader, list(gate).setFailureType(to: Mishap.self), gate)
  }

  @Test("the list fails with a type that can say it", arguments: Reader.all)
  func cancellableFailure(_ reader: Reader) async throws {
    let gate = Gate()
    let list = list(gate).setFailureType(to: Loss.self)
    let task = await cancelled(reader, list, gate)
    await #expect(throws: Loss.cancelled) { try await task.value }
    #expect(gate.arrived == 1, "a reader that leaves starts nothing")
    gate.open()
    #expect(try await list.array() == [1, 2, 3])
  }

  @Test("the list fails with any error", arguments: Reader.all)
  func anyError(_ reader: Reader) async throws {
    let gate = Gate()
    let list = list(gate).setFailureType(to: (any Error).self)
    let task = await cancelled(reader, list, gate)
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(gate.arrived == 1, "a reader that leaves starts nothing")
    gate.open()
    #expect(try await list.array() == [1, 2, 3])
  }

  @Test("a stream that waits: it ends, or throws if it can")
  func streams() async throws {
    let gate = Gate()
    let list = list(gate)
    let queue = QueueScheduler(name: "walk")
    let part = Task {
      var count = 0
      for await _ in list.stream(on: queue) { count += 1 }
      return count
    }
    await gate.waitForArrivals(1)
    part.cancel()
    #expect(await part.value < 3)
    let read = Probe<Int>()
    let throwing = Task {
      for try await element in list.setFailureType(to: (any Error).self).stream(on: queue) {
        read.record(element)
      }
    }
    // It has taken what there is, and asks for more, or is about to.
    await read.waitForCount(1)
    for _ in 0..<10 { await Task.yield() }
    throwing.cancel()
    let result = await throwing.result
    #expect(read.count == 1)
    if case .failure(let error) = result { #expect(error is CancellationError) }
    gate.open()
  }

  @Test("a fold in step that waits for a slower reader has all elements, or throws")
  func lockstepBehindAnother() async throws {
    func answers<Failure: Error>(
      _ list: LazyList<Int, Failure>, throwing: Bool
    ) async -> Result<Int, any Error> {
      let readers = list.lockstep(readers: 2, maxLead: 1)
      let (one, other) = (readers[0], readers[1])
      let fold = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await one.count()
      }
      // With the other beside it, the fold may find all elements without a wait.
      if throwing { _ = await fold.result }
      let slow = Task { try await other.count() }
      _ = await slow.result
      return await fold.result
    }
    // Evaluated: the readers wait only for each other.
    let list = LazyList(1...5)
    _ = await list.count()
    #expect(try await answers(list, throwing: false).get() == 5)
    #expect(try await answers(list.setFailureType(to: Mishap.self), throwing: false).get() == 5)
    await #expect(throws: Loss.cancelled) {
      try await answers(list.setFailureType(to: Loss.self), throwing: true).get()
    }
    await #expect(throws: CancellationError.self) {
      try await answers(list.setFailureType(to: (any Error).self), throwing: true).get()
    }
  }

  @Test("a plain pass without an end stops soon, and throws what the failure has for it")
  func plainPass() async {
    let pulls = Counter()
    let task = Task {
      try await LazyList(state: 0) { (number: inout Int) -> Int? in
        pulls.increment()
        number += 1
        if number == 10 { withUnsafeCurrentTask { $0?.cancel() } }
        return number <= 1000 ? number : nil
      }.setFailureType(to: Loss.self).count()
    }
    await #expect(throws: Loss.cancelled) { try await task.value }
    #expect(pulls.value < 100)
  }

  @Test("a plain pass that cannot say it goes on to the true answer, in all its forms")
  func plainPassThatCannotSay() async throws {
    @Sendable func list() -> LazyList<Int, Mishap> {
      LazyList(state: 0) { (number: inout Int) -> Int? in
        number += 1
        if number == 10 { withUnsafeCurrentTask { $0?.cancel() } }
        return number <= 1000 ? number : nil
      }.setFailureType(to: Mishap.self)
    }
    let questions: [@Sendable () async throws -> Int] = [
      { try await list().count() },
      { try await list().array().count },
      { try await list().reduce(0) { (count, _) in count + 1 } },
      { try await list().map { $0 }.filter { $0 > 0 }.count() },
      { try await list().last() ?? 0 },
      { try await list().first { $0 == 1000 } ?? 0 },
      { try await list().lockstep(readers: 1, maxLead: 10)[0].count() },
    ]
    for (number, question) in questions.enumerated() {
      let answer = try await Task { try await question() }.value
      #expect(answer == 1000, "question \(number)")
    }
  }
}
