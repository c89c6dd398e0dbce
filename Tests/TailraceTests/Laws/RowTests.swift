import Tailrace
import TailraceTesting
import Testing

/// The laws of cancellation, isolation and context, for every operator.
@Suite("Cancellation, isolation, context: every operator", .timeLimit(.minutes(15)), .inTurn)
struct RowTests {
  /// 1, 2, 3 … 6; each step waits at a gate.
  private func gated(_ gate: Gate) -> Row.Source {
    Steps<Int, any Error>(6) { position in
      await gate.wait()
      return position + 1
    }.memoized()
  }

  @Test(
    "a reader that is cancelled while it waits leaves; the list is as it was", arguments: Row.all)
  func cancelledReader(_ row: Row) async throws {
    let gate = Gate()
    let list = row.apply(gated(gate), Calls())
    let readers: [@Sendable () async throws -> Void] = [
      { _ = try await list.count() },
      { for try await _ in list {} },
      { _ = try await list.array() },
      { _ = try await list.mapAsync { $0 }.count() },
    ]
    for reader in readers {
      let task = Task { try await reader() }
      // It is in its step, or behind it; the step is in flight, for certain.
      await gate.waitForArrivals(1)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    #expect(gate.arrived == 1, "readers that leave start nothing")
    gate.open()
    #expect(try await list.array() == row.elements)
  }

  @Test("where the failure can say it, a cancelled reader throws that", arguments: Row.all)
  func cancelledTypedReader(_ row: Row) async throws {
    let gate = Gate()
    let list = row.apply(gated(gate), Calls()).mapFailure { _ in Loss.lost }
    let readers: [@Sendable () async throws -> Void] = [
      { _ = try await list.count() },
      { for try await _ in list {} },
      { _ = try await list.lockstep(readers: 1, maxLead: 10)[0].count() },
    ]
    for reader in readers {
      let task = Task { try await reader() }
      await gate.waitForArrivals(1)
      task.cancel()
      await #expect(throws: Loss.cancelled) { try await task.value }
    }
    #expect(gate.arrived == 1, "readers that leave start nothing")
    gate.open()
    #expect(try await list.array() == row.elements)
  }

  @Test(
    "one of several readers that wait is cancelled, while it is really waiting", arguments: Row.all)
  func cancelledWaiter(_ row: Row) async throws {
    let gate = Gate()
    let list = row.apply(gated(gate), Calls())
    let stayer = Task { try await list.array() }
    await gate.waitForArrivals(1)
    // On one thread, who has yielded to a reader knows that it has got as far as it can.
    await OneThread.run {
      let leaver = Task(executorPreference: CallerExecutor.preferred) { try await list.count() }
      for _ in 0..<10 { await Task.yield() }
      leaver.cancel()
      await #expect(throws: CancellationError.self) { try await leaver.value }
    }
    gate.open()
    #expect(try await stayer.value == row.elements)
  }

  @Test("an iteration does not leave its actor", arguments: Row.all, SourceKind.allCases)
  @MainActor
  func isolation(_ row: Row, _ kind: SourceKind) async throws {
    let list = row.apply(kind.make(Probe()), Calls())
    for _ in 0..<2 {
      var seen: [Int] = []
      for try await element in list {
        MainActor.preconditionIsolated()
        seen.append(element)
      }
      MainActor.preconditionIsolated()
      #expect(seen == row.elements)
    }
  }

  @Test(
    "closures have the task-locals of the first demand", arguments: Row.all, SourceKind.allCases)
  func taskLocals(_ row: Row, _ kind: SourceKind) async throws {
    let calls = Calls()
    let list = ContextTests.$word.withValue("maker") { row.apply(kind.make(Probe()), calls) }
    let elements = try await ContextTests.$word.withValue("reader") { try await list.array() }
    #expect(elements == row.elements)
    #expect(Set(calls.words.values).isSubset(of: ["reader"]))
  }
}

/// Where the code that asks prefers to run.
enum CallerExecutor {
  static var preferred: (any TaskExecutor)? {
    guard #available(macOS 26.4, iOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *) else {
      return nil
    }
    return withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
  }
}
