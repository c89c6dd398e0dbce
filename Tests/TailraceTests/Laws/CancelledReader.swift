import Tailrace
import TailraceTesting
import Testing

/// A failure that can say that a reader was cancelled.
enum Loss: CancellableFailure, Equatable {
  case lost
  case cancelled
}

/// A kind of reader of a list, for the table of what a cancelled one does.
struct CancelledReader: Sendable, CustomTestStringConvertible {
  /// What it does if its task is cancelled while it waits, and the failure cannot say so.
  enum Manner {
    case ends
    case waits
    case throwsCancellationError
  }

  enum Kind: String, CaseIterable {
    case iteration, sharedIterator, sharedIteratorBehindAnother, lockstep, lockstepByCost, signal
    case signalOperator, prefetching, concurrentMap
    case array, eager, count, last, reduce, reduceInto, forEach, forEachSpan, first, contains
    case allSatisfy, min, max, sum, countWhere, elementAt, isEmpty, uncons,
      elementsEqual
    case foldRight, mapped, mappedInTask, prefetchingCount, concurrentMapCount
    case throwingReduce, throwingFirst, throwingForEach, throwingSpans, throwingMin
    case throwingFoldRight
    case asyncReduce, asyncForEach, asyncThrowingReduce
    case memo, memos, memosInTask
    case lockstepArray, lockstepCount, lockstepLast, lockstepSum, lockstepReduce, lockstepReduceInto
    case lockstepForEach, lockstepFirst, lockstepContains, lockstepContainsElement,
      lockstepAllSatisfy
    case lockstepMin, lockstepMax, lockstepCountWhere, lockstepThrowing, lockstepAsync,
      lockstepByCostCount
    case signalArray, signalReduce, signalFirst, signalCount, signalOperatorCount
    case concurrentForEach, throwingConcurrentForEach

    var manner: Manner {
      switch self {
      case .iteration, .sharedIterator, .sharedIteratorBehindAnother, .lockstep, .lockstepByCost,
        .signal, .signalOperator, .prefetching, .concurrentMap:
        .ends
      case .throwingConcurrentForEach: .throwsCancellationError
      default: .waits
      }
    }
  }

  let kind: Kind
  var testDescription: String { kind.rawValue }
  static let all = Kind.allCases.map { CancelledReader(kind: $0) }

  /// Reads a list of 1, 2, 3. Returns a number that is 3 only if it has read all of them.
  func read<Failure: Error>(
    _ list: consuming LazyList<Int, Failure>
  ) async throws -> Int {
    var count = 0
    switch kind {
    case .iteration: for try await _ in list { count += 1 }
    case .sharedIterator:
      let shared = list.makeSharedIterator()
      while try await shared.next() != nil { count += 1 }
    case .sharedIteratorBehindAnother:
      let shared = list.makeSharedIterator()
      // They wait together: one for the step, the other for its turn.
      async let others = Self.rest(of: shared)
      let own = try await Self.rest(of: shared)
      return try await others + own
    case .lockstep: for try await _ in Self.lockstep(list) { count += 1 }
    case .lockstepByCost: for try await _ in Self.lockstepByCost(list) { count += 1 }
    case .signal: for try await _ in Self.signal(list) { count += 1 }
    case .signalOperator: for try await _ in Self.signal(list).map({ $0 }) { count += 1 }
    case .prefetching: for try await _ in list.prefetching(1) { count += 1 }
    case .concurrentMap:
      let mapped = list.concurrentMap(limit: 2) { (number: Int) async -> Int in number }
      for try await _ in mapped { count += 1 }
    case .array: return try await list.array().count
    case .eager: return try await list.eager().count
    case .count: return try await list.count()
    case .last: return try await list.last() ?? 0
    case .reduce: return try await list.reduce(0) { Swift.max($0, $1) }
    case .reduceInto: return try await list.reduce(into: 0) { (count, _: Int) in count += 1 }
    case .forEach: try await list.forEach { (_: Int) in count += 1 }
    case .forEachSpan: try await list.forEachSpan { (span) in count += span.count }
    case .first: return try await list.first { $0 > 2 } ?? 0
    case .contains: return try await list.contains { $0 > 2 } ? 3 : 0
    case .allSatisfy: return try await list.allSatisfy { $0 < 3 } ? 0 : 3
    case .min: return -(try await list.min { $0 > $1 } ?? 0) + 6
    case .max: return try await list.max() ?? 0
    case .sum: return try await list.sum() == 6 ? 3 : 0
    case .countWhere: return try await list.count { $0 > 0 }
    case .elementAt: return try await list.element(at: 2) ?? 0
    case .isEmpty: return try await list.dropFirst(2).isEmpty() ? 0 : 3
    case .uncons: return try await list.dropFirst(2).uncons()?.head ?? 0
    case .elementsEqual:
      let other = LazyList<Int, Failure>(first: 1) { $0 < 3 ? $0 + 1 : nil }
      return try await list.elementsEqual(other) ? 3 : 0
    case .foldRight:
      return try await list.foldRight(0) { (_, rest) async throws(Failure) in
        try await rest.value() + 1
      }
    case .mapped: return try await list.map { $0 }.filter { $0 > 0 }.count()
    case .mappedInTask: return try await list.mapAsync { $0 }.count()
    case .prefetchingCount: return try await list.prefetching(1).count()
    case .concurrentMapCount:
      return try await list.concurrentMap(limit: 2) { (number: Int) async -> Int in number }.count()
    case .throwingReduce: return try await list.reduce(0) { try Self.pass(Swift.max($0, $1)) }
    case .throwingFirst: return try await list.first { try Self.pass($0) > 2 } ?? 0
    case .throwingForEach: try await list.forEach { count = try Self.pass($0) }
    case .throwingSpans:
      try await list.forEachSpan { (span) in count = try Self.pass(count + span.count) }
    case .throwingMin: return try await list.min { try Self.pass($0) > $1 } ?? 0
    case .throwingFoldRight:
      return try await list.foldRight(0) { (first, rest) async throws in
        try Self.pass(first) > 0 ? try await rest.value() + 1 : 0
      }
    case .asyncReduce: return try await list.reduce(0) { await Self.turn(Swift.max($0, $1)) }
    case .asyncForEach: try await list.forEach { count = await Self.turn($0) }
    case .asyncThrowingReduce:
      return try await list.reduce(0) { try Self.pass(await Self.turn(Swift.max($0, $1))) }
    case .memo:
      let memo = Memo { [list] () async throws(Failure) in try await list.count() }
      return try await memo.value()
    case .memos:
      let memos = Memos { [list] (_: Int) async throws(Failure) in try await list.count() }
      return try await memos.value(for: 1)
    case .memosInTask:
      let memos = Memos { [list] (_: Int) async throws(Failure) in try await list.count() }
      let read = Memo { () async throws(Failure) in try await memos.value(for: 1) }
      return try await read.value()
    case .lockstepArray: return try await Self.lockstep(list).array().count
    case .lockstepCount: return try await Self.lockstep(list).count()
    case .lockstepLast: return try await Self.lockstep(list).last() ?? 0
    case .lockstepSum: return try await Self.lockstep(list).sum() == 6 ? 3 : 0
    case .lockstepReduce: return try await Self.lockstep(list).reduce(0) { Swift.max($0, $1) }
    case .lockstepReduceInto:
      return try await Self.lockstep(list).reduce(into: 0) { (count, _: Int) in count += 1 }
    case .lockstepForEach: try await Self.lockstep(list).forEach { (_: Int) in count += 1 }
    case .lockstepFirst: return try await Self.lockstep(list).first { $0 > 2 } ?? 0
    case .lockstepContains: return try await Self.lockstep(list).contains { $0 > 2 } ? 3 : 0
    case .lockstepContainsElement: return try await Self.lockstep(list).contains(3) ? 3 : 0
    case .lockstepAllSatisfy: return try await Self.lockstep(list).allSatisfy { $0 < 3 } ? 0 : 3
    case .lockstepMin: return try await Self.lockstep(list).min { $0 > $1 } ?? 0
    case .lockstepMax: return try await Self.lockstep(list).max() ?? 0
    case .lockstepCountWhere: return try await Self.lockstep(list).count { $0 > 0 }
    case .lockstepThrowing:
      return try await Self.lockstep(list).reduce(0) { try Self.pass(Swift.max($0, $1)) }
    case .lockstepAsync:
      return try await Self.lockstep(list).reduce(0) { await Self.turn(Swift.max($0, $1)) }
    case .lockstepByCostCount: return try await Self.lockstepByCost(list).count()
    case .signalArray: return try await Self.signal(list).array().count
    case .signalReduce: return try await Self.signal(list).reduce(0) { Swift.max($0, $1) }
    case .signalFirst: return try await Self.signal(list).first { $0 > 2 } ?? 0
    case .signalCount: return try await Self.signal(list).count()
    case .signalOperatorCount: return try await Self.signal(list).filter { $0 > 0 }.count()
    case .concurrentForEach:
      let probe = Probe<Int>()
      try await list.concurrentForEach(limit: 2) { probe.record($0) }
      return probe.count
    case .throwingConcurrentForEach:
      let probe = Probe<Int>()
      try await list.concurrentForEach(limit: 2) { probe.record(try Self.pass($0)) }
      return probe.count
    }
    return count
  }

  private static func rest<Failure: Error>(
    of shared: SharedIterator<Int, Failure>
  ) async throws(Failure) -> Int {
    var count = 0
    while try await shared.next() != nil { count += 1 }
    return count
  }

  private static func lockstep<Failure: Error>(
    _ list: consuming LazyList<Int, Failure>
  ) -> LockstepReader<Int, Failure> {
    list.lockstep(readers: 1, maxLead: 10)[0]
  }

  /// One of two, of which the other has left: a single reader needs no costs.
  private static func lockstepByCost<Failure: Error>(
    _ list: consuming LazyList<Int, Failure>
  ) -> LockstepReader<Int, Failure> {
    list.lockstep(readers: 2, maxLead: 10) { _ in 1 }[0]
  }

  private static func signal<Failure: Error>(
    _ list: consuming LazyList<Int, Failure>
  ) -> Signal<Int, Failure> {
    list.signal(on: QueueScheduler(name: "walk"))
  }

  private static func pass(_ number: Int) throws -> Int { number }

  private static func turn(_ number: Int) async -> Int {
    await Task.yield()
    return number
  }
}
