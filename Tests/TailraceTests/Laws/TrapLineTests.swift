import Foundation
import Tailrace
import TailraceFoundation
import TailraceTesting
import Testing

/// A programmer's error stops the program with words, at the line that the programmer wrote.
@Suite("Traps name the caller's line", .inTurn)
struct TrapLineTests {
  /// Whether the words say what is wrong, and where.
  static func check(
    _ result: ExitTest.Result?, _ line: Int, _ words: String,
    at location: SourceLocation = #_sourceLocation
  ) {
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let (place, call) = ("TailraceTests/TrapLineTests.swift:\(line)", words)
    #expect(said.contains(place) && said.contains(call), "\(said)", sourceLocation: location)
  }

  @Test("of lists")
  func lists() async {
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = LazyList(1...3).suffix(-1)
      }, #line - 2, "LazyList.suffix(_:)")
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = LazyList(1...3).windows(ofCount: 0)
      }, #line - 2, "LazyList.windows(ofCount:)")
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = LazyList.repeating(1, count: -1)
      }, #line - 2, "LazyList.repeating(_:count:)")
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = LazyList(1...3).concurrentMap(limit: 0) { (number: Int) async -> Int in number }
      }, #line - 2, "LazyList.concurrentMap(limit:_:)")
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = await LazyList(1...3).element(at: -1)
      }, #line - 2, "LazyList.element(at:)")
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = URL(filePath: "/dev/null").lazyChunks(upTo: 0)
      }, #line - 2, "lazyChunks(upTo:)")
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = FileHandle.nullDevice.lazyChunks(upTo: 0)
      }, #line - 2, "lazyChunks(upTo:)")
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = LazyList(1...3).lockstep(readers: 0, maxLead: 1)
      }, #line - 2, "LazyList.lockstep(readers:maxLead:) makes 1 or more readers, not 0")
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = LazyList(1...3).lockstep(readers: 1, maxLead: 0)
      }, #line - 2, "keeps readers within a distance of 1 or more, not 0")
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let readers = LazyList(1...3).lockstep(readers: 2, maxLead: 1) { _ in -1 }
        for await _ in readers[0] {}
      }, #line - 3, "the cost of an element in LazyList.lockstep(readers:maxLead:cost:)")
  }

  @Test("of tuples and memos")
  func values() async {
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = Tuple(1, "tea")[-1]
      }, #line - 2, "Tuple[_:]")
    // The line is that of the closure, which gives the cost.
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let memos = Memos<Int, Int, Never>(capacity: .cost(10) { -$0 }) { (key: Int) in key }
        _ = await memos.value(for: 1)
      }, #line - 3, "the cost of a value of Memos")
  }

  @Test("of virtual time and its marbles")
  func virtual() async {
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let scheduler = VirtualScheduler()
        scheduler.schedule { scheduler.advance(by: .seconds(1)) }
        scheduler.run()
      }, #line - 4, "VirtualScheduler: advanced while")
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = VirtualScheduler().source("a-#")
      }, #line - 2, "MarbleSource:")
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = VirtualScheduler().record(LazyList(1...2), every: .zero)
      }, #line - 2, "MarbleRecording:")
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = Marbles([[.completed], [.element("late")]])
      }, #line - 2, "Marbles:")
  }

  /// Whether the words are there, and stand behind no line of the package's own files.
  static func checkAnywhere(
    _ result: ExitTest.Result?, _ words: String, at location: SourceLocation = #_sourceLocation
  ) {
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("Tailrace:0: Fatal error: \(words)"), "\(said)", sourceLocation: location)
  }

  @Test("or, where a protocol leaves no room for it, no line")
  func anywhere() async {
    Self.checkAnywhere(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = EagerList(1...3)[3]
      }, "EagerList[_:] has no element at index 3: its indices are 0..<3")
    Self.checkAnywhere(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = EagerList(1...3)[2..<4]
      }, "EagerList[_:] has no part 2..<4: its indices are 0..<3")
    Self.checkAnywhere(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let signal = Signal<Int, Never>(bufferingPolicy: .bufferingOldest(-1)) { $0.complete() }
        _ = await signal.array()
      }, "a Signal's bufferingPolicy keeps 0 elements or more, not -1")
    Self.checkAnywhere(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let reader = LazyList(1...3).lockstep(readers: 1, maxLead: 1)[0]
        for await _ in reader {}
        for await _ in reader {}
      }, "LockstepReader<Int> is read once")
    Self.checkAnywhere(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = await LazyList.recursive { list in list.map { $0 + 1 } }.named("itself").head()
      }, "element 0 of a LazyList needs itself")
    Self.checkAnywhere(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        QueueScheduler(name: "elsewhere").checkIsolated()
      }, "QueueScheduler \"elsewhere\": this code is isolated to an actor")
  }

  @Test("of signals and schedulers")
  func others() async {
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = Signal<Int, Never>.makeSignal(replaying: -1)
      }, #line - 2, "makeSignal(replaying:)")
    Self.check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = ImmediateScheduler.shared.ticks(every: .zero)
      }, #line - 2, "ticks(every:)")
  }
}
