import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

/// Law 9: no thread is ever blocked. All of a test runs on the one thread of an executor.
@Suite("One thread is enough", .timeLimit(.minutes(15)), .inTurn)
struct OneThreadTests {
  @Test("every operator", arguments: Row.all, SourceKind.allCases)
  func rows(_ row: Row, _ kind: SourceKind) async {
    await OneThread.run {
      let list = row.apply(kind.make(Probe()), Calls())
      async let first = try? list.array()
      async let second = try? list.count()
      #expect(await first == row.elements)
      #expect(await second == row.elements.count)
    }
  }

  @Test("readers that wait for one another")
  func readers() async {
    await OneThread.run {
      let taken = Probe<Int>()
      let list = RequestTests.source(200, readers: 4, taken)
      await withTaskGroup { group in
        for _ in 0..<4 { group.addTask { for await element in list { taken.record(element) } } }
      }
      #expect(taken.count == 800)
    }
  }

  @Test("an endless search over steps that yield leaves turns to others", .hangLimit)
  func search() async {
    await OneThread.run {
      let isFound = Locked(false)
      async let finding: Void = isFound.withLock { $0 = true }
      let list = LazyList(0...).map { (number: Int) async -> Int in
        await Task.yield()
        return number
      }
      #expect(await list.first { _ in isFound.withLock { $0 } } != nil)
      await finding
    }
  }

  @Test(
    "a list of lists without end gives its thread up, so that others can cancel its reader",
    .hangLimit, arguments: ["head", "array", "spans", "count", "reduce", "last", "each"],
    [false, true])
  func endless(_ name: String, isHeld: Bool) async {
    typealias List = LazyList<Int, any Error>
    @Sendable func becoming() -> List { .deferred { () throws -> List in becoming() } }
    @Sendable func search() -> List {
      LazyList(1...).filter { $0 < 0 }.setFailureType(to: (any Error).self)
    }
    let read: @Sendable (() -> List) async throws -> Void =
      switch name {
      case "head": { _ = try await $0().head() }
      case "array": { _ = try await $0().array() }
      case "spans": { try await $0().forEachSpan { _ in } }
      case "count": { _ = try await $0().count() }
      case "reduce": { _ = try await $0().reduce(0, +) }
      case "last": { _ = try await $0().last() }
      default: { for try await _ in $0() {} }
      }
    for make in [becoming, search] {
      await OneThread.run {
        let held = isHeld ? make() : nil
        let reader = Task(executorPreference: OneThread.current) {
          try await read { held ?? make() }
        }
        await Task(executorPreference: OneThread.current) { reader.cancel() }.value
        await #expect(throws: CancellationError.self) { try await reader.value }
      }
    }
  }

  @Test("random graphs of lists and memos", arguments: 0..<20 as Range<UInt64>)
  func graphs(_ seed: UInt64) async {
    var generator = SeededGenerator(seed: seed)
    let graph = MixedGraph(&generator)
    #expect(await OneThread.run { await graph.problems(on: OneThread.current) } == [])
  }
}

/// Law 9: user code runs under no lock, so it may call back into anything.
@Suite("User code is called under no lock", .timeLimit(.minutes(15)), .inTurn)
struct CallBackTests {
  typealias List = LazyList<Item, any Error>

  /// An element whose equality and whose end look at a list.
  final class Item: Equatable, Sendable {
    let number: Int
    private let look: @Sendable () -> Void

    init(_ number: Int, _ look: @escaping @Sendable () -> Void) {
      self.number = number
      self.look = look
    }

    static func == (left: Item, right: Item) -> Bool {
      left.look()
      return left.number == right.number
    }

    deinit { look() }
  }

  @Test("closures, equality, and the end of an element look at the list that runs them")
  func lookingBack() async throws {
    let whole = Locked(List.empty)
    let looks = Counter()
    let look: @Sendable () -> Void = {
      let list = whole.withLock { $0 }
      _ = (list.description, list.debugDescription, list.evaluatedCount, list.evaluatedPrefix)
      _ = (list.tail, list.dropFirst(20), list + list, list.map { $0 }, list.name)
      // Another list is built, asked, and let go of; a task is told something.
      _ = LazyList<Int, Never>(1...3).filter { $0 > 1 }.prepending(0)
      withUnsafeCurrentTask { _ = $0?.isCancelled }
      Task { _ = try await list.prefix(1).count() }
      looks.increment()
    }
    let plain = LazyList<Int, any Error>(0..<20).map { Item($0, look) }
    let asynchronous = Steps<Item, any Error>(20) { position in
      await Task.yield()
      look()
      return Item(position, look)
    }.memoized()
    for source in [plain, asynchronous] {
      let list =
        source
        .filter { _ in
          look()
          return true
        }
        .removeDuplicates()
        .ignoring(Item(3, {}))
        .reductions(into: Item(0, {})) { $0 = $1 }
      whole.withLock { $0 = list }
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<3 { group.addTask { try await list.count() } }
        for try await count in group { #expect(count == 19) }
      }
      #expect(try await list.contains(Item(7, {})))
      whole.withLock { $0 = .empty }
    }
    #expect(looks.value > 100)
  }

  @Test("a step's cancellation handler lets go of, reads, and cancels other lists")
  func cancellationHandler() async {
    let (started, told, other) = (Gate(), Gate(), LazyList<Int, Never>(0..<9).mapAsync { $0 })
    do {
      let list = Steps<Int, Never>(1) { position in
        await withTaskCancellationHandler {
          started.open()
          await told.wait()
        } onCancel: {
          _ = (other.description, other.dropFirst(3).evaluatedCount, other.tail)
          Task { await other.count() }
          told.open()
        }
        return position
      }.memoized()
      let reader = Task { for await _ in list {} }
      await started.wait()
      reader.cancel()
      await reader.value
    }
    await told.wait()
    #expect(await other.count() == 9)
  }
}
