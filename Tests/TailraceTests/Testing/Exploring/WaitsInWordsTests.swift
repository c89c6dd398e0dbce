import Tailrace
import TailraceTesting
import Testing

@Suite("explore: who waits for what, when nothing can run", .hangLimit, .inTurn)
struct WaitsInWordsTests {
  static func lines(
    _ body: @escaping @Sendable (ExplorationRun) async throws -> Void
  ) async throws -> [String] {
    let failure = try await ExplorationFailureTests.failure(body: body)
    guard case .stuck = failure.reason else { throw failure }
    return failure.report.split(separator: "\n").filter { $0.contains(" waits for ") }
      .map { $0.trimmingPrefix { $0 == " " } }.map(String.init)
  }

  /// A list whose steps never end.
  private static func endless() -> LazyList<Int, Never> {
    LazyList(state: 0) { _ async in
      await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
      return 1
    }
  }

  struct Wait: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let body: @Sendable () async throws -> Void

    init(_ words: String, _ body: @escaping @Sendable () async throws -> Void) {
      (testDescription, self.body) = (words, body)
    }
  }

  static let waits = [
    Wait("a closed Gate") { await Gate().wait() },
    Wait("arrival 2 at a Gate (so far 0)") { await Gate().waitForArrivals(2) },
    Wait("value 3 of a Probe<Int> (so far 0)") { await Probe<Int>().waitForCount(3) },
    Wait("2 sleepers on a VirtualScheduler") { await VirtualScheduler().waitForSleepers(2) },
    Wait("work on a scheduler") {
      try await VirtualScheduler().clock.sleep(for: .seconds(1))
    },
    Wait("a InstanceCounter to be released (alive 1)") {
      let instances = InstanceCounter()
      let member = instances.member(1)
      await instances.waitUntilEmpty()
      withExtendedLifetime(member) {}
    },
    Wait("element 0 of LazyList<Int>") { _ = await endless().head() },
    Wait("element 0 of names") { _ = await endless().named("names").head() },
    Wait("an element of Signal<Int>") {
      let (signal, subscriber) = Signal<Int, Never>.makeSignal()
      for await _ in signal {}
      withExtendedLifetime(subscriber) {}
    },
    Wait("room in Signal<Int>") {
      let (signal, subscriber) = Signal<Int, Never>.makeSignal(bufferingPolicy: .bufferingOldest(1))
      let iterator = signal.makeAsyncIterator()
      for number in 1...3 { await subscriber.send(whenReady: number) }
      withExtendedLifetime(iterator) {}
    },
    Wait("the other readers of a list read in step") {
      let readers = LazyList(1...9).lockstep(readers: 2, maxLead: 1)
      for await _ in readers[0] {}
      withExtendedLifetime(readers) {}
    },
  ]

  @Test("each that waits", arguments: waits)
  func each(_ wait: Wait) async throws {
    let lines = try await Self.lines { run in
      await run.spawn(name: "reader") { try? await wait.body() }.value
    }
    #expect(
      lines == [
        "reader waits for \(wait.testDescription)",
        "body waits for something that does not say so: a task, a continuation, or a stream",
      ])
  }

  @Test("memos name the key")
  func memos() async throws {
    let lines = try await Self.lines { _ in
      let memos = Memos { (_: String) async in await Self.endless().head() }
      _ = await memos.value(for: "a page")
    }
    #expect(lines.contains { $0.hasPrefix("body waits for element 0 of") && $0.contains("a page") })
  }

  @Test("objects of one name are numbered, and the same one has one number")
  func numbers() async throws {
    let lines = try await Self.lines { run in
      let (first, second) = (Gate(), Gate())
      run.spawn(name: "a") { await first.wait() }
      run.spawn(name: "b") { await second.wait() }
      run.spawn(name: "c") { await first.wait() }
      withExtendedLifetime((first, second)) {}
    }
    #expect(
      lines.prefix(3) == [
        "a waits for a closed Gate #1", "b waits for a closed Gate #2",
        "c waits for a closed Gate #1",
      ])
  }

  @Test("a wait that is over is not told, and outside of a run nothing is kept")
  func over() async throws {
    let gate = Gate()
    gate.open()
    let lines = try await Self.lines { run in
      await gate.wait()
      await run.spawn(name: "reader") { await Gate().wait() }.value
    }
    #expect(lines.count { $0.contains("Gate") } == 1)
    await gate.wait()
  }
}
