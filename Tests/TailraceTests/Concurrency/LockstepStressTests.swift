import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@Suite("Readers in step, many of them", .hangLimit, .inTurn)
struct LockstepStressTests {
  static let size: (readers: Int, elements: Int, rounds: Int) = {
    #if DEBUG
      (Size.usual(100, full: 200), 300, Size.usual(2, full: 3))
    #else
      (2_000, 500, 20)
    #endif
  }()

  /// How a reader of a crowd goes on.
  enum Fate: CaseIterable {
    case reads, stops, isCancelled, isLetGoOf, cancelsItself
  }

  @Test(
    "a crowd of which each stops, is cancelled or is let go of somewhere", arguments: [1, 7, 1_000])
  func crowd(_ distance: Int) async {
    let (readers, elements, rounds) = Self.size
    var generator = SeededGenerator(seed: RandomCases.firstSeed)
    for round in 0..<rounds {
      let fates = (0..<readers).map { _ in
        (
          Fate.allCases.randomElement(using: &generator) ?? .reads,
          Int.random(in: 0...elements, using: &generator)
        )
      }
      let tasks = Self.tasks(fates, elements, distance, isAsync: round % 2 == 1)
      for (task, fate) in zip(tasks, fates) where fate.0 == .isCancelled { task.cancel() }
      for (task, fate) in zip(tasks, fates) {
        let got = await task.value
        #expect(got == Array(0..<got.count), "all elements from the first on")
        switch fate.0 {
        case .reads: #expect(got.count == elements)
        case .stops: #expect(got.count == fate.1)
        case .isLetGoOf: #expect(got.isEmpty)
        case .isCancelled: break
        case .cancelsItself: #expect(got.count >= fate.1)
        }
      }
    }
  }

  /// Nobody but its task holds a reader then.
  private static func tasks(
    _ fates: [(Fate, Int)], _ elements: Int, _ distance: Int, isAsync: Bool
  ) -> [Task<[Int], Never>] {
    let list =
      isAsync
      ? LazyList(0..<elements).mapAsync { number in
        if number % 16 == 0 { await Task.yield() }
        return number
      } : LazyList(0..<elements).map { $0 }
    return zip(list.lockstep(readers: fates.count, maxLead: distance), fates).map { reader, fate in
      Task { await read(reader, fate.0, fate.1) }
    }
  }

  private static func read(
    _ reader: LockstepReader<Int, Never>, _ fate: Fate, _ limit: Int
  ) async -> [Int] {
    var got: [Int] = []
    if fate == .isLetGoOf || fate == .stops && limit == 0 { return got }
    if fate == .cancelsItself, limit == 0 { withUnsafeCurrentTask { $0?.cancel() } }
    for await number in reader {
      got.append(number)
      if fate == .stops, got.count == limit { break }
      if fate == .cancelsItself, got.count == limit { withUnsafeCurrentTask { $0?.cancel() } }
      if number % 64 == 0 { await Task.yield() }
    }
    return got
  }

  /// How far apart the readers of a group are seen to be.
  private final class Spread: Sendable {
    private let places: Locked<(finished: [Int], widest: Int)>

    init(_ readers: Int) { places = Locked((Array(repeating: 0, count: readers), 0)) }

    /// A reader is about to ask for the element behind so many.
    func finished(_ reader: Int, _ count: Int) { places.withLock { $0.finished[reader] = count } }

    func evaluated(_ number: Int) {
      places.withLock { $0.widest = max($0.widest, number - ($0.finished.min() ?? 0)) }
    }

    var widest: Int { places.withLock { $0.widest } }
  }

  @Test("nothing is computed beyond the distance", arguments: [(2, 1), (3, 10), (8, 64)])
  func spread(_ readers: Int, _ distance: Int) async {
    let spread = Spread(readers)
    let crowd = LazyList(0..<Size.usual(1_000, full: 5_000)).map { number in
      spread.evaluated(number)
      return number
    }.lockstep(readers: readers, maxLead: distance)
    await withTaskGroup { group in
      for (reader, numbers) in crowd.enumerated() {
        group.addTask {
          for await number in numbers {
            if number == 100 * (reader + 1) { await Task.yield() }
            spread.finished(reader, number + 1)
          }
          spread.finished(reader, .max / 2)
        }
      }
    }
    // The slowest may have been given an element that it has not noted yet.
    #expect(spread.widest < distance + 1)
    #expect(spread.widest > 0)
  }

  @Test("failures that are retried, under readers of which some give up")
  func retried() async {
    struct Mishap: Error {}
    let calls = Counter()
    let list = LazyList(0..<400).map(retryingFailures: true) { (number: Int) async throws -> Int in
      if number % 3 == 0 { await Task.yield() }
      if calls.increment() % 5 == 0 { throw Mishap() }
      return number
    }
    let readers = list.lockstep(readers: 20, maxLead: 4)
    await withTaskGroup { group in
      for (number, reader) in readers.enumerated() {
        group.addTask {
          var got: [Int] = []
          var patience = number < 10 ? Int.max : number
          var iterator = reader.makeAsyncIterator()
          while patience > 0 {
            do {
              guard let element = try await iterator.next() else { break }
              got.append(element)
            } catch {
              patience -= 1
            }
          }
          #expect(got == Array(0..<got.count))
          #expect(got.count == 400 || patience == 0)
        }
      }
    }
  }
}
