import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

/// Where the readers run: a closure that leaves it is noticed, as it is not on the main actor.
@globalActor
private actor ReaderActor {
  static let shared = ReaderActor()
}

/// What a reader's closure sees of the context in which it is called.
private final class Witness: Sendable {
  let tasks = Probe<Int?>()
  let words = Probe<String>()
  let cancellations = Probe<Bool>()
  private let isIsolated: Bool
  private let cancelsAt: Int?

  /// - Parameters:
  ///   - isIsolated: whether a closure that leaves the readers' actor traps.
  ///   - cancelsAt: the call that cancels the running task.
  init(isIsolated: Bool = false, cancelsAt: Int? = nil) {
    (self.isIsolated, self.cancelsAt) = (isIsolated, cancelsAt)
  }

  func sees<Result>(_ result: Result) -> Result {
    if isIsolated {
      ReaderActor.shared.preconditionIsolated("a reader's closure left the reader's actor")
    }
    tasks.record(Self.task)
    words.record(ContextTests.word)
    if tasks.count == cancelsAt { withUnsafeCurrentTask { $0?.cancel() } }
    cancellations.record(Task.isCancelled)
    return result
  }

  static var task: Int? { withUnsafeCurrentTask { $0?.hashValue } }
}

/// A call that runs a closure for the elements that it reads.
private struct ReadingCall: Sendable, Testing.CustomTestStringConvertible {
  typealias Run = @ReaderActor @Sendable (consuming Row.Source, Witness) async throws -> Void

  let testDescription: String
  let run: Run

  init(_ name: String, _ run: @escaping Run) { (testDescription, self.run) = (name, run) }
}

/// An element whose sum is a closure of its user's, too.
private struct Amount: AdditiveArithmetic, Sendable {
  static let zero = Amount(value: 0)
  var value: Int
  var witness: Witness?

  static func + (left: Amount, right: Amount) -> Amount {
    let witness = right.witness ?? left.witness
    return Amount(value: witness?.sees(left.value + right.value) ?? 0, witness: witness)
  }

  static func - (left: Amount, right: Amount) -> Amount { Amount(value: left.value - right.value) }
  static func == (left: Amount, right: Amount) -> Bool { left.value == right.value }
}

extension ReadingCall {
  fileprivate static let all: [ReadingCall] = folds + searches + orders + others

  private static let folds = [
    ReadingCall("reduce") { list, by in _ = try await list.reduce(0) { by.sees($0 + $1) } },
    ReadingCall("reduce, throwing") { list, by in
      _ = try await list.reduce(0) { (sum, element) throws in by.sees(sum + element) }
    },
    ReadingCall("reduce, async") { list, by in
      _ = try await list.reduce(0) { (sum, element) async in by.sees(sum + element) }
    },
    ReadingCall("reduce(into:)") { list, by in
      _ = try await list.reduce(into: 0) { by.sees($0 += $1) }
    },
    ReadingCall("reduce(into:), async") { list, by in
      _ = try await list.reduce(into: 0) { (sum: inout Int, element) async in
        by.sees(sum += element)
      }
    },
    ReadingCall("count(where:)") { list, by in
      _ = try await list.count { by.sees($0 > 2) }
    },
    ReadingCall("count(where:), async") { list, by in
      _ = try await list.count { (element) async in by.sees(element > 2) }
    },
    ReadingCall("forEach") { list, by in try await list.forEach { by.sees(_ = $0) } },
    ReadingCall("forEach, throwing") { list, by in
      try await list.forEach { (element) throws in by.sees(_ = element) }
    },
    ReadingCall("forEach, async") { list, by in
      try await list.forEach { (element) async in by.sees(_ = element) }
    },
    ReadingCall("sum") { list, by in
      _ = try await list.map { Amount(value: $0, witness: by) }.sum()
    },
    ReadingCall("forEachSpan") { list, by in
      try await list.forEachSpan { span in
        for _ in span.indices { by.sees(()) }
      }
    },
    ReadingCall("foldRight") { list, by in
      _ = try await list.foldRight(0) { (first, rest) async throws in
        by.sees(first) + (try await rest.value())
      }
    },
  ]

  private static let searches = [
    ReadingCall("first(where:)") { list, by in
      _ = try await list.first { by.sees($0 > 9) }
    },
    ReadingCall("first(where:), async") { list, by in
      _ = try await list.first { (element) async in by.sees(element > 9) }
    },
    ReadingCall("contains(where:)") { list, by in
      _ = try await list.contains { by.sees($0 > 9) }
    },
    ReadingCall("contains(where:), async") { list, by in
      _ = try await list.contains { (element) async in by.sees(element > 9) }
    },
    ReadingCall("allSatisfy") { list, by in
      _ = try await list.allSatisfy { by.sees($0 < 9) }
    },
    ReadingCall("allSatisfy, async") { list, by in
      _ = try await list.allSatisfy { (element) async in by.sees(element < 9) }
    },
  ]

  private static let orders = [
    ReadingCall("min(by:)") { list, by in _ = try await list.min { by.sees($0 < $1) } },
    ReadingCall("min(by:), async") { list, by in
      _ = try await list.min { (one, other) async in by.sees(one < other) }
    },
    ReadingCall("max(by:)") { list, by in _ = try await list.max { by.sees($0 < $1) } },
    ReadingCall("max(by:), async") { list, by in
      _ = try await list.max { (one, other) async in by.sees(one < other) }
    },
    ReadingCall("elementsEqual(by:)") { list, by in
      _ = try await list.elementsEqual(Row.Source(1...6)) { by.sees($0 == $1) }
    },
  ]

  private static let others = [
    ReadingCall("an iteration") { list, by in
      for try await element in list { by.sees(_ = element) }
    },
    ReadingCall("eager().map, async") { list, by in
      _ = try await list.eager().map { (element) async in by.sees(element) }
    },
    ReadingCall("a reader in lockstep: reduce") { list, by in
      _ = try await list.lockstep(readers: 1, maxLead: 2)[0].reduce(0) { by.sees($0 + $1) }
    },
    ReadingCall("a reader in lockstep: forEach, async") { list, by in
      try await list.lockstep(readers: 1, maxLead: 2)[0].forEach { (element) async in
        by.sees(_ = element)
      }
    },
    ReadingCall("a reader in lockstep: first(where:)") { list, by in
      _ = try await list.lockstep(readers: 1, maxLead: 2)[0].first { by.sees($0 > 9) }
    },
    ReadingCall("a signal: reduce(into:)") { list, by in
      _ = try await list.signal(on: ImmediateScheduler.shared).reduce(into: 0) { by.sees($0 += $1) }
    },
    ReadingCall("a signal: max(by:)") { list, by in
      _ = try await list.signal(on: ImmediateScheduler.shared).max { by.sees($0 < $1) }
    },
    ReadingCall("a signal: allSatisfy, async") { list, by in
      _ = try await list.signal(on: ImmediateScheduler.shared).allSatisfy { (element) async in
        by.sees(element < 9)
      }
    },
  ]
}

/// A list of 1 to 6, begun by another task.
private enum BegunList: CaseIterable {
  case plain, asynchronous, suspending, plainOverAsynchronous, concatenated

  func make() -> Row.Source {
    let list = Row.Source(0...6)
    return switch self {
    case .plain: list.map { $0 }
    case .asynchronous: list.mapAsync { $0 }
    case .suspending:
      list.mapAsync { element in
        await Task.yield()
        return element
      }
    case .plainOverAsynchronous: list.mapAsync { $0 }.map { $0 }.filter { $0 < 100 }
    case .concatenated: list.prefix(3).mapAsync { $0 } + list.dropFirst(3).mapAsync { $0 }
    }
  }

  /// What is left after the first element, which a task with another task-local has demanded.
  func begun() async throws -> Row.Source {
    try await Task.detached {
      try await ContextTests.$word.withValue("maker") { try await self.make().uncons() }
    }.value?.tail ?? .empty
  }
}

@Suite("A reader's closure runs in the caller's task and isolation", .inTurn)
struct CallerTests {
  /// Runs a call over a list, which somebody else holds, too, or nobody.
  private func run(
    _ call: ReadingCall, over kind: BegunList, isHeld: Bool, _ witness: Witness
  ) async throws {
    if isHeld {
      let list = try await kind.begun()
      try await call.run(list, witness)
      withExtendedLifetime(list) {}
    } else {
      try await call.run(try await kind.begun(), witness)
    }
  }

  @Test("in its task, with its task-locals", arguments: ReadingCall.all, [false, true])
  private func task(_ call: ReadingCall, _ isHeld: Bool) async throws {
    for kind in BegunList.allCases {
      let witness = Witness()
      try await ContextTests.$word.withValue("reader") {
        try await run(call, over: kind, isHeld: isHeld, witness)
      }
      #expect(witness.tasks.count >= 5, "\(kind)")
      #expect(witness.tasks.values.allSatisfy { $0 == Witness.task }, "\(kind)")
      #expect(
        witness.words.values.allSatisfy { $0 == "reader" }, "\(kind): \(witness.words.values)")
      #expect(!witness.cancellations.values.contains(true), "\(kind)")
    }
  }

  @Test("it sees its task cancelled, and can cancel it", arguments: ReadingCall.all, [false, true])
  private func cancellation(_ call: ReadingCall, _ isHeld: Bool) async throws {
    for kind in BegunList.allCases {
      let witness = Witness(cancelsAt: 2)
      let reader = Task {
        _ = try? await run(call, over: kind, isHeld: isHeld, witness)
        return Task.isCancelled
      }
      #expect(await reader.value, "\(kind): another task was cancelled")
      let seen = witness.cancellations.values
      #expect(seen.first == false, "\(kind)")
      #expect(seen.dropFirst().allSatisfy { $0 }, "\(kind): \(seen)")
    }
  }

  @Test("on its actor", arguments: ReadingCall.all, [false, true])
  private func isolation(_ call: ReadingCall, _ isHeld: Bool) async throws {
    for kind in BegunList.allCases {
      let witness = Witness(isIsolated: true)
      try await run(call, over: kind, isHeld: isHeld, witness)
      #expect(witness.tasks.count >= 5, "\(kind)")
    }
  }

  @Test("a closure that cancels its own task gets the true answer of a list that cannot fail")
  func trueAnswer() async {
    let reader = Task {
      await LazyList(1...5).mapAsync { $0 }.filter { $0 % 2 == 1 }.reduce(0) { sum, element in
        withUnsafeCurrentTask { $0?.cancel() }
        return sum + element
      }
    }
    #expect(await reader.value == 9)
  }

  /// A fold's closure gets its elements by the first of these demands, whether the list is its own or not: an
  /// unoptimised build holds a list longer than the fold does.
  @Test("what demands all elements gets them in its own task, unless the engine keeps them")
  func demand() async {
    for isGathered in [false, true] {
      let steps = AsyncSteps<Int> { steps in
        var number = 0
        await steps.take {
          number += 1
          return number < 4 ? .element(number) : .nothing(.end)
        }
      }
      var (elements, tasks): ([Int], [Int?]) = ([], [])
      let demand = isGathered ? Demand(.all).gathering : Demand(.all)
      let ending = steps.next(demand) { element in
        elements.append(element)
        tasks.append(Witness.task)
        return true
      }
      guard case .nothing(.end) = ending else {
        Issue.record("not the end: \(ending)")
        continue
      }
      #expect(elements == [1, 2, 3])
      #expect(tasks.allSatisfy { ($0 == Witness.task) != isGathered })
      steps.abandon()
    }
  }
}
