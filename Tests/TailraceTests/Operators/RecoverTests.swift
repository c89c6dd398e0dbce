import Tailrace
import TailraceTesting
import Testing

@Suite("Recovering: a list in place of a failure", .inTurn)
struct RecoverTests {
  typealias List = LazyList<Int, any Error>

  /// 1, 2, and then a failure, of each kind.
  static func failing(_ kind: SourceKind, _ pulls: Probe<Int> = Probe()) -> List {
    kind.make(pulls, failingAt: 3)
  }

  @Test("the elements before it are kept, the handler runs once", arguments: SourceKind.allCases)
  func handlerRunsOnce(_ kind: SourceKind) async {
    let (pulls, handled) = (Probe<Int>(), Probe<Mishap?>())
    let list = Self.failing(kind, pulls).catch { failure in
      handled.record(failure as? Mishap)
      return [7, 8]
    }
    #expect(await list.prefix(2).array() == [1, 2])
    #expect(handled.count == 0, "nothing runs before the failed element is demanded")
    for _ in 0..<3 { #expect(await list.array() == [1, 2, 7, 8]) }
    #expect(handled.values == [Mishap(position: 2)])
    #expect(pulls.values == [1, 2, 3])
  }

  @Test("the kinds of handlers, and what their lists fail with", arguments: SourceKind.allCases)
  func kinds(_ kind: SourceKind) async throws {
    let never: LazyList<Int, Never> = Self.failing(kind).catch { _ in [7] }
    #expect(await never.array() == [1, 2, 7])
    let typed: LazyList<Int, Mishap> = Self.failing(kind).catch { _ in
      LazyList<Int, Mishap>.failing(Mishap(position: 9))
    }
    await #expect(throws: Mishap(position: 9)) { try await typed.array() }
    let throwing = Self.failing(kind).catch { _ -> LazyList<Int, Never> in
      throw Mishap(position: 8)
    }
    await #expect(throws: Mishap(position: 8)) { try await throwing.array() }
    let async = Self.failing(kind).catch { _ async -> LazyList<Int, Never> in
      await Task.yield()
      return [7]
    }
    #expect(await async.array() == [1, 2, 7])
    let both = Self.failing(kind).catch { _ async throws -> LazyList<Int, Never> in
      throw Mishap(position: 6)
    }
    await #expect(throws: Mishap(position: 6)) { try await both.array() }
    #expect(both.evaluatedPrefix == [1, 2])
  }

  @Test("replaced, ended, renamed", arguments: SourceKind.allCases)
  func others(_ kind: SourceKind) async {
    #expect(await Self.failing(kind).replacingFailure(with: 0).array() == [1, 2, 0])
    #expect(await Self.failing(kind).endingAtFailure().array() == [1, 2])
    let renamed = Self.failing(kind).mapFailure { failure in
      Mishap(position: 10 + ((failure as? Mishap)?.position ?? 0))
    }
    do throws(Mishap) {
      _ = try await renamed.array()
      Issue.record("the list must fail")
    } catch {
      #expect(error == Mishap(position: 12))
    }
    #expect(renamed.evaluatedPrefix == [1, 2])
  }

  @Test("a list that catches by itself, again and again, uses no stack")
  func chain() async {
    @Sendable func next(_ number: Int) -> LazyList<Int, Never> {
      let list: List = [number] + .failing(Mishap(position: number))
      return list.catch { _ in number < 20_000 ? next(number + 1) : .empty }
    }
    #expect(await next(0).count() == 20_001)
  }

  /// A list whose second step fails twice, and may be retried.
  static func stumbling(_ suspends: Bool?, _ attempts: Probe<Int>) -> List {
    @Sendable func step(_ state: inout Int) throws -> Int? {
      attempts.record(state)
      if state == 1, attempts.values.count(where: { $0 == 1 }) < 3 { throw Mishap(position: 1) }
      state += 1
      return state > 3 ? nil : state
    }
    guard let suspends else {
      return List(state: 0, retryingFailures: true) { state throws in try step(&state) }
    }
    return List(state: 0, retryingFailures: true) { state async throws in
      if suspends { await Task.yield() }
      return try step(&state)
    }
  }

  @Test("a failure for now is caught, too, wherever its step runs", arguments: [nil, false, true])
  func transient(_ suspends: Bool?) async throws {
    await OneThread.run {
      for layers in 0..<4 {
        let attempts = Probe<Int>()
        var list = Self.stumbling(suspends, attempts)
        for _ in 0..<layers { list = list.map { $0 } }
        let caught = list.catch { _ in [9] }
        #expect(await caught.map { $0 }.array() == [1, 9])
        #expect(await caught.array() == [1, 9])
        #expect(attempts.values == [0, 1])
        // The list itself is as it was.
        await #expect(throws: Mishap.self) { try await list.array() }
        #expect((try? await list.array()) == [1, 2, 3])
        #expect(attempts.values == [0, 1, 1, 1, 2, 3])
      }
    }
  }

  @Test("a failure for now that is renamed is retried", arguments: [nil, false, true])
  func renamedTransient(_ suspends: Bool?) async {
    await OneThread.run {
      let attempts = Probe<Int>()
      let list = Self.stumbling(suspends, attempts)
        .mapFailure { _ in Mishap(position: 5) }.map { $0 * 10 }
      await #expect(throws: Mishap(position: 5)) { try await list.array() }
      await #expect(throws: Mishap(position: 5)) { try await list.element(at: 1) }
      #expect((try? await list.array()) == [10, 20, 30])
      #expect(attempts.values == [0, 1, 1, 1, 2, 3])
    }
  }

  @Test("the nearest one catches", arguments: [nil, false, true])
  func nearest(_ suspends: Bool?) async {
    await OneThread.run {
      let inner = Self.stumbling(suspends, Probe()).map { $0 }.replacingFailure(with: 7)
      #expect(await inner.map { $0 }.replacingFailure(with: 8).array() == [1, 7])
      let renamed = Self.stumbling(suspends, Probe()).mapFailure { _ in Mishap(position: 5) }
      let caught = Probe<Mishap>()
      let outer = renamed.map { $0 }.catch { failure in
        caught.record(failure)
        return [8]
      }
      #expect(await outer.array() == [1, 8])
      #expect(caught.values == [Mishap(position: 5)])
    }
  }

  @Test(
    "in joined lists, and in zips, each failure goes to its own list", arguments: [false, true])
  func joined(_ suspends: Bool) async {
    await OneThread.run {
      let list = LazyList(1...2).flatMap { _ in
        Self.stumbling(suspends, Probe()).replacingFailure(with: 0)
      }
      #expect(await list.array() == [1, 0, 1, 0])
      let pairs = Self.stumbling(suspends, Probe()).endingAtFailure()
        .zip(Self.stumbling(suspends, Probe()).replacingFailure(with: 5)).map { $0 * 10 + $1 }
      #expect(await pairs.array() == [11])
    }
  }

  @Test("many readers wait for a step that fails for now: all get what comes instead")
  func readers() async {
    let gate = Gate()
    let list = List(state: 0, retryingFailures: true) { state async throws in
      await gate.wait()
      throw Mishap(position: 0)
    }
    let handled = Probe<Int>()
    let caught = list.map { $0 }.catch { _ in LazyList<Int, Never>([handled.pass(1)]) }
    let readers = (0..<8).map { _ in Task { await caught.array() } }
    await gate.waitForArrivals(1)
    gate.open()
    for reader in readers { #expect(await reader.value == [1]) }
    #expect(handled.count == 1)
  }

  @Test("a reader's cancellation is not caught")
  func cancellation() async {
    let gate = Gate()
    let list = CancellationTests.failing(gate).catch { _ in [0] }.throwingCancellation
    let reader = Task { try await list.head() }
    await gate.waitForArrivals(1)
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    gate.open()
    #expect((try? await list.head()) == 1)
  }

  @Test("a failed source is released, with its closures")
  func release() async {
    let instances = InstanceCounter()
    let list = List.failing(Mishap(position: 0)).catch { [member = instances.member()] _ in
      LazyList<Int, Never>([member.number])
    }
    #expect(instances.alive == 1)
    #expect(await list.count() == 1)
    #expect(instances.alive == 0)
    #expect(await list.count() == 1)
  }
}
