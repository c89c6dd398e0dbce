import Foundation
import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

/// A reader that finds itself the only one of a list takes over what computes it, and keeps no cells. Here
/// another one leaves, or goes on, at that very moment.
///
/// `TAILRACE_MEETINGS` sets how many meet, `TAILRACE_SEED` where they begin.
@Suite(
  "Take-over: two readers of a list that nobody else holds, one of which leaves", .tags(.long),
  .hangLimit, .inTurn)
struct TakeOverTests {
  static let meetings = RandomCases.count(
    "TAILRACE_MEETINGS", usual: 2_500, debug: 30_000, optimised: 400_000, full: 10)

  // In a process of its own: what goes wrong here may be a trap, which would take the other tests along.
  @Test("each element reaches the one that stays")
  func leaving() async {
    let result = await #expect(
      processExitsWith: .success,
      observing: [\.standardOutputContent, \.standardErrorContent]
    ) {
      await TakeOverTests.meet(isPerturbed: false)
    }
    result.map(Self.report)
  }

  @Test("also where the tasks of asynchronous lists below are perturbed")
  func perturbed() async {
    let result = await #expect(
      processExitsWith: .success,
      observing: [\.standardOutputContent, \.standardErrorContent]
    ) {
      await TakeOverTests.meet(isPerturbed: true)
    }
    result.map(Self.report)
  }

  private static func report(_ result: ExitTest.Result) {
    guard result.exitStatus != .exitCode(EXIT_SUCCESS) else { return }
    for content in [result.standardOutputContent, result.standardErrorContent] {
      let lines = String(decoding: content, as: UTF8.self).split(separator: "\n")
      print(lines.suffix(8).joined(separator: "\n"))
    }
  }

  private static func meet(isPerturbed: Bool) async {
    let watch = HangWatch()
    await Duo.run { duo in
      for meeting in 0..<(isPerturbed ? meetings / 20 : meetings) {
        let seed = RandomCases.firstSeed &+ UInt64(meeting)
        var generator = SeededGenerator(seed: seed)
        let reading = SharedReading(&generator, isPerturbed: isPerturbed)
        watch.begins { "TAILRACE_SEED=\(seed): \(reading)" }
        guard let problem = await reading.problem(duo) else { continue }
        print("TAILRACE_SEED=\(seed), meeting \(meeting): \(problem): \(reading)")
        fflush(nil)
        exit(EXIT_FAILURE)
      }
    }
    watch.stop()
  }
}

/// Two readers of one list.
private struct SharedReading: Sendable {
  enum Source: CaseIterable { case range, state, array, concatenation, filter, flatMap, recursive }
  enum Layer: CaseIterable { case map, filter, dropFirst, prefix, appended, async }
  enum Reading: CaseIterable { case elements, array, reduce, spans, rest }

  let source: Source
  /// Between the source and the list that both read.
  let below: [Layer]
  /// Between that list and each of the readers.
  let above: [[Layer]]
  let stays: Reading
  /// After how many elements the other leaves.
  let leavesAfter: Int
  let length: Int
  /// How long each of them hesitates.
  let pauses: [Int]
  let executorSeed: UInt64?

  init(_ generator: inout SeededGenerator, isPerturbed: Bool) {
    source = Source.allCases.randomElement(using: &generator)!
    let layers = isPerturbed ? Layer.allCases : Layer.allCases.dropLast()
    func random(upTo count: Int, _ generator: inout SeededGenerator) -> [Layer] {
      (0..<Int.random(in: 0...count, using: &generator)).map { _ in
        Bool.random(using: &generator) ? .map : layers.randomElement(using: &generator)!
      }
    }
    below = random(upTo: 3, &generator)
    above = [random(upTo: 4, &generator), random(upTo: 1, &generator)]
    stays = Reading.allCases.randomElement(using: &generator)!
    length = Int.random(in: 1...20, using: &generator)
    leavesAfter = Int.random(in: 0...length, using: &generator)
    pauses = (0..<2).map { _ in
      Bool.random(using: &generator) ? 0 : Int.random(in: 0...60, using: &generator)
    }
    executorSeed = isPerturbed ? UInt64.random(in: 0...9, using: &generator) : nil
  }

  typealias List = LazyList<Int, Never>

  private func list() -> List {
    let length = length
    let list: List =
      switch source {
      case .range: List(0..<length).map { $0 }
      case .state:
        List(state: 0) { position -> Int? in
          position += 1
          return position <= length ? position - 1 : nil
        }
      case .array: Array(0..<length).lazyList.map { $0 }
      case .concatenation: List(0..<length / 2) + List(length / 2..<length).map { $0 }
      case .filter: List(0..<length * 2).filter { $0 % 2 == 0 }.map { $0 / 2 }
      case .flatMap: List(0..<length).flatMap { [$0] }
      case .recursive: .recursive { _ in List(0..<length).map { $0 } }
      }
    return below.reduce(list) { $1.applied(to: $0, length) }
  }

  /// Describes the error of a reader, if one has other elements than it should.
  func problem(_ duo: Duo) async -> String? {
    let seats: (Seat, Seat)
    do {
      let list = list()
      seats = (
        Seat(above[0].reduce(list) { $1.applied(to: $0, length) }),
        Seat(above[1].reduce(list) { $1.applied(to: $0, length) })
      )
    }
    let (stays, leavesAfter) = (stays, leavesAfter)
    let (first, second) = seats
    let executor = executorSeed.map { PerturbingExecutor(seed: $0, reordering: 2) }
    let (staying, leaving) = await duo.together(pauses) {
      guard let executor else { return await stays.read(first.take()) }
      return await withTaskExecutorPreference(executor) { await stays.read(first.take()) }
    } _: {
      // The list goes with the reader.
      var iterator = second.take().makeAsyncIterator()
      var seen: [Int] = []
      while seen.count < leavesAfter, let element = await iterator.next(isolation: nil) {
        seen.append(element)
      }
      return seen
    }
    let all = Array(0..<length)
    if staying != all { return "the one that stays has \(staying)" }
    return leaving == Array(all.prefix(leavesAfter)) ? nil : "the one that leaves has \(leaving)"
  }
}

extension SharedReading.Layer {
  fileprivate func applied(to list: consuming LazyList<Int, Never>, _ length: Int) -> LazyList<
    Int, Never
  > {
    switch self {
    case .map: list.map { $0 }
    case .filter: list.filter { $0 >= 0 }
    case .dropFirst: list.prepending(-1).dropFirst(1)
    case .prefix: list.prefix(length)
    case .appended: list + []
    case .async: list.mapAsync { $0 }
    }
  }
}

extension SharedReading.Reading {
  fileprivate func read(_ list: consuming LazyList<Int, Never>) async -> [Int] {
    switch self {
    case .elements:
      var (iterator, seen) = (list.makeAsyncIterator(), [Int]())
      while let element = await iterator.next(isolation: nil) { seen.append(element) }
      return seen
    case .array: return await list.array()
    case .reduce: return await list.reduce(into: []) { $0.append($1) }
    case .spans:
      let seen = Locked([Int]())
      await list.forEachSpan { span in
        for index in span.indices {
          let element = span[index]
          seen.withLock { $0.append(element) }
        }
      }
      return seen.withLock { $0 }
    case .rest:
      guard let (head, tail) = await list.uncons() else { return [] }
      return [head] + (await tail.array())
    }
  }
}

/// A list that is handed to a reader, and to nobody else.
// Guard: one task makes it, another one takes it afterwards. May touch it: these.
private final class Seat: @unchecked Sendable {
  private var list: LazyList<Int, Never>?

  init(_ list: consuming LazyList<Int, Never>) { self.list = list }

  func take() -> LazyList<Int, Never> {
    defer { list = nil }
    return list ?? .empty
  }
}
