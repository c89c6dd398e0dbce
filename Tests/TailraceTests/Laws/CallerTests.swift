import Tailrace
import TailraceTesting
import Testing

/// What a reader's closure sees of the context in which it is called.
private final class Witness: Sendable {
  let tasks = Probe<Int?>()
  let words = Probe<String>()
  let cancellations = Probe<Bool>()
  private let actor: (any Actor)?
  private let cancelsAt: Int?

  /// - Parameters:
  ///   - actor: where the closure has to run: a closure that does not traps.
  ///   - cancelsAt: the call that cancels the running task.
  init(on actor: (any Actor)? = nil, cancelsAt: Int? = nil) {
    (self.actor, self.cancelsAt) = (actor, cancelsAt)
  }

  func sees<Result>(_ result: Result) -> Result {
    actor?.preconditionIsolated("a reader's closure left the reader's actor")
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
  typealias Run = @Sendable (isolated any Actor, consuming Row.Source, Witness) async throws -> Void

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
    ReadingCall("reduce") { _, list, by in _ = try await list.reduce(0) { by.sees($0 + $1) } },
    ReadingCall("reduce, throwing") { _, list, by in
      _ = try await list.reduce(0) { (sum, element) throws in by.sees(sum + element) }
    },
    ReadingCall("reduce, async") { _, list, by in
      _ = try await list.reduce(0) { (sum, element) async in by.sees(sum + element) }
    },
    ReadingCall("reduce(into:)") { _, list, by in
      _ = try await list.reduce(into: 0) { by.sees($0 += $1) }
    },
    ReadingCall("reduce(into:), async") { _, list, by in
      _ = try await list.reduce(into: 0) { (sum: inout Int, element) async in
        by.sees(sum += element)
      }
    },
    ReadingCall("count(where:)") { _, list, by in
      _ = try await list.count { by.sees($0 > 2) }
    },
    ReadingCall("count(where:), async") { _, list, by in
      _ = try await list.count { (element) async in by.sees(element > 2) }
    },
    ReadingCall("grouped") { _, list, by in _ = try await list.grouped { by.sees($0 % 2) } },
    ReadingCall("grouped, async") { _, list, by in
      _ = try await list.grouped { (element) async in by.sees(element % 2) }
    },
    ReadingCall("forEach") { _, list, by in try await list.forEach { by.sees(_ = $0) } },
    ReadingCall("forEach, throwing") { _, list, by in
      try await list.forEach { (element) throws in by.sees(_ = element) }
    },
    ReadingCall("forEach, async") { _, list, by in
      try await list.forEach { (element) async in by.sees(_ = element) }
    },
    ReadingCall("sum") { _, list, by in
      _ = try await list.map { Amount(value: $0, witness: by) }.sum()
    },
    ReadingCall("forEachSpan") { _, list, by in
      try await list.forEachSpan { span in
        for _ in span.indices { by.sees(()) }
      }
    },
    ReadingCall("foldRight") { _, list, by in
      _ = try await list.foldRight(0) { (first, rest) async throws in
        by.sees(first) + (try await rest.value())
      }
    },
  ]

  private static let searches = [
    ReadingCall("first(where:)") { _, list, by in
      _ = try await list.first { by.sees($0 > 9) }
    },
    ReadingCall("first(where:), async") { _, list, by in
      _ = try await list.first { (element) async in by.sees(element > 9) }
    },
    ReadingCall("contains(where:)") { _, list, by in
      _ = try await list.contains { by.sees($0 > 9) }
    },
    ReadingCall("contains(where:), async") { _, list, by in
      _ = try await list.contains { (element) async in by.sees(element > 9) }
    },
    ReadingCall("allSatisfy") { _, list, by in
      _ = try await list.allSatisfy { by.sees($0 < 9) }
    },
    ReadingCall("allSatisfy, async") { _, list, by in
      _ = try await list.allSatisfy { (element) async in by.sees(element < 9) }
    },
    ReadingCall("firstIndex(where:)") { _, list, by in
      _ = try await list.firstIndex { by.sees($0 > 9) }
    },
    ReadingCall("firstIndex(where:), async") { _, list, by in
      _ = try await list.firstIndex { (element) async in by.sees(element > 9) }
    },
  ]

  private static let orders = [
    ReadingCall("min(by:)") { _, list, by in _ = try await list.min { by.sees($0 < $1) } },
    ReadingCall("min(by:), async") { _, list, by in
      _ = try await list.min { (one, other) async in by.sees(one < other) }
    },
    ReadingCall("max(by:)") { _, list, by in _ = try await list.max { by.sees($0 < $1) } },
    ReadingCall("max(by:), async") { _, list, by in
      _ = try await list.max { (one, other) async in by.sees(one < other) }
    },
    ReadingCall("sorted(by:)") { _, list, by in _ = try await list.sorted { by.sees($0 < $1) } },
    ReadingCall("elementsEqual(by:)") { _, list, by in
      _ = try await list.elementsEqual(Row.Source(1...6)) { by.sees($0 == $1) }
    },
    ReadingCall("elementsEqual(by:), async") { _, list, by in
      _ = try await list.elementsEqual(Row.Source(1...6)) { (one, other) async in
        by.sees(one == other)
      }
    },
  ]

  private static let others = [
    ReadingCall("an iteration") { _, list, by in
      for try await element in list { by.sees(_ = element) }
    },
    ReadingCall("eager().map, async") { _, list, by in
      _ = try await list.eager().map { (element) async in by.sees(element) }
    },
    ReadingCall("a reader in lockstep: reduce") { _, list, by in
      _ = try await list.lockstep(readers: 1, maxLead: 2)[0].reduce(0) { by.sees($0 + $1) }
    },
    ReadingCall("a reader in lockstep: forEach, async") { _, list, by in
      try await list.lockstep(readers: 1, maxLead: 2)[0].forEach { (element) async in
        by.sees(_ = element)
      }
    },
    ReadingCall("a reader in lockstep: first(where:)") { _, list, by in
      _ = try await list.lockstep(readers: 1, maxLead: 2)[0].first { by.sees($0 > 9) }
    },
    ReadingCall("a signal: reduce(into:)") { _, list, by in
      _ = try await list.signal(on: .immediate).reduce(into: 0) { by.sees($0 += $1) }
    },
    ReadingCall("a signal: max(by:)") { _, list, by in
      _ = try await list.signal(on: .immediate).max { by.sees($0 < $1) }
    },
    ReadingCall("a signal: allSatisfy, async") { _, list, by in
      _ = try await list.signal(on: .immediate).allSatisfy { (element) async in
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
  private actor Caller {
    func run(_ call: ReadingCall, _ list: consuming Row.Source, _ witness: Witness) async throws {
      try await call.run(self, list, witness)
    }
  }

  /// Runs a call over a list, which somebody else holds, too, or nobody.
  private func run(
    _ call: ReadingCall, over kind: BegunList, isHeld: Bool, _ witness: Witness,
    on caller: Caller = Caller()
  ) async throws {
    if isHeld {
      let list = try await kind.begun()
      try await caller.run(call, list, witness)
      withExtendedLifetime(list) {}
    } else {
      try await caller.run(call, try await kind.begun(), witness)
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
      let caller = Caller()
      let witness = Witness(on: caller)
      try await run(call, over: kind, isHeld: isHeld, witness, on: caller)
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
}
