import Foundation
import Tailrace
import TailraceTesting
import Testing
import TraceReading

@testable import TailraceInspection

// Other tests run at the same time, in this process: each records its own lists only.
@Suite("A recording", .serialized, .inTurn)
struct RecordingTests {
  @Test("has each element computed once, and by whom", .hangLimit)
  func once() async throws {
    let recording = Recording.start(limit: .max, of: { $0.hasPrefix("once") })
    let source = LazyList(0..<300).map { $0 + 1 }.named("once: source")
    let list = source.map { (number: Int) async -> Int in
      if number % 50 == 0 { await Task.yield() }
      return number
    }.named("once: list")
    await withTaskGroup { group in
      for reader in 0..<4 {
        group.addTask(name: "once: reader \(reader)") {
          for await _ in reader % 2 == 0 ? source : list {}
        }
      }
    }
    recording.stop()
    let trace = try ViewedTrace(recording)
    #expect(trace.computed("once: source") == Array(0..<300))
    #expect(trace.computed("once: list") == Array(0..<300))
    #expect(trace.isNested)
    #expect(trace.hasWholeArrows)
    // A reader that finds everything computed leaves no trace.
    #expect(trace.tracks.contains { $0.hasPrefix("once: reader") })
    #expect(trace.tracks.contains("once: list"), "the list's task has its name")
    let task = try #require(trace.events("compute", of: "once: list").first?.tid)
    #expect(trace.events("compute", of: "once: list").allSatisfy { $0.tid == task })
    #expect(trace.otherData.droppedEvents == 0)
  }

  @Test("has elements that were computed in bulk")
  func bulk() async throws {
    let recording = Recording.start(limit: .max, of: { $0.hasPrefix("bulk") })
    let list = LazyList(0..<300).map { $0 }.named("bulk")
    #expect(await list.array().count == 300)
    withExtendedLifetime(list) { recording.stop() }
    let trace = try ViewedTrace(recording)
    #expect(trace.computed("bulk") == Array(0..<300))
    #expect(trace.events("compute", of: "bulk").count < 20)
  }

  @Test("counts no element of a list that goes on as another one", arguments: [7, 8, 9, 24, 25])
  func goingOnAsAnother(_ count: Int) async throws {
    let recording = Recording.start(limit: .max, of: { $0.hasPrefix("continued") })
    let list = (LazyList(0..<count).map { $0 } + .just(9)).named("continued")
    for await _ in list {}
    withExtendedLifetime(list) { recording.stop() }
    let computed = try ViewedTrace(recording).computed("continued")
    #expect(computed == Array(0..<count))
  }

  @Test("sees who waits, and for what", .hangLimit)
  func waits() async throws {
    let recording = Recording.start(limit: .max, of: { $0.hasPrefix("waits") })
    let gate = Gate()
    let list = LazyList(state: 0) { state in
      await gate.wait()
      state += 1
      return state
    }.named("waits")
    let derived = list.map { $0 + 1 }.named("waits: derived")
    let first = Task(name: "waits: first") { await derived.head() }
    await gate.waitForArrivals(1)
    let second = Task(name: "waits: second") { () -> Int? in
      for await element in list { return element }
      return nil
    }
    while try ViewedTrace(recording).events("demand", of: "waits").isEmpty { await Task.yield() }
    second.cancel()
    #expect(await second.value == nil)
    gate.open()
    #expect(await first.value == 2)
    withExtendedLifetime(list) { recording.stop() }
    let trace = try ViewedTrace(recording)
    let waits = trace.events("wait", of: "waits: derived")
    #expect(waits.contains { $0.args?.waitsFor == "waits 0" && $0.args?.position == 0 })
    #expect(waits.allSatisfy { $0.ph == "X" && $0.dur != nil && $0.args?.outcome != nil })
    #expect(trace.events("cancel", of: "waits").map(\.ph) == ["i"])
    #expect(trace.events("demand", of: "waits").map { $0.args?.outcome } == ["suspended"])
    #expect(trace.isNested)
  }

  @Test("has what is going on when it stops, and nothing afterwards", .hangLimit)
  func stopping() async throws {
    let recording = Recording.start(limit: .max, of: { $0.hasPrefix("stopping") })
    let gate = Gate()
    let list = LazyList(first: 1) { (last) async -> Int? in
      await gate.wait()
      return last + 1
    }.named("stopping")
    let reader = Task { await list.element(at: 1) }
    await gate.waitForArrivals(1)
    recording.stop()
    let text = recording.chromeTrace()
    gate.open()
    #expect(await reader.value == 2)
    #expect(await list.element(at: 300) == 301)
    #expect(recording.chromeTrace() == text)
    let going = try ViewedTrace(recording).events("compute", of: "stopping").last
    #expect(going?.args?.isGoingOn == true)
    recording.stop()
    #expect(recording.chromeTrace() == text)
  }

  @Test(
    "has no steps of lists that were made before, but what happens to their readers", .hangLimit)
  func before() async throws {
    let gate = Gate()
    let plain = LazyList(0...).map { $0 }.named("before: plain")
    let suspended = LazyList(first: 1) { (last) async -> Int? in
      await gate.wait()
      return last + 1
    }.named("before: suspended")
    let recording = Recording.start(limit: .max, of: { $0.hasPrefix("before") })
    #expect(await plain.element(at: 500) == 500)
    let reader = Task { await suspended.element(at: 1) }
    await gate.waitForArrivals(1)
    let cancelled = Task { for await element in suspended where element > 1 { return } }
    cancelled.cancel()
    await cancelled.value
    gate.open()
    #expect(await reader.value == 2)
    recording.stop()
    let trace = try ViewedTrace(recording)
    #expect(trace.computed("before: plain").isEmpty)
    #expect(trace.events("compute", of: "before: suspended").isEmpty)
    #expect(trace.events("demand", of: "before: suspended").isEmpty)
    #expect(trace.events("cancel", of: "before: suspended").count == 1)
  }

  @Test("has the steps of a list that was made meanwhile in a later recording, at their positions")
  func later() async throws {
    let first = Recording.start(limit: .max, of: { $0.hasPrefix("later") })
    let list = LazyList(0...).map { $0 }.named("later")
    _ = await list.element(at: 4)
    first.stop()
    _ = await list.element(at: 99)
    let second = Recording.start(limit: .max, of: { $0.hasPrefix("later") })
    _ = await list.element(at: 199)
    second.stop()
    #expect(try ViewedTrace(first).computed("later") == Array(0...4))
    #expect(try ViewedTrace(second).computed("later") == Array(100...199))
  }

  @Test("has the steps of lists that are fused with their only reader")
  func fused() async throws {
    let recording = Recording.start(limit: .max, of: { $0.hasPrefix("fused") })
    let sum = await LazyList(0..<100).map { $0 }.named("fused: inner").filter { $0 % 2 == 0 }
      .named("fused: outer").reduce(0, +)
    recording.stop()
    #expect(sum == 2450)
    let trace = try ViewedTrace(recording)
    #expect(trace.computed("fused: inner") == Array(0..<100))
    #expect(trace.computed("fused: outer") == Array(0..<50))
    #expect(trace.isNested)
  }

  @Test("releases a list that is not read to its end, and one that never was")
  func unread() async {
    let recording = Recording.start(limit: .max, of: { $0.hasPrefix("unread") })
    let instances = InstanceCounter()
    do {
      let read = LazyList(state: instances.member()) { _ in 1 }.map { $0 }.named("unread: a part")
      _ = await read.element(at: 20)
      _ = LazyList(state: instances.member()) { _ in 1 }.map { $0 }.named("unread")
      let fused = LazyList(state: instances.member()) { _ in 1 }.named("unread: fused")
      _ = await fused.map { $0 }.contains(1)
      #expect(instances.alive > 0)
    }
    #expect(instances.alive == 0, "while the recording goes on")
    recording.stop()
  }

  @Test("keeps no more than it is told to, and counts the others", arguments: [0, 1, 10])
  func limit(_ limit: Int) async throws {
    let recording = Recording.start(limit: limit, of: { $0 == "limit \(limit)" })
    let list = LazyList(0...).map { $0 }.named("limit \(limit)")
    for index in 0..<100 { _ = await list.element(at: index) }
    recording.stop()
    #expect(recording.droppedCount == 100 - limit)
    let trace = try ViewedTrace(recording)
    #expect(trace.traceEvents.count { $0.cat != nil && $0.ph != "s" && $0.ph != "f" } == limit)
    #expect(trace.otherData.droppedEvents == recording.droppedCount)
  }

  @Test("keeps no list alive, and lets a step in flight be given up", .hangLimit)
  func space() async throws {
    let recording = Recording.start(limit: .max, of: { $0.hasPrefix("space") })
    let (gate, instances) = (Gate(), InstanceCounter())
    do {
      let list = LazyList(state: instances.member()) { _ in
        await gate.wait()
        return Task.isCancelled ? 0 : 1
      }.named("space")
      let reader = Task { for await _ in list { return } }
      await gate.waitForArrivals(1)
      reader.cancel()
      await reader.value
    }
    gate.open()
    await instances.waitUntilEmpty()
    recording.stop()
    let notes = try ViewedTrace(recording).events("cancel", of: "space").map(\.name)
    #expect(notes == ["cancelled before space 0", "given up space 0"])
  }

  @Test("escapes what means something in JSON")
  func escapes() async throws {
    let name = "a \"b\" \\ \n\t\u{1} 日本 </script>"
    let recording = Recording.start(limit: .max, of: { $0 == name })
    let list = LazyList(0..<3).map { $0 }.named(name)
    for await _ in list {}
    withExtendedLifetime(list) { recording.stop() }
    #expect(try ViewedTrace(recording).computed(name) == [0, 1, 2])
  }

  @Test("changes no result", .hangLimit, arguments: Row.all, SourceKind.allCases)
  func rows(_ row: Row, _ kind: SourceKind) async throws {
    let recording = Recording.start(limit: 1000)
    defer { recording.stop() }
    let list = row.apply(kind.make(Probe()), Calls())
    async let first = list.array()
    var second: [Int] = []
    for try await element in list { second.append(element) }
    #expect(try await first == row.elements)
    #expect(second == row.elements)
  }
}

extension ViewedTrace {
  fileprivate init(_ recording: Recording) throws {
    try self.init(json: Data(recording.chromeTrace().utf8))
  }
}
