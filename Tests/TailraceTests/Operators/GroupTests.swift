import Tailrace
import TailraceTesting
import Testing

/// What the operators on several elements give beside what the laws' table says.
@Suite("Groups, ends and looks", .inTurn)
struct GroupTests {
  typealias List = LazyList<Int, Never>

  @Test("onEach sees each element once, where it is computed")
  func onEach() async {
    let seen = Probe<Int>()
    let list = List(1...3).onEach { seen.record($0) }
    #expect(await list.head() == 1)
    #expect(seen.values == [1])
    for _ in 0..<2 { #expect(await list.map { $0 * 2 }.array() == [2, 4, 6]) }
    #expect(seen.values == [1, 2, 3])
  }

  @Test("suffix and dropLast of nothing demand nothing; a part of an array stays one")
  func ends() async {
    let pulls = Probe<Int>()
    let list = List(1...5).onEach { pulls.record($0) }
    #expect(await list.suffix(0).isEmpty())
    #expect(pulls.count == 0)
    #expect(await list.dropLast(0).head() == 1)
    #expect(pulls.count == 1)
    #expect([1, 2, 3].lazyList.suffix(2).evaluatedPrefix == [2, 3])
    #expect([1, 2, 3].lazyList.dropLast().evaluatedPrefix == [1, 2])
    #expect(await list.suffix(.max).array() == [1, 2, 3, 4, 5])
    #expect(await list.dropLast(.max).isEmpty())
  }

  @Test("suffix keeps as much as it gives, dropLast as much as it drops")
  func space() async {
    let population = Population()
    #expect(
      await SpaceTests.members(population).suffix(3).map(\.number).array() == [997, 998, 999])
    #expect(population.alive == 0)
    #expect(population.greatest <= 5)
    let other = Population()
    #expect(await SpaceTests.members(other).dropLast(3).count() == 997)
    #expect(other.alive == 0)
    #expect(other.greatest <= 5)
    let third = Population()
    #expect(await SpaceTests.members(third).windows(ofCount: 3).count() == 998)
    #expect(
      await SpaceTests.members(third).chunked { $0.number / 10 == $1.number / 10 }.count() == 100)
    #expect(third.alive == 0)
    #expect(third.greatest <= 12)
  }

  @Test("windows and dropLast of endless lists")
  func endless() async {
    #expect(await List(1...).windows(ofCount: 3).element(at: 4) == [5, 6, 7])
    #expect(await List(1...).dropLast(3).element(at: 4) == 5)
    #expect(await List(1...).chunked { $0 / 4 == $1 / 4 }.head() == [1, 2, 3])
    #expect(await List(1...).map { $0 % 7 }.uniqued().prefix(7).count() == 7)
    #expect(await List(1...).firstIndex { $0 > 100 } == 100)
  }

  @Test("a search that is cancelled comes up for air")
  func cancelledSearches() async {
    let searches: [@Sendable (List) async throws -> Void] = [
      { _ = try await $0.suffix(1).cancellable.head() },
      { _ = try await $0.map { _ in 1 }.uniqued().cancellable.element(at: 1) },
      { _ = try await $0.chunked { _, _ in true }.cancellable.head() },
      { _ = try await $0.chunked { _ in 1 }.cancellable.head() },
      { _ = try await $0.map { _ in Int?.none }.compacted().cancellable.head() },
      { _ = try await $0.cancellable.firstIndex { $0 < 0 } },
      { _ = try await $0.cancellable.count { $0 < 0 } },
      { _ = try await $0.cancellable.concurrentForEach(limit: 2) { _ in } },
    ]
    for search in searches {
      let list = List(1...200_000).onEach { if $0 == 9 { withUnsafeCurrentTask { $0?.cancel() } } }
      let task = Task { try await search(list) }
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test("the kinds of closures give lists, without a word about types")
  func kinds() async throws {
    let list = List(1...4)
    let uniqued: LazyList<Int, any Error> = list.uniqued { number throws in number % 2 }
    #expect(try await uniqued.array() == [1, 2])
    let chunks = list.chunked { left, right async in left / 3 == right / 3 }
    #expect(await chunks.array() == [[1, 2], [3, 4]])
    let seen = list.onEach { number async throws in await Task.yield() }
    #expect(try await seen.count() == 4)
    #expect(await LazyList(["ada", "bob", "al"]).grouped(by: \.first)["a"] == ["ada", "al"])
    #expect(await LazyList(["ada", "bob", "al"]).uniqued(on: \.first).array() == ["ada", "bob"])
    let initials = await LazyList(["ada", "al", "bob"]).chunked(on: \.first).array()
    #expect(initials.map(\.0) == ["a", "b"])
    #expect(initials.map(\.1) == [["ada", "al"], ["bob"]])
  }
}

@Suite("Lines of chunks of bytes", .inTurn)
struct ChunkLineTests {
  private func chunks(_ texts: [String]) -> LazyList<[UInt8], Never> {
    LazyList(texts.map { Array($0.utf8) })
  }

  @Test(
    "cut where the lines end, and not where the chunks do",
    arguments: [
      (["one\ntw", "o\r\nthree"], ["one", "two", "three"]),
      (["a\r", "\nb\r", "c\n"], ["a", "b\rc"]),
      (["\n\n", "", "\r\n", "x"], ["", "", "", "x"]),
      ([], []),
      ([""], []),
      (["\n"], [""]),
      (["end\n"], ["end"]),
    ] as [([String], [String])])
  func cut(_ texts: [String], _ lines: [String]) async {
    #expect(await chunks(texts).lines.array() == lines)
    #expect(await chunks(texts).map { $0[...] }.lines.array() == lines)
  }

  @Test("a character may be in two chunks; what is none is repaired")
  func characters() async {
    let bytes = Array("é\n".utf8)
    let split: LazyList<[UInt8], Never> = [[bytes[0]], [bytes[1], bytes[2]], [0xFF]]
    #expect(await split.lines.array() == ["é", "\u{FFFD}"])
  }

  @Test("a chunk is read when a line needs it; a failure comes behind the lines")
  func lazily() async throws {
    let pulls = Probe<Int>()
    let texts = ["a\nb\nc", "d\n", "e"]
    let list = LazyList(0..<4).map { (number: Int) throws -> [UInt8] in
      pulls.record(number)
      guard number < 3 else { throw Mishap(position: 3) }
      return Array(texts[number].utf8)
    }.lines
    #expect(try await list.element(at: 1) == "b")
    #expect(pulls.values == [0])
    #expect(try await list.element(at: 2) == "cd")
    #expect(pulls.values == [0, 1])
    await #expect(throws: Mishap.self) { try await list.array() }
    #expect(list.evaluatedPrefix == ["a", "b", "cd"])
  }
}
