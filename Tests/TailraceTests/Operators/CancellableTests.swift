import Tailrace
import TailraceTesting
import Testing

@Suite("Questions that a cancelled task leaves", .inTurn)
struct CancellableTests {
  @Test("a search without a find, in a list that cannot fail")
  func search() async {
    typealias List = LazyList<Int, Never>
    let questions: [@Sendable (List) async throws -> Void] = [
      { _ = try await $0.throwingCancellation.first { $0 < 0 } },
      { _ = try await $0.throwingCancellation.contains { $0 < 0 } },
      { _ = try await $0.throwingCancellation.allSatisfy { $0 > 0 } },
      { _ = try await $0.filter { $0 < 0 }.throwingCancellation.head() },
      { _ = try await $0.filter { $0 < 0 }.map { $0 }.map { $0 }.throwingCancellation.head() },
      { _ = try await $0.throwingCancellation.filter { $0 < 0 }.map { $0 }.prefix(1).array() },
      { _ = try await ($0.filter { $0 < 0 } + [1]).map { $0 }.throwingCancellation.head() },
      { _ = try await $0.flatMap { _ in List.empty }.map { $0 }.throwingCancellation.head() },
      { for try await element in $0.throwingCancellation where element < 0 {} },
    ]
    for question in questions { await expectCancelled(question) }
  }

  @Test("a search through steps that suspend")
  func suspendingSearch() async {
    let gate = Gate()
    let list = LazyList(1...).mapAsync { number in
      if number == 9 { await gate.wait() }
      return number
    }
    let task = Task { try await list.map { $0 }.throwingCancellation.first { $0 > 8 } }
    await gate.waitForArrivals(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    gate.open()
    #expect(await list.first { $0 > 8 } == 9)
  }

  @Test("a group's deadline reaches each of them")
  func deadline() async {
    let gate = Gate()
    let list = CancellationTests.gated(gate)
    let found = await withTaskGroup(of: Int?.self) { group in
      group.addTask { try? await list.throwingCancellation.head() }
      group.addTask { try? await list.map { $0 }.throwingCancellation.first { $0 > 3 } }
      group.addTask { try? await list.throwingCancellation.reduce(0) { $0 + $1 } }
      await gate.waitForArrivals(1)
      group.cancelAll()
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(found == [nil, nil, nil])
    gate.open()
    // The step in flight went on, for everybody.
    #expect(await list.head() == 1)
    #expect(gate.arrived == 1)
  }

  @Test("it is the list itself: no closure runs twice, and no cells are kept beside its own")
  func sameCells() async throws {
    let instances = InstanceCounter()
    let list = SpaceTests.members(instances)
    #expect(try await list.throwingCancellation.first { $0.number == 500 }?.number == 500)
    #expect(list.evaluatedCount == 501)
    #expect(instances.alive == 501)
    #expect(try await list.throwingCancellation.count() == 1000)
    #expect(await list.count() == 1000)
    #expect(instances.alive == 1000)
    #expect(
      try await SpaceTests.members(InstanceCounter()).throwingCancellation.last()?.number == 999)
  }

  @Test("nobody holds the head: constant memory")
  func space() async throws {
    let instances = InstanceCounter()
    #expect(try await SpaceTests.members(instances).throwingCancellation.count() == 1000)
    #expect(instances.alive == 0)
    #expect(instances.greatest <= 2)
  }

  @Test("evaluated elements are read, and the list's own failure comes through")
  func evaluated() async {
    let list = LazyList(1...3)
    #expect(await list.count() == 3)
    let reader = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await list.throwingCancellation.array()
    }
    #expect((try? await reader.value) == [1, 2, 3])
    let failing = LazyList<Int, Mishap>.failing(Mishap(position: 0)).throwingCancellation
    await #expect(throws: Mishap.self) { try await failing.head() }
  }

  @Test("a memo")
  func memo() async throws {
    let gate = Gate()
    let memo = Memo { () async -> Int in
      await gate.wait()
      return 7
    }
    let reader = Task { try await memo.throwingCancellation.value() }
    await gate.waitForArrivals(1)
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    gate.open()
    #expect(await memo.value() == 7)
    #expect(try await memo.throwingCancellation.value() == 7)
    #expect(memo.throwingCancellation.peek == 7)
    #expect(gate.arrived == 1)
  }
}
