// Code as users write it. It belongs to no target: the checks of the project type-check it alone, and
// fail when an expression takes the compiler too many attempts. Nothing here runs.
import Tailrace
import TailraceObservation

struct Oops: Error {}
enum ParseError: Error { case bad(String) }
enum Size: Sendable { case small, large }
struct User: Sendable, Hashable { var (id, name, scores) = (0, "", [0]) }

func parse(_ text: String) throws -> Int { try Int(text) ?? { throw ParseError.bad(text) }() }
func parseTyped(_ text: String) throws(ParseError) -> Int { text.count }
func download(_ id: Int) async throws -> String { "\(id)" }
func score(_ id: Int) async -> Int { id }
func double(_ number: Int) -> Int { number * 2 }
func isEven(_ number: Int) -> Bool { number % 2 == 0 }

let numbers = LazyList(1...100)
let (words, ids) = (["a", "bb", "ccc"], [1, 2, 3])

// MARK: Chains

func folds() async throws {
  let sum = await LazyList(1...100).map { $0 * 2 }.filter { $0 % 3 == 0 }.reduce(0, +)
  let same = await numbers.map { $0 * 2 }.filter { $0 % 3 == 0 }.reduce(0) { $0 + $1 }
  let long = await numbers.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.reduce(0, +)
  let isRight = await LazyList(1...100).map { $0 * 2 }.filter { $0 % 3 == 0 }.sum() == 3366
  print("sum: \(await numbers.map { $0 * 2 }.filter { $0 % 3 == 0 }.sum()), or \(isRight)")
  let halves = await [1.5, 2.5].lazyList.map { $0 * 2 + 1 }.filter { $0 > 0.5 }.reduce(0, +)
  let text = await words.lazyList.map { $0 + "x" }.filter { $0 != "" }.reduce("", +)
  let counts = await LazyList(1...6).map { $0 % 2 }.reduce(into: [:]) { $0[$1, default: 0] += 1 }
  let byLength = await words.lazyList.map { $0 + "x" }.reduce(into: [:]) {
    $0[$1.count, default: []].append($1)
  }
  let total = await numbers.map { $0 * 2 }.reduce(into: 0) { $0 += $1 }
  let largest = await numbers.map(double).filter(isEven).max()
  let lengths = await words.lazyList.map(\.count).filter { $0 > 1 }.reduce(0, +)
  let parsed = try await words.lazyList.map { try parse($0) }.filter { $0 > 0 }.reduce(0, +)
  let scored = await ids.lazyList.map { await score($0) }.filter { $0 > 1 }.reduce(0, +)
  async let later = numbers.map { $0 * 2 }.filter { $0 % 3 == 0 }.reduce(0, +)
  _ = (sum, same, long, halves, text, counts, byLength, total, largest, lengths, parsed, scored)
  _ = await later
}

func lists() async throws {
  let squares = await LazyList(1...).map { $0 * $0 }.filter { $0 % 2 == 0 }.prefix(3).array()
  let labels = await words.lazyList.enumerated().map { "\($0.offset): \($0.element)" }.array()
  let fizz = numbers.map { $0 % 5 == 0 ? "Buzz" : "\($0)" }.filter { $0 != "1" }
  let table = LazyList(1...3).flatMap { row in LazyList(1...3).map { column in row * column } }
  let twice = LazyList(1...3).flatMap { [$0, $0 * 10] }.filter { $0 > 1 }
  let texts = ids.lazyList.map { try await download($0) }.filter { $0.count > 3 }
    .map { $0.uppercased() }
  let mixed = numbers.map { $0 + 1 }.filter { await score($0) > 3 }.map { try parse("\($0)") }
  let steps = await numbers.map { $0 * 2 }.adjacentPairs().map { $1 - $0 }.allSatisfy { $0 == 2 }
  let sums = await zip(numbers, numbers.tail).map { $0 * $1 }.filter { $0 > 10 }.reduce(0, +)
  let pairs = await numbers.zip(numbers.tail).map { $0 * $1 }.filter { $0 > 10 }.reduce(0, +)
  let triples = zip(numbers, numbers, words.lazyList).map { $0.0 * $0.1 + $0.2.count }
  let first = await numbers.map { $0 * 2 }.filter { $0 % 3 == 0 }.first { $0 > 10 }
  let named = await numbers.map { $0 * 2 }.first(where: isEven)
  let three = zip(numbers, numbers, words.lazyList).map { "\($0)\($1)\($2)" }
  let fibs = LazyList.recursive { fibs in [0, 1] + fibs.zip(fibs.tail).map { $0 + $1 } }
  let digits = LazyList(state: 100) { rest in
    defer { rest /= 10 }
    return rest > 0 ? rest % 10 : nil
  }.map { $0 + 1 }.filter { $0 > 1 }
  _ = (squares, labels, fizz, table, twice, texts, mixed, steps, sums, pairs, triples, three)
  // Where the first `return` is `nil`, the closure says its result.
  let countdown = LazyList(state: 3) { rest -> Int? in
    guard rest > 0 else { return nil }
    defer { rest -= 1 }
    return rest
  }
  let doubled = numbers.flatMap { number -> [Int] in
    guard number > 1 else { return [] }
    return [number, number]
  }
  _ = (fibs, digits, first, named, countdown, doubled)
}

// Nothing is known of the elements of `[]`, nor of a closure's result before its body is checked.
func comparisons(_ signal: Signal<Int, Never>) async throws {
  let empty = await numbers.map { $0 + 1 }.array() == []
  let some = await numbers.map { $0 + 1 }.filter { $0 > 20 }.array() != []
  let turned = await [] == numbers.flatMap { LazyList.repeating($0, count: $0) }.array()
  let zipped = await numbers.zip(words.lazyList).map { $1.count + $0 }.array() == []
  let parsed = try await words.lazyList.map { try parse($0) }.array() == []
  let scored = await ids.lazyList.map { await score($0) }.array() == []
  let eager = await numbers.map { $0 + 1 }.eager() == [] || EagerList(ids).map { $0 + 1 } == []
  let slice = await numbers.map { $0 + 1 }.array().prefix(2) == []
  let pushed = await signal.map { $0 + 1 }.array() == []
  let filled = await numbers.map { $0 + 1 }.array() == [1, 2]
  let others =
    ids.map {
      let next = $0 + 1; return next
    } == [] && ids == [] && words != []
  let counts = await numbers.map { $0 + 1 }.reduce(into: [Int: Int]()) { $0[$1] = 1 } == [:]
  _ = (empty, some, turned, zipped, parsed, scored, eager, slice, pushed, filled, others, counts)
}

func eagerLists() throws {
  let list = EagerList(1...9).map { $0 * 2 }.filter { $0 % 3 == 0 }
  let sum = EagerList(1...9).map { $0 * 2 }.filter { $0 % 3 == 0 }.reduce(0, +)
  let long = EagerList([3, 1, 2]).map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }
    .reduce(0, +)
  let parsed = try EagerList(words).map { try parse($0) }.filter { $0 > 0 }.map { $0 * 2 }
  let rows = list.zip(list.dropFirst()).map { $0 + $1 }
  let same: EagerList<Int> = rows
  let doubles = EagerList([1.5, 2.5])
  let total = doubles.map { $0 * 2 + 1 }.filter { $0 > 0.5 }.reduce(0, +)
  let half = doubles.map { $0 * 2 + 1 }.map { $0 * 3 }.reduce(0, +) / 2
  let text = list.map { "\($0 + 1)" + "x" }.filter { $0 != "" }.reduce("", +)
  _ = (sum, long, parsed, same, total, half, text)
}

func eagerZips(_ list: EagerList<Int>, _ doubles: EagerList<Double>, _ texts: EagerList<String>) {
  let sums = list.zip(list).map { $0.0 + $0.1 + 1 + 2 }.map { $0 * 2 + 1 }.filter { $0 > 1 }.max()
  let product = doubles.zip(doubles).map { $0 * $1 + 1 }.filter { $0 > 0.5 }.reduce(0, +)
  let outer = list.zip(texts, list.dropFirst()).map { $0.0 + $0.2 }
  let lengths = list.zip(texts, list).map { $0 + $1.count + $2 }.filter { $0 > 1 }
  let four = list.zip(texts, list, list).map { $0.0 + $0.3 }
  let five = list.zip(texts, list, list, texts).map { "\($0) \($1) \($4)" }
  _ = (sums, product, outer, lengths, four, five)
}

func failuresOfOneType() async throws {
  let _: LazyList<Int, ParseError> = words.lazyList.map(failingAs: ParseError.self, parseTyped)
  let _: LazyList<Int, ParseError> = LazyList(state: words[...]) { (rest) throws(ParseError) in
    guard let word = rest.popFirst() else { return nil }
    return try parseTyped(word)
  }
  let _: Memo<Int, ParseError> = Memo { () throws(ParseError) in try parseTyped("1") }
  let _: LazyList<Int, Never> = LazyList(first: 1) { $0 < 9 ? $0 + 1 : nil }
  let typedLater = words.lazyList.setFailureType() + words.lazyList.setFailureType(to: Oops.self)
  let _: LazyList<String, Oops> = typedLater
  let untyped = LazyList(first: 1) { try parse("\($0)") }
  let _: LazyList<Int, any Error> = untyped
}

// What stands between other operators: `sum()` where `reduce(0, +)` would be tried too often.
func sums() async throws {
  let isLarge = await Double(numbers.map { $0 * 2 }.filter { $0 > 2 }.sum()) / 3 > 10
  let text = "\(await numbers.map { $0 * 2 }.map { $0 * $0 }.sum()) and \(await numbers.max() ?? 0)"
  let doubles = await LazyList([1.5, 2.5]).map { $0 * 2 + 1 }.filter { $0 > 0.5 }.reduce(0, +)
  let eager = EagerList([1.5, 2.5])
  let mapped = eager.map { $0 * 2 + 1 }.filter { $0 > 0.5 }
  let total = mapped.reduce(0, +)
  let rows = await zip(numbers, numbers.tail, words.lazyList).map { $0 + $1 + $2.count }
    .filter { $0 > 2 }.reduce(0, +)
  _ = (isLarge, text, doubles, total, rows)
}

// A local function that calls itself in a closure is Sendable, as the closure.
func counting() -> LazyList<Int, Never> {
  @Sendable func from(_ number: Int) -> LazyList<Int, Never> {
    LazyList(head: { number }, tail: { from(number + 1) })
  }
  return from(1)
}

// What the standard library does with the elements.
func arranged() async {
  let sorted = await numbers.map { $0 * 3 }.array().sorted { $0 > $1 }
  let groups = await Dictionary(grouping: numbers.map { $0 + 1 }.array()) { $0 % 3 }
  let position = await numbers.map { $0 * 3 }.enumerated().first { $0.element > 10 }?.offset
  _ = (sorted, groups, position)
}

func attempts(_ list: LazyList<String, any Error>) async throws {
  let pages = LazyList(state: 1) { number in
    let page = try await retrying { [number] in try await download(number) }
    number += 1
    return page
  }
  let first = try await withTimeout(.seconds(1)) { try await list.first { $0.count > 3 } }
  _ = (pages, first)
}

@MainActor final class Screen {
  var title = ""
  lazy var model = ListModel(pageSize: 20) { [weak self] in LazyList([self?.title ?? ""]) }

  func show(_ titles: Signal<String, any Error>) -> Task<Void, Never> {
    titles.subscribe { [weak self] event in
      switch event {
      case .next(let title): self?.title = title
      case .failure, .completed: self?.title = ""
      }
    }
  }

  func refresh() {
    QueueScheduler.main.schedule { self.title = "at once" }
    QueueScheduler.main.schedule(after: .seconds(1)) { self.title = "later" }
    QueueScheduler.main.schedule(every: .seconds(1)) { [weak self] in self?.title += "." }
  }
}

func later(on scheduler: any Scheduler) async throws {
  scheduler.schedule(at: scheduler.now.advanced(by: .seconds(2))) { print("later") }
  await scheduler.schedule(at: scheduler.now) { () async in print("now") }.value
  try await scheduler.sleep(until: scheduler.now)
}

func merged(_ some: Signal<Int, any Error>, _ safe: Signal<Int, Never>) {
  let two = some.merging(safe).merging(safe)
  let three = some.merging(safe.setFailureType(), safe.setFailureType())
  _ = (two, three, safe.merging(safe))
}

// Code of others, which only stands beside the import.
func others(_ stream: AsyncStream<Int>) async {
  let sum = zip([1, 2, 3], [10, 20, 30]).map { $0 * $1 }.filter { $0 > 10 }.reduce(0, +)
  let lazy = (1...100).lazy.map { $0 * 2 }.filter { $0 % 3 == 0 }.reduce(0, +)
  let streamed = await stream.map { $0 * 2 }.filter { $0 % 3 == 0 }.reduce(0, +)
  _ = (sum, lazy, streamed)
}

// MARK: Bodies of closures

func bodiesWithOneExpression() {
  _ = numbers.map { _ in 1 }
  _ = numbers.map { ($0, "\($0)") }
  _ = numbers.map { [$0: [$0]] }
  _ = numbers.map { number in { number * 2 }() }
  _ = numbers.map { (number: Int) -> Int? in number > 1 ? number : nil }
  _ = numbers.map { if $0 > 1 { "many" } else { "one" } }
  _ = numbers.map {
    switch $0 {
    case 1: "one"
    case 2: "two"
    default: "many"
    }
  }
  _ = numbers.flatMap { number in if number > 1 { [number] } else { [] } }
  _ = numbers.flatMap { number in if number > 1 { LazyList.just(number) } else { .empty } }
  _ = numbers.compactMap { number in if number > 1 { number } else { nil } }
  _ = numbers.compactMap { try? parse("\($0)") }
  _ = numbers.map { _ in }
  _ = numbers.map { print($0) }
}

func bodiesThatKnowTheirType() async {
  let _: LazyList<Size, Never> = numbers.map { _ in .small }
  let _: LazyList<Size, Never> = numbers.map { $0 > 1 ? .large : .small }
  let _: LazyList<Size, Never> = numbers.map { if $0 > 1 { .large } else { .small } }
  let _: LazyList<Double, Never> = numbers.map { _ in 1 }
  let _: LazyList<Int?, Never> = numbers.map { $0 }
  let _: LazyList<Set<Int>, Never> = numbers.map { [$0, $0] }
  let _: LazyList<any Sendable, Never> = numbers.map { $0 }
  let _: LazyList<@Sendable () -> Int, Never> = numbers.map { number in { number } }
  let _: LazyList<Int, Never> = numbers.compactMap { _ in nil }
  let _: Double = await numbers.reduce(0) { $0 + Double($1) }
  let _: [Int] = await numbers.reduce([]) { $0 + [$1] }
}

func bodiesThatDoNotComeBack() {
  _ = numbers.filter { _ in fatalError() }
  let _: LazyList<Int, Never> = numbers.map { _ in fatalError() }
  _ = numbers.filter { _ in throw Oops() }
  _ = numbers.map { _ -> Int in throw Oops() }
  _ = numbers.filter { number in
    print(number)
    throw Oops()
  }
  _ = numbers.filter { number in
    print(number)
    fatalError()
  }
  _ = numbers.map { _ async throws -> Int in
    await Task.yield()
    throw Oops()
  }
}

func bodiesOfStatements() {
  _ = numbers.map { number in
    let square = number * number
    return "\(square)"
  }
  _ = numbers.map { number in
    guard number > 1 else { throw Oops() }
    return number
  }
  _ = numbers.map { number in
    var sum = 0
    for addend in 0..<number { sum += addend }
    return sum
  }
  _ = numbers.map { number in
    do { return try parse("\(number)") } catch { return 0 }
  }
  _ = numbers.map { number in if #available(macOS 99, *) { number } else { number + 1 } }
  _ = numbers.map { number in
    async let scored = score(number)
    return await scored
  }
  _ = numbers.map { @Sendable [factor = 3] number in number * factor }
}
