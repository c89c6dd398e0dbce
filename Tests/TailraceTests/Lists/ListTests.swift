import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@Suite("Lists", .inTurn)
struct ListTests {
  typealias List = LazyList<Int, Never>

  @Test("values")
  func values() async {
    #expect(await List.just(7).array() == [7])
    #expect(await List.repeating(7, count: 3).array() == [7, 7, 7])
    #expect(await List.repeating(7, count: 0).isEmpty())
    #expect(await List.repeating(7).prefix(100).count() == 100)
    #expect(await ([1, 2, 3] as List).array() == [1, 2, 3])
    #expect(await ([] as List).isEmpty())
    await #expect(throws: Mishap.self) {
      try await LazyList<Int, Mishap>.failing(Mishap(position: 0)).head()
    }
  }

  @Test("first and next, in four kinds")
  func firstAndNext() async throws {
    #expect(await LazyList(first: 1, next: { $0 < 8 ? $0 * 2 : nil }).array() == [1, 2, 4, 8])
    let asynchronous = LazyList(first: 1) { (last: Int) async -> Int? in
      await Task.yield()
      return last < 8 ? last * 2 : nil
    }
    #expect(await asynchronous.array() == [1, 2, 4, 8])
    let throwing = LazyList(first: 1) { (last: Int) throws -> Int? in
      if last == 4 { throw Mishap(position: 3) }
      return last * 2
    }
    await #expect(throws: Mishap.self) { try await throwing.count() }
    #expect(throwing.evaluatedPrefix == [1, 2, 4])
    let both = LazyList(first: 1) { (last: Int) async throws -> Int? in
      await Task.yield()
      return last < 4 ? last * 2 : nil
    }
    #expect(try await both.array() == [1, 2, 4])
  }

  @Test("heads and tails, in four kinds")
  func headsAndTails() async throws {
    #expect(await List(head: { 1 }, tail: { [2] }).array() == [1, 2])
    let asynchronous = List(
      head: { () async in
        await Task.yield()
        return 1
      }, tail: { () async in [2] })
    #expect(await asynchronous.array() == [1, 2])
    let failing = LazyList<Int, any Error>(head: { 1 }, tail: { throw Mishap(position: 1) })
    #expect(try await failing.head() == 1)
    await #expect(throws: Mishap.self) { try await failing.element(at: 1) }
    let both = LazyList<Int, any Error>(
      head: { () async throws in
        await Task.yield()
        return 1
      }, tail: { () async throws in [2] })
    #expect(try await both.array() == [1, 2])
  }

  @Test("deferred runs at the first demand, once")
  func deferred() async throws {
    let probe = Probe<Int>()
    let list = List.deferred {
      probe.record(1)
      return [1, 2]
    }
    let tail = list.tail
    #expect(probe.count == 0)
    #expect(await tail.array() == [2])
    #expect(await list.array() == [1, 2])
    #expect(probe.count == 1)
    let failing = LazyList<Int, any Error>.deferred { () async throws in throw Mishap(position: 0) }
    await #expect(throws: Mishap.self) { try await failing.head() }
  }

  @Test("recursive definitions")
  func recursive() async {
    let naturals = List.recursive { naturals in [0] + naturals.map { $0 + 1 } }
    #expect(await naturals.prefix(1000).array() == Array(0..<1000))
    let ones = List.recursive { ones in ones.prepending(1) }
    #expect(await ones.prefix(10).array() == Array(repeating: 1, count: 10))
    let asynchronous = List.recursive { list in
      [1]
        + list.map { (number: Int) async -> Int in
          await Task.yield()
          return number * 2
        }
    }
    #expect(await asynchronous.prefix(10).last() == 512)
    #expect(await asynchronous.element(at: 10) == 1024)
  }

  @Test("a list may go on in itself")
  func ring() async {
    enum Ring {
      static let ones: LazyList<Int, Never> = LazyList(head: { 1 }, tail: { ones })
      static let turns: LazyList<Int, Never> = LazyList([1, 2]) + .deferred { () -> List in turns }
    }
    #expect(await Ring.ones.prefix(3).array() == [1, 1, 1])
    #expect(await Ring.turns.prefix(5).array() == [1, 2, 1, 2, 1])
    #expect(Ring.ones.evaluatedCount == 1)
    #expect(Ring.turns.description == "[1, 2, …]")
  }

  @Test("a name belongs to the list that was given it")
  func names() async {
    let list = List(1...3)
    let named = list.named("numbers")
    #expect(named.name == "numbers")
    #expect(list.name == nil)
    _ = list.tail.named("rest")
    #expect(list.name == nil)
    let fibs = LazyList.recursive { fibs in [0, 1] + zip(fibs, fibs.tail).map { $0 + $1 } }
    #expect(await fibs.element(at: 10) == 55)
  }

  @Test("any sequence, pulled one by one")
  func sequences() async {
    let pulls = Probe<Int>()
    let list = (1...5).lazy.map { pulls.pass($0) }
    let memoized = LazyList(list)
    #expect(await memoized.prefix(2).array() == [1, 2])
    #expect(pulls.values == [1, 2])
    #expect(await [1, 2].memoized().count() == 2)
    #expect(
      await AsyncStream { continuation in
        for number in 0..<3 { continuation.yield(number) }
        continuation.finish()
      }.memoized().array() == [0, 1, 2])
  }

  @Test("a late reader sees the history; a stream goes on for others when one reader is cancelled")
  func stream() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let list = stream.memoized()
    continuation.yield(1)
    #expect(await list.head() == 1)
    let leaver = Task {
      for await element in list.tail { return element }
      return -1
    }
    leaver.cancel()
    #expect(await leaver.value == -1)
    continuation.yield(2)
    continuation.finish()
    #expect(await list.array() == [1, 2])
    #expect(await list.array() == [1, 2])
  }

  @Test("descriptions")
  func descriptions() async {
    let list = List(1...3)
    #expect(list.description == "[…]")
    #expect(list.debugDescription == "[… unresolved]")
    _ = await list.element(at: 1)
    #expect(list.description == "[1, 2, …]")
    #expect(list.named("numbers").debugDescription == "\"numbers\": [1, 2, … unresolved]")
    #expect(list.named("numbers").name == "numbers")
    _ = await list.count()
    #expect(list.description == "[1, 2, 3]")
    #expect(list.tail.description == "[2, 3]")
    #expect(LazyList(["a"]).prefix(0).description == "[]")
    #expect(LazyList<String, Never>.just("a").description == "[\"a\"]")
  }

  @Test("a list that goes on while it is described is never described as complete too early")
  func describedWhileRead() async {
    /// It has the list read to its end while it is described.
    final class Item: Sendable, CustomDebugStringConvertible {
      let number: Int
      let list = Locked(LazyList<Item, Never>.empty)

      init(_ number: Int) { self.number = number }

      var debugDescription: String {
        let list = list.withLock { $0 }
        Task.immediate { _ = await list.count() }
        return "\(number)"
      }
    }
    for describe in [
      \LazyList<Item, Never>.description, \LazyList<Item, Never>.debugDescription,
    ] as [KeyPath<LazyList<Item, Never>, String> & Sendable] {
      let list = LazyList<Int, Never>(0..<3).map { Item($0) }
      let first = await list.head()
      first?.list.withLock { $0 = list }
      let text = list[keyPath: describe]
      #expect(["[0, …]", "[0, … unresolved]", "[0, 1, 2]"].contains(text))
      #expect(list.description == "[0, 1, 2]")
      first?.list.withLock { $0 = .empty }
    }
  }

  @Test("a step in flight shows as computing, and what it brought shows without a reader")
  func computing() async {
    let gate = Gate()
    let list = List(state: 0) { state async in
      await gate.wait()
      state += 1
      return state
    }
    let reader = Task {
      for await element in list { return element }
      return -1
    }
    await gate.waitForArrivals(1)
    #expect(list.debugDescription == "[… computing]")
    reader.cancel()
    #expect(await reader.value == -1)
    gate.open()
    #expect(await list.head() == 1)
    #expect(list.evaluatedPrefix == [1])
  }

  @Test("tails of tails, evaluated and not")
  func tails() async {
    var list = List(0..<100)
    var expected = 0
    while let (head, tail) = await list.uncons() {
      #expect(head == expected)
      expected += 1
      list = tail
    }
    #expect(expected == 100)
    var unevaluated = List(0..<100)
    for _ in 0..<50 { unevaluated = unevaluated.tail }
    #expect(await unevaluated.head() == 50)
  }

  @Test("a negative count, and a negative position, stop the program")
  func negative() async {
    await #expect(processExitsWith: .failure) {
      _ = await LazyList<Int, Never>.empty.element(at: -1)
    }
    await #expect(processExitsWith: .failure) {
      _ = LazyList<Int, Never>.repeating(1, count: -1)
    }
  }
}

@Suite("Memos", .inTurn)
struct MemoTests {
  @Test("a value is computed once, at the first demand, for all")
  func once() async {
    let (gate, probe) = (Gate(), Probe<Int>())
    let memo = Memo { () async -> Int in
      probe.record(1)
      await gate.wait()
      return 7
    }
    #expect(memo.peek == nil)
    #expect(memo.description == "Memo(…)")
    let readers = (0..<50).map { _ in Task { await memo.value() } }
    await gate.waitForArrivals(1)
    gate.open()
    for reader in readers { #expect(await reader.value == 7) }
    #expect(probe.count == 1)
    #expect(memo.peek == 7)
    #expect(memo.description == "Memo(7)")
  }

  @Test("a failure is remembered")
  func failure() async {
    let probe = Probe<Int>()
    let memo = Memo { () throws -> Int in
      probe.record(1)
      throw Mishap(position: 0)
    }
    for _ in 0..<3 { await #expect(throws: Mishap.self) { try await memo.value() } }
    #expect(probe.count == 1)
    #expect(memo.peek == nil)
  }

  @Test("a memo of nothing, of something known, and of a plain closure")
  func kinds() async throws {
    #expect(await Memo<Int?, Never> { nil }.value() == nil)
    #expect(await Memo<Int, Never>(3).value() == 3)
    #expect(try await Memo { () async throws -> Int in 5 }.value() == 5)
  }
}
