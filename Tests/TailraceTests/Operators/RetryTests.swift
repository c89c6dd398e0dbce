import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@Suite("Retrying: exactly the failed step runs again", .inTurn)
struct RetryTests {
  typealias List = LazyList<Int, any Error>

  /// Calls of a closure, some of which, the first for the element 3, fail.
  struct Attempts: Sendable {
    let calls = Probe<Int>()
    var failures = 2

    func plain<T>(_ element: Int, _ result: T) throws -> T {
      calls.record(element)
      if element == 3, calls.values.count(where: { $0 == 3 }) <= failures {
        throw Mishap(position: 2)
      }
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
    RetryRow("map, async, compacted", [1, 3], 1) { list, attempts in
      list.map(retryingFailures: true) { try await attempts.async($0, $0 % 2 == 1 ? $0 : nil) }
        .compacted()
    },
    RetryRow("map, joined lists", [1, 1, 2, 2, 3, 3, 4, 4], 4) { list, attempts in
      list.map(retryingFailures: true) { try attempts.plain($0, List([$0, $0])) }.joined()
    },
    RetryRow("map, async, joined lists", [1, 1, 2, 2, 3, 3, 4, 4], 4) { list, attempts in
      list.map(retryingFailures: true) { try await attempts.async($0, List([$0, $0])) }.joined()
    },
    RetryRow("map, joined sequences", [1, 1, 2, 2, 3, 3, 4, 4], 4) { list, attempts in
      list.map(retryingFailures: true) { try attempts.plain($0, [$0, $0]) }.joined()
    },
    // A test that is made again is a `map` before the operator.
    RetryRow("map to a test, filter", [1, 3], 1) { list, attempts in
      list.map(retryingFailures: true) { ($0, try attempts.plain($0, $0 % 2 == 1)) }
        .filter { $0.1 }.map { $0.0 }
    },
    RetryRow("map to a test, filter, async", [1, 3], 1) { list, attempts in
      list.map(retryingFailures: true) { ($0, try await attempts.async($0, $0 % 2 == 1)) }
        .filter { $0.1 }.map { $0.0 }
    },
    RetryRow("map to a test, prefix(while:)", [1, 2, 3, 4], 2) { list, attempts in
      list.map(retryingFailures: true) { ($0, try attempts.plain($0, true)) }
        .prefix { $0.1 }.map { $0.0 }
    },
    RetryRow("map to a test, drop(while:), async", [4], 0) { list, attempts in
      list.map(retryingFailures: true) { ($0, try await attempts.async($0, $0 < 4)) }
        .drop { $0.1 }.map { $0.0 }
    },
    RetryRow("map, reductions", [1, 3, 6, 10], 2) { list, attempts in
      list.map(retryingFailures: true) { try attempts.plain($0, $0) }.reductions(0, +)
    },
    RetryRow("map, bind, async", [1, 2, 3, 4], 2) { list, attempts in
      list.map(retryingFailures: true) { try await attempts.async($0, $0) }
        .bind { number, stop in
          stop = number == 4
          return List([number])
        }
    },
    RetryRow("map twice", [11, 12, 13, 14], 2) { list, attempts in
      list.map(retryingFailures: true) { $0 + 10 }
        .map(retryingFailures: true) { try attempts.plain($0 - 10, $0) }
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

  @Test("the last element, and those of an array, are given once more", arguments: [false, true])
  func again(_ suspends: Bool) async throws {
    for source in [
      LazyList([1, 2, 3]), LazyList(1...3), [1, 2, 3].lazyList, LazyList(1...5).prefix(3),
    ] {
      let attempts = Attempts()
      let list =
        suspends
        ? source.map(retryingFailures: true) { try await attempts.async($0, $0) }
        : source.map(retryingFailures: true) { try attempts.plain($0, $0) }
      for _ in 0..<2 { await #expect(throws: Mishap.self) { try await list.array() } }
      #expect(try await list.array() == [1, 2, 3])
      #expect(attempts.calls.values == [1, 2, 3, 3, 3])
    }
  }

  @Test("a failure below many stages, and of every element", arguments: [false, true])
  func deep(_ suspends: Bool) async throws {
    let failed = Probe<Int>()
    @Sendable func once(_ number: Int) throws -> Int {
      if !failed.values.contains(number) {
        failed.record(number)
        throw Mishap(position: number)
      }
      return number
    }
    var list = LazyList(0..<20).setFailureType(to: (any Error).self)
    for _ in 0..<100 { list = list.map { $0 } }
    list =
      suspends
      ? list.map(retryingFailures: true) { number async throws in
        await Task.yield()
        return try once(number)
      } : list.map(retryingFailures: true) { try once($0) }
    for _ in 0..<100 { list = list.map { $0 } }
    for number in 0..<20 {
      await #expect(throws: Mishap(position: number)) { try await list.array() }
    }
    #expect(try await list.array() == Array(0..<20))
  }

  @Test("a failure at any depth below an asynchronous stage", .timeLimit(.minutes(15)))
  func deepStep() async throws {
    for depth in 40...70 {
      let attempts = Attempts()
      let source = LazyList(1...4).map(retryingFailures: true) { try attempts.plain($0, $0) }
      for stages in [1, 4] {
        var list = source.map { $0 }
        for _ in 0..<stages { list = list.mapAsync { $0 } }
        for _ in 0..<depth { list = list.map { $0 } }
        if stages == 1 {
          await #expect(throws: Mishap.self) { try await list.array() }
          await #expect(throws: Mishap.self) { try await list.element(at: 2) }
        }
        #expect(try await list.array() == [1, 2, 3, 4])
      }
      #expect(attempts.calls.values == [1, 2, 3, 3, 3, 4])
    }
  }

  @Test("who catches a failure may go on with the list that failed", arguments: [false, true])
  func caught(_ suspends: Bool) async {
    func flaky(_ attempts: Attempts) -> List {
      suspends
        ? LazyList(1...4).map(retryingFailures: true) { try await attempts.async($0, $0) }
        : LazyList(1...4).map(retryingFailures: true) { try attempts.plain($0, $0) }
    }
    for asks in [0, 1, 2] {
      let attempts = Attempts()
      let list = flaky(attempts)
      let again: List =
        switch asks {
        case 0: list.catch { _ in list.catch { _ in list } }
        case 1:
          list.endingAtFailure().setFailureType() + list.endingAtFailure().setFailureType() + list
        default: list.catch { _ in list }.catch { _ in list }
        }
      #expect((try? await again.array()) == [1, 2, 1, 2, 1, 2, 3, 4])
      #expect(attempts.calls.values == [1, 2, 3, 3, 3, 4], "each failure is caught once")
    }
    let attempts = Attempts()
    let list = flaky(attempts)
    let third = list.dropFirst(2)
    #expect((try? await third.catch { _ in third.catch { _ in third } }.head()) == 3)
    #expect(attempts.calls.values == [1, 2, 3, 3, 3])
  }

  @Test("readers that wait for one attempt, above who catches its failure", arguments: 0..<6)
  func caughtForSeveral(_ asks: Int) async {
    await OneThread.run {
      let attempts = Attempts()
      let list = LazyList(1...4).map(retryingFailures: true) { try await attempts.async($0, $0) }
      let third = list.dropFirst(2)
      let ended = third.endingAtFailure().setFailureType(to: (any Error).self)
      let again: List =
        switch asks {
        case 0: third.catch { _ in third.catch { _ in third } }
        case 1: ended + third.endingAtFailure().setFailureType() + third
        case 2: third.catch { _ in third.catch { _ in third } }.map { $0 }
        case 3: third.catch { _ in third }.prefetching(2).catch { _ in third }
        case 4:
          third.catch { _ in third }.map {
            await Task.yield()
            return $0
          }.catch { _ in third }
        default: LazyList.deferred { third.catch { _ in third } }.catch { _ in third }
        }
      async let first = again.array()
      async let second = again.head()
      async let other = again.map { $0 }.array()
      #expect((try? await first) == [3, 4])
      #expect((try? await second) == 3)
      #expect((try? await other) == [3, 4])
      #expect(attempts.calls.values == [1, 2, 3, 3, 3, 4], "each failure is caught once")
    }
  }

  /// Where the failure was caught that a reader does not meet.
  enum Catching: CaseIterable {
    case inTheSameCells, beforeLaterCells, beforeAListOfLaterCells, inAFailedList
    case inAListThatBecameAnother, inAListThatIsTakenOver,
      behindAnElementThatFailsAbove
    case inAPiece, inLaterCellsOfAPiece, inAPieceThatBecameAnother
  }

  @Test("a reader that comes late does not meet a caught failure", arguments: Catching.allCases)
  func caughtBeforeALateReader(_ place: Catching) async {
    await OneThread.run {
      let attempts = Attempts(failures: 1)
      let third = List([3, 4]).map(retryingFailures: true) { try attempts.plain($0, $0) }
      let ended = third.endingAtFailure().setFailureType(to: (any Error).self)
      let isLong = [.beforeLaterCells, .beforeAListOfLaterCells, .inLaterCellsOfAPiece].contains(
        place)
      let between = List(Array(repeating: 9, count: isLong ? 20 : 2))
      var catching: List? =
        switch place {
        case .inAFailedList: ended + between + .failing(Mishap(position: 0))
        case .inAListThatBecameAnother, .inAPieceThatBecameAnother:
          third.catch { _ in between + third }
        case .behindAnElementThatFailsAbove: (List([9]) + third).catch { _ in List([9]) + third }
        default: ended + between + third
        }
      let gate = Gate()
      let rest = Locked<List?>(nil)
      // It waits for all elements since before the failure.
      let late = List.deferred {
        await gate.wait()
        return rest.withLock { $0.take() }!
      }
      async let all = late.array()
      await gate.waitForArrivals(1)

      #expect((try? await catching!.element(at: isLong ? 19 : 1)) == 9)
      #expect(attempts.calls.values == [3], "it has failed, and was caught")
      let made: List
      switch place {
      case .beforeAListOfLaterCells:
        var tail = catching!
        for _ in 0..<12 { tail = (try? await tail.uncons())?.tail ?? [] }
        made = tail
      case .inAFailedList:
        #expect((try? await catching!.array()) == nil)
        made = catching!.catch { _ in third }
      case .inAListThatIsTakenOver: made = catching.take()!.map { $0 }
      case .behindAnElementThatFailsAbove:
        let first = Probe<Int>()
        made = catching!.map(retryingFailures: true) { element in
          first.record(element)
          if first.count == 1 { throw Mishap(position: 0) }
          return element
        }
        #expect((try? await made.head()) == nil)
        #expect((try? await made.head()) == 9)
      case .inAPiece, .inLaterCellsOfAPiece, .inAPieceThatBecameAnother: made = catching! + [0]
      default: made = catching!
      }
      rest.withLock { $0 = made }
      gate.open()
      #expect((try? await all)?.filter { $0 != 0 }.suffix(3) == [9, 3, 4])
      #expect(attempts.calls.values == [3, 3, 4])
    }
  }

  @Test("a failure that is caught ahead of the readers is caught once, and not met again behind")
  func caughtAhead() async {
    for distance in 1...5 {
      await OneThread.run {
        let attempts = Attempts()
        let list = LazyList(1...4).map(retryingFailures: true) { try attempts.plain($0, $0) }
        let twice = list.catch { _ in list.catch { _ in list } }.prefetching(distance)
        #expect((try? await twice.array()) == [1, 2, 1, 2, 1, 2, 3, 4])
        #expect(attempts.calls.values == [1, 2, 3, 3, 3, 4])
      }
      for end in [nil, 4] {
        await OneThread.run {
          let attempts = Attempts(failures: 1)
          let list = LazyList(1...4).map(retryingFailures: true) { try attempts.plain($0, $0) }
          let ahead = list.catch { _ in List([9, 9, 9]) }.prefetching(distance)
          let elements = [1, 2, 9, 9, 9].prefix(end ?? 5)
          #expect(
            (try? await (ahead.prefix(elements.count) + list).array()) == elements + [1, 2, 3, 4])
        }
      }
    }
  }

  @Test(
    "a failure caught many stages below is noted by the lists above", arguments: [0, 60, 80, 200])
  func caughtBelowMany(_ stages: Int) async {
    await OneThread.run {
      let (calls, first, second) = (Probe<Int>(), Gate(), Gate())
      let third = List([3]).map(retryingFailures: true) { number async throws in
        calls.record(number)
        if calls.count > 1 {
          await second.wait()
          return number
        }
        await first.wait()
        throw Mishap(position: 0)
      }
      var deep = third.catch { _ in List([9, 9]) }
      for _ in 0..<stages { deep = deep.map { $0 } }
      let all = deep.prefix(1) + third
      async let one = all.array()
      async let other = all.array()
      await first.waitForArrivals(1)
      for _ in 0..<40 { await Task.yield() }
      first.open()
      await second.waitForArrivals(1)
      for _ in 0..<40 { await Task.yield() }
      second.open()
      #expect((try? await one) == [9, 3])
      #expect((try? await other) == [9, 3])
      #expect(calls.count == 2)
    }
  }

  @Test("a step ahead that fails, many stages below", .timeLimit(.minutes(15)))
  func aheadOverMany() async {
    for depth in [0, 20, 60, 61, 62, 63, 64, 65, 100, 200] {
      await OneThread.run {
        let attempts = Attempts()
        var list = LazyList(1...6).map(retryingFailures: true) { try attempts.plain($0, $0) }
        for _ in 0..<depth { list = list.map { $0 } }
        let slow = list.prefetching(3).mapAsync { element in
          for _ in 0..<20 { await Task.yield() }
          return element
        }
        var failures = 0
        while (try? await slow.array()) == nil, failures < 3 { failures += 1 }
        #expect(failures < 3)
        #expect(attempts.calls.values == [1, 2, 3, 3, 3, 4, 5, 6])
      }
    }
  }

  @Test(
    "a closure ahead that fails is told to nobody, and runs again for who comes, below many stages")
  func aheadBelowMany() async {
    await OneThread.run {
      let attempts = Attempts()
      var list = LazyList(2...5).setFailureType(to: (any Error).self)
        .concurrentMap(limit: 2, retryingFailures: true) { try attempts.plain($0, $0) }
      for _ in 0..<150 { list = list.map { $0 } }
      #expect((try? await list.head()) == 2)
      for _ in 0..<20 { await Task.yield() }
      #expect(attempts.calls.values == [2, 3], "it has failed ahead")
      await #expect(throws: Mishap.self) { try await list.element(at: 1) }
      #expect(attempts.calls.values.count { $0 == 3 } == 2, "its own attempt")
      #expect((try? await list.array()) == [2, 3, 4, 5])
      #expect(attempts.calls.values.sorted() == [2, 3, 3, 3, 4, 5])
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

  @Test("several at a time: steps ahead of a failure go on", arguments: [2, 4])
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
    await gate.waitForArrivals(1)
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
