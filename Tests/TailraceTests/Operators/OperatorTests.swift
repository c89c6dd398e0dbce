import Tailrace
import TailraceTesting
import Testing

/// What operators give beside what the laws' table says.
@Suite("Operators", .inTurn)
struct OperatorTests {
  typealias List = LazyList<Int, Never>

  @Test(
    "prefix and dropFirst against the standard library", arguments: 0...20, [0, 1, 7, 8, 9, 200])
  func slices(_ count: Int, _ length: Int) async {
    let array = Array(0..<length)
    let list = List(array)
    #expect(await list.prefix(count).array() == Array(array.prefix(count)))
    #expect(await list.dropFirst(count).array() == Array(array.dropFirst(count)))
    #expect(
      await list.dropFirst(count).prefix(count).array()
        == Array(array.dropFirst(count).prefix(count)))
    #expect(await list.element(at: count) == (count < length ? count : nil))
    #expect(await List(array).dropFirst(count).count() == max(0, length - count))
  }

  @Test(
    "dropFirst across segments",
    arguments: [0, 7, 8, 23, 24, 55, 56, 119, 120, 247, 248, 999, 1000])
  func segments(_ count: Int) async {
    let list = List(0..<1000)
    #expect(await list.dropFirst(count).head() == (count < 1000 ? count : nil))
    #expect(list.evaluatedCount == min(count + 1, 1000))
    #expect(await list.dropFirst(count).count() == 1000 - count)
    #expect(await List(0..<1000).dropFirst(count).array() == Array(count..<1000))
    #expect(await list.dropFirst(.max).isEmpty())
    #expect(await list.dropFirst(500).dropFirst(.max).isEmpty())
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

  @Test("chunks: the last one may be shorter", arguments: 1...7)
  func chunks(_ count: Int) async {
    let chunks = await List(0..<6).chunks(ofCount: count).array()
    #expect(chunks.flatMap { $0 } == Array(0..<6))
    #expect(chunks.dropLast().allSatisfy { $0.count == count })
  }

  @Test("min and max choose as the standard library does")
  func extremes() async {
    let pairs = [(2, "a"), (1, "b"), (2, "c"), (1, "d")]
    let list = LazyList(pairs)
    #expect(await list.min { $0.0 < $1.0 }?.1 == pairs.min { $0.0 < $1.0 }?.1)
    #expect(await list.max { $0.0 < $1.0 }?.1 == pairs.max { $0.0 < $1.0 }?.1)
    #expect(await List.empty.min() == nil)
    #expect(await List([3, 1, 2]).max() == 3)
  }

  @Test("folds of each kind")
  func folds() async throws {
    let list = List(1...4)
    #expect(await list.reduce("") { $0 + "\($1)" } == "1234")
    #expect(try await list.reduce("") { (text, number) throws in text + "\(number)" } == "1234")
    #expect(await list.reduce(into: []) { $0.append($1) } == [1, 2, 3, 4])
    let joined = await list.reduce("") { (text, number) async in
      await Task.yield()
      return text + "\(number)"
    }
    #expect(joined == "1234")
    #expect(await list.first { $0 > 2 } == 3)
    #expect(await list.contains(4))
    #expect(await !list.contains(5))
    #expect(await list.allSatisfy { $0 < 5 })
    await #expect(throws: Mishap.self) {
      try await list.forEach { number throws in
        if number == 2 { throw Mishap(position: number) }
      }
    }
    await #expect(throws: Mishap.self) {
      try await list.foldRight(0) { first, rest throws in
        if first == 3 { throw Mishap(position: 3) }
        return first + (try await rest.value())
      }
    }
  }

  @Test("a right fold of an infinite list stops where the closure does")
  func foldRight() async {
    let list = List(1...)
    let firstAbove = await list.foldRight(0) { first, rest in
      if first > 10 { return first }
      let (once, twice) = (await rest.value(), await rest.value())
      #expect(once == twice)
      return once
    }
    #expect(firstAbove == 11)
    #expect(list.evaluatedCount == 11)
  }

  @Test("bind: stop ends after the whole inner list, nil at once")
  func bind() async {
    let stopped = List(1...).bind { number, stop in
      stop = number == 2
      return List.repeating(number, count: 2)
    }
    #expect(await stopped.array() == [1, 1, 2, 2])
    let ended = List(1...).bind { number, stop in
      stop = number == 2
      return number == 2 ? nil : List.just(number)
    }
    #expect(await ended.array() == [1])
  }

  @Test("flatMap to lists that may fail in other ways")
  func mixedFailures() async throws {
    let list = List(1...3).flatMap { number in
      LazyList<Int, Mishap>.failing(Mishap(position: number)).prepending(number)
    }
    await #expect(throws: Mishap(position: 1)) { try await list.count() }
    let fine = List(1...3).flatMap { (number: Int) throws in List.just(number) }
    #expect(try await fine.array() == [1, 2, 3])
  }

  @Test("optional elements are elements")
  func optionals() async {
    let list = LazyList<Int?, Never>([1, nil, 3])
    #expect(await list.count() == 3)
    #expect(await list.array() == [1, nil, 3])
    let same = list.map { $0 }
    #expect(await same.last() == .some(.some(3)))
    #expect(await list.dropFirst().head() == .some(.none))
    #expect(await list.adjacentPairs().count() == 2)
    #expect(await list.interspersed(with: nil).count() == 5)
    #expect(await zip(list, list).count() == 3)
    #expect(await list.removeDuplicates().count() == 3)
    #expect(await LazyList<Int?, Never>.just(nil).count() == 1)
  }

  @Test("zip of one, of many, of none that is empty")
  func zips() async {
    #expect(
      await zip(List(1...3), List(1...), List(4...)).map { $0 + $1 + $2 }.array() == [6, 9, 12])
    #expect(await zip(List(1...), List.empty).isEmpty())
    #expect(await zip(List(1...), List(1...)).prefix(1000).count() == 1000)
  }

  @Test("cycled: nothing for nothing, one pass for the source")
  func cycled() async {
    #expect(await List.empty.cycled().isEmpty())
    let pulls = Probe<Int>()
    let cycle = List(1...3).map { pulls.pass($0) }.cycled()
    #expect(await cycle.prefix(100).count() == 100)
    #expect(pulls.values == [1, 2, 3])
  }

  @Test("concatenations share the cells of their lists")
  func concatenation() async {
    let pulls = Probe<Int>()
    let list = List(1...3).map { pulls.pass($0) }
    let twice = list + list
    let more = twice + [9] + twice
    #expect(await more.array() == [1, 2, 3, 1, 2, 3, 9, 1, 2, 3, 1, 2, 3])
    #expect(await twice.array() == [1, 2, 3, 1, 2, 3])
    #expect(pulls.values == [1, 2, 3])
    #expect(await (List.empty + List.empty).isEmpty())
  }
}

/// A programmer's error stops the program, with words.
@Suite("Traps", .inTurn)
struct TrapTests {
  @Test("negative counts and positions, empty chunks")
  func counts() async {
    await #expect(processExitsWith: .failure) { _ = LazyList<Int, Never>.empty.prefix(-1) }
    await #expect(processExitsWith: .failure) { _ = LazyList<Int, Never>.empty.dropFirst(-1) }
    await #expect(processExitsWith: .failure) {
      _ = await LazyList<Int, Never>.empty.element(at: -1)
    }
    await #expect(processExitsWith: .failure) {
      _ = LazyList<Int, Never>.empty.chunks(ofCount: 0)
    }
    await #expect(processExitsWith: .failure) {
      _ = LazyList<Int, Never>.repeating(1, count: -1)
    }
  }

  @Test("the words name the type, the call and the mend")
  func words() async throws {
    // Under load the testing library may lose what a process writes as it dies: looks again.
    for attempt in 1...5 {
      let result = try await #require(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        _ = LazyList<Int, Never>.empty.prefix(-1)
      }
      let words = String(decoding: result.standardErrorContent, as: UTF8.self)
      if words.isEmpty && attempt < 5 { continue }
      #expect(words.contains("LazyList.prefix(_:)"), "\(result.exitStatus): \(words)")
      #expect(words.contains("0 or more"), "\(result.exitStatus): \(words)")
      return
    }
  }
}
