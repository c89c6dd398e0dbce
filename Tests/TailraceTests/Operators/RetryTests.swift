import Tailrace
import TailraceTesting
import Testing

@Suite("Retrying: exactly the failed step runs again")
struct RetryTests {
  typealias List = LazyList<Int, any Error>

  /// Calls of a closure, two of which, those for the element 3, fail.
  struct Attempts: Sendable {
    let calls = Probe<Int>()

    func plain<T>(_ element: Int, _ result: T) throws -> T {
      calls.record(element)
      if element == 3, calls.values.count(where: { $0 == 3 }) <= 2 { throw Mishap(position: 2) }
      return result
    }

    func async<T: Sendable>(_ element: Int, _ result: T) async throws -> T {
      await Task.yield()
      return try plain(element, result)
    }
  }

  struct RetryRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Of 1, 2, 3, 4.
    let elements: [Int]
    /// How many are there before the failure.
    let before: Int
    let apply: @Sendable (List, Attempts) -> List

    init(
      _ name: String, _ elements: [Int], _ before: Int,
      _ apply: @escaping @Sendable (List, Attempts) -> List
    ) {
      testDescription = name
      self.elements = elements
      self.before = before
      self.apply = apply
    }
  }

  static let rows: [RetryRow] = [
    RetryRow("map", [10, 20, 30, 40], 2) { list, attempts in
      list.map(retryingFailures: true) { try attempts.plain($0, $0 * 10) }
    },
    RetryRow("map, async", [10, 20, 30, 40], 2) { list, attempts in
      list.map(retryingFailures: true) { try await attempts.async($0, $0 * 10) }
    },
    RetryRow("compactMap", [1, 3], 1) { list, attempts in
      list.compactMap(retryingFailures: true) { try attempts.plain($0, $0 % 2 == 1 ? $0 : nil) }
    },
    RetryRow("compactMap, async", [1, 3], 1) { list, attempts in
      list.compactMap(retryingFailures: true) {
        try await attempts.async($0, $0 % 2 == 1 ? $0 : nil)
      }
    },
    RetryRow("filter", [1, 3], 1) { list, attempts in
      list.filter(retryingFailures: true) { try attempts.plain($0, $0 % 2 == 1) }
    },
    RetryRow("filter, async", [1, 3], 1) { list, attempts in
      list.filter(retryingFailures: true) { try await attempts.async($0, $0 % 2 == 1) }
    },
    RetryRow("flatMap to lists", [1, 1, 2, 2, 3, 3, 4, 4], 4) { list, attempts in
      list.flatMap(retryingFailures: true) { try attempts.plain($0, List([$0, $0])) }
    },
    RetryRow("flatMap to lists, async", [1, 1, 2, 2, 3, 3, 4, 4], 4) { list, attempts in
      list.flatMap(retryingFailures: true) { try await attempts.async($0, List([$0, $0])) }
    },
    RetryRow("flatMap to sequences", [1, 1, 2, 2, 3, 3, 4, 4], 4) { list, attempts in
      list.flatMap(retryingFailures: true) { try attempts.plain($0, [$0, $0]) }
    },
    RetryRow("flatMap to sequences, async", [1, 1, 2, 2, 3, 3, 4, 4], 4) { list, attempts in
      list.flatMap(retryingFailures: true) { try await attempts.async($0, [$0, $0]) }
    },
    RetryRow("bind", [1, 2, 3, 4], 2) { list, attempts in
      list.bind(retryingFailures: true) { number, stop in
        stop = number == 4
        return try attempts.plain(number, List([number]))
      }
    },
    RetryRow("bind, async", [1, 2, 3, 4], 2) { list, attempts in
      list.bind(retryingFailures: true) { number, stop in
        stop = number == 4
        return try await attempts.async(number, List([number]))
      }
    },
    RetryRow("prefix(while:)", [1, 2, 3, 4], 2) { list, attempts in
      list.prefix(retryingFailures: true) { try attempts.plain($0, true) }
    },
    RetryRow("prefix(while:), async", [1, 2, 3, 4], 2) { list, attempts in
      list.prefix(retryingFailures: true) { try await attempts.async($0, true) }
    },
    RetryRow("drop(while:)", [4], 0) { list, attempts in
      list.drop(retryingFailures: true) { try attempts.plain($0, $0 < 4) }
    },
    RetryRow("drop(while:), async", [4], 0) { list, attempts in
      list.drop(retryingFailures: true) { try await attempts.async($0, $0 < 4) }
    },
    RetryRow("removeDuplicates(by:)", [0, 1, 2, 4], 3) { list, attempts in
      list.prepending(0).removeDuplicates(retryingFailures: true) {
        try attempts.plain($1, $0 / 2 == 1 && $1 / 2 == 1)
      }
    },
    RetryRow("removeDuplicates(by:), async", [0, 1, 2, 4], 3) { list, attempts in
      list.prepending(0).removeDuplicates(retryingFailures: true) {
        try await attempts.async($1, $0 / 2 == 1 && $1 / 2 == 1)
      }
    },
    RetryRow("reductions", [1, 3, 6, 10], 2) { list, attempts in
      list.reductions(0, retryingFailures: true) { try attempts.plain($1, $0 + $1) }
    },
    RetryRow("reductions, async", [1, 3, 6, 10], 2) { list, attempts in
      list.reductions(0, retryingFailures: true) { try await attempts.async($1, $0 + $1) }
    },
    RetryRow("reductions(into:)", [1, 3, 6, 10], 2) { list, attempts in
      list.reductions(into: 0, retryingFailures: true) { sum, number in
        // What a failed attempt has changed is as it was.
        sum += number
        sum = try attempts.plain(number, sum)
      }
    },
    RetryRow("reductions(into:), async", [1, 3, 6, 10], 2) { list, attempts in
      list.reductions(into: 0, retryingFailures: true) { sum, number in
        sum += number
        sum = try await attempts.async(number, sum)
      }
    },
    RetryRow("concurrentMap, one", [10, 20, 30, 40], 2) { list, attempts in
      list.concurrentMap(limit: 1, retryingFailures: true) {
        try await attempts.async($0, $0 * 10)
      }
    },
  ]

  @Test("two failures, two answers, and then the rest", arguments: rows, SourceKind.allCases)
  func retried(_ row: RetryRow, _ kind: SourceKind) async {
    await OneThread.run {
      let (pulls, attempts) = (Probe<Int>(), Attempts())
      let list = row.apply(kind.make(upTo: 4, pulls), attempts)
      await #expect(throws: Mishap(position: 2)) { try await list.element(at: row.before) }
      #expect(list.evaluatedPrefix == Array(row.elements.prefix(row.before)))
      await #expect(throws: Mishap(position: 2)) { try await list.map { $0 }.array() }
      #expect((try? await list.array()) == row.elements)
      #expect(attempts.calls.values == [1, 2, 3, 3, 3, 4])
      #expect(pulls.values.prefix(4) == [1, 2, 3, 4])
      #expect(Set(pulls.values).count == pulls.count, "the source does not run again")
    }
  }

  @Test(
    "questions about everything are told each failure once, behind the elements before it",
    arguments: rows, [false, true])
  func everything(_ row: RetryRow, _ suspends: Bool) async {
    await OneThread.run {
      let (seen, attempts) = (Probe<Int>(), Attempts())
      let kind: SourceKind = suspends ? .asynchronous : .plain
      let list = row.apply(kind.make(upTo: 4, Probe()), attempts)
      for _ in 0..<2 {
        await #expect(throws: Mishap(position: 2)) { try await list.forEach { seen.record($0) } }
      }
      #expect(seen.values == Array(row.elements.prefix(row.before)) * 2)
      #expect((try? await list.count()) == row.elements.count)
      #expect(attempts.calls.values == [1, 2, 3, 3, 3, 4])
    }
  }

  @Test("lists that closures make, of a state or at once", arguments: [nil, false, true])
  func lists(_ suspends: Bool?) async {
    await OneThread.run {
      let attempts = Attempts()
      let numbers =
        suspends == nil
        ? List(first: 1, retryingFailures: true) { last throws in
          last == 4 ? nil : try attempts.plain(last + 1, last + 1)
        }
        : List(first: 1, retryingFailures: true) { last async throws in
          last == 4 ? nil : try await attempts.async(last + 1, last + 1)
        }
      for _ in 0..<2 { await #expect(throws: Mishap.self) { try await numbers.array() } }
      #expect((try? await numbers.array()) == [1, 2, 3, 4])
      #expect(attempts.calls.values == [2, 3, 3, 3, 4])

      let made = Attempts()
      let deferred =
        suspends == nil
        ? List.deferred(retryingFailures: true) { () throws in try made.plain(3, [7, 8]) }
        : List.deferred(retryingFailures: true) { () async throws in try await made.async(3, [7]) }
      for _ in 0..<2 { await #expect(throws: Mishap.self) { try await deferred.head() } }
      #expect((try? await deferred.head()) == 7)
      #expect(made.calls.count == 3)

      let (head, tail) = (Attempts(), Attempts())
      let pair =
        suspends == nil
        ? List(
          retryingFailures: true, head: { () throws in try head.plain(3, 1) },
          tail: { () throws in try tail.plain(3, [2]) })
        : List(
          retryingFailures: true, head: { () async throws in try await head.async(3, 1) },
          tail: { () async throws in try await tail.async(3, [2]) })
      for _ in 0..<4 { await #expect(throws: Mishap.self) { try await pair.array() } }
      #expect((try? await pair.array()) == [1, 2])
      #expect((head.calls.count, tail.calls.count) == (3, 3))
    }
  }

  @Test("a memo", arguments: [nil, false, true])
  func memo(_ suspends: Bool?) async {
    let attempts = Attempts()
    let memo =
      suspends == nil
      ? Memo(retryingFailures: true) { () throws in try attempts.plain(3, 7) }
      : Memo(retryingFailures: true) { () async throws in try await attempts.async(3, 7) }
    for _ in 0..<2 { await #expect(throws: Mishap.self) { try await memo.value() } }
    #expect(memo.peek == nil)
    for _ in 0..<2 {
      #expect((try? await memo.value()) == 7)
    }
    #expect(memo.peek == 7)
    #expect(attempts.calls.count == 3)
    let once = Memo(retryingFailures: false) { () throws in try Attempts().plain(3, 7) }
    for _ in 0..<2 { await #expect(throws: Mishap.self) { try await once.value() } }
  }

  @Test("several at a time: what runs ahead of a failure goes on", arguments: [2, 4])
  func concurrently(_ limit: Int) async throws {
    let attempts = Attempts()
    let list = LazyList(1...6).concurrentMap(limit: limit, retryingFailures: true) {
      try await attempts.async($0, $0 * 10)
    }
    for _ in 0..<2 {
      await #expect(throws: Mishap.self) { try await list.array() }
      #expect(list.evaluatedPrefix == [10, 20])
    }
    #expect(try await list.array() == [10, 20, 30, 40, 50, 60])
    #expect(attempts.calls.values.sorted() == [1, 2, 3, 3, 3, 4, 5, 6])
  }

  @Test("everybody who waits for an attempt gets its failure; the next demand tries again")
  func waiters() async throws {
    let gate = Gate()
    let list = LazyList([1]).map(retryingFailures: true) { number async throws in
      await gate.wait()
      if gate.arrived == 1 { throw Mishap(position: 0) }
      return number
    }
    let readers = (0..<5).map { _ in Task { try await list.head() } }
    await gate.arrivals(1)
    gate.open()
    var failures = 0
    for reader in readers {
      do { #expect(try await reader.value == 1) } catch { failures += 1 }
    }
    #expect(failures >= 1)
    #expect(try await list.head() == 1)
    #expect(gate.arrived == 2)
  }
}

private func * (elements: [Int], count: Int) -> [Int] {
  (0..<count).flatMap { _ in elements }
}
