import Foundation
import Synchronization
import Tailrace
import TailraceFoundation
import TailraceTesting
import Testing

/// Counts what the runtime's hook for throws sees: the one through which test frameworks and debuggers
/// watch.
enum Throws {
  @TaskLocal fileprivate static var counter: Counter?

  private typealias Untyped = @convention(c) (UnsafeMutableRawPointer) -> Void
  private typealias Typed =
    @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer, UnsafeRawPointer) -> Void

  // Guard: written once, by `install`. May touch them: the hooks below, afterwards.
  nonisolated(unsafe) private static var formerUntyped: Untyped?
  nonisolated(unsafe) private static var formerTyped: Typed?

  /// Puts the counters before whoever watches already.
  private static let install: Bool = {
    guard let program = dlopen(nil, RTLD_NOW), let untyped = dlsym(program, "_swift_willThrow"),
      let typed = dlsym(program, "_swift_willThrowTypedImpl")
    else { return false }
    let untypedHook = untyped.assumingMemoryBound(to: Untyped?.self)
    let typedHook = typed.assumingMemoryBound(to: Typed?.self)
    (formerUntyped, formerTyped) = (untypedHook.pointee, typedHook.pointee)
    untypedHook.pointee = { error in
      Throws.counter?.increment()
      Throws.formerUntyped?(error)
    }
    typedHook.pointee = { error, type, conformance in
      Throws.counter?.increment()
      Throws.formerTyped?(error, type, conformance)
    }
    return true
  }()

  /// How many errors are thrown by a closure, in its task, in its children, and in the tasks of the
  /// lists that it starts.
  static func counted(_ body: () async throws -> Void) async rethrows -> Int {
    precondition(install, "the runtime has no hook for throws")
    let counter = Counter()
    try await $counter.withValue(counter) { try await body() }
    return counter.value
  }
}

/// Law 11: in a test as outside.
@Suite("Silence: a list that does not fail throws nothing, not even inwardly", .inTurn)
struct SilenceTests {
  @inline(never)
  private func fail() throws { throw Mishap(position: 0) }

  @inline(never)
  private func failTyped<Failure: Error>(_ failure: Failure) throws(Failure) { throw failure }

  @Test("the counter counts: plain errors, typed ones, those of children and of steps")
  func counter() async {
    #expect(await Throws.counted {} == 0)
    #expect(await Throws.counted { try? fail() } == 1)
    #expect(await Throws.counted { try? failTyped(Mishap(position: 0) as any Error) } == 1)
    #expect(await Throws.counted { _ = await Task { try fail() }.result } >= 1)
    let steps = Steps<Int, any Error> { position in
      try fail()
      return position
    }
    #expect(await Throws.counted { _ = try? await steps.memoized().head() } >= 1)
  }

  @Test("every operator", .timeLimit(.minutes(15)), arguments: Row.all, SourceKind.allCases)
  func rows(_ row: Row, _ kind: SourceKind) async throws {
    let thrown = try await Throws.counted {
      let list = row.apply(kind.make(Probe()), Calls())
      #expect(try await list.head() == row.elements.first)
      #expect(try await list.array() == row.elements)
      var seen: [Int] = []
      for try await element in list { seen.append(element) }
      #expect(seen == row.elements)
    }
    #expect(thrown == 0)
  }

  @Test("several readers that wait for each other's steps", .timeLimit(.minutes(15)))
  func readers() async throws {
    let thrown = try await Throws.counted {
      let list = Steps<Int, any Error>(500) { position in
        if position % 3 == 0 { await Task.yield() }
        return position
      }.memoized()
      try await withThrowingTaskGroup(of: Int.self) { group in
        for reader in 0..<8 {
          group.addTask {
            let layer = list.map { $0 + 1 }.filter { $0 % 2 == 0 }
            return reader % 2 == 0 ? try await layer.count() : try await layer.array().count
          }
        }
        for try await count in group { #expect(count == 250) }
      }
    }
    #expect(thrown == 0)
  }

  @Test("memos, recursion, and stacked layers", .timeLimit(.minutes(15)))
  func others() async {
    let thrown = await Throws.counted {
      let memo = Memo<Int, Never> { () async -> Int in
        await Task.yield()
        return 1
      }
      async let first = memo.value()
      async let second = memo.value()
      #expect(await first + second == 2)
      let powers = LazyList<Int, Never>.recursive { [1] + $0.mapAsync { $0 * 2 } }
      #expect(await powers.element(at: 20) == 1 << 20)
      var deep = LazyList<Int, Never>(0..<3).mapAsync { $0 }
      for _ in 0..<500 { deep = deep.map { $0 + 1 } }
      #expect(await deep.array() == [500, 501, 502])
    }
    #expect(thrown == 0)
  }
}
