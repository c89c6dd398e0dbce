import Synchronization
import Tailrace
import TailraceTesting

private typealias Ints = LazyList<Int, Never>

/// A list made as the specs make their streams: one value after the other.
private func list<Element: Sendable>(_ values: [Element]) -> LazyList<Element, Never> {
  values.reduce(.empty) { $0 + .just($1) }
}

private let endless = Ints.repeating(7)

extension Example {
  private static func row(
    _ asks: String, _ made: @escaping @Sendable () -> Ints, gives expected: [Int]
  ) -> Example {
    row(asks, .same, made, gives: expected)
  }

  private static func row(
    _ asks: String, _ verdict: Verdict, _ made: @escaping @Sendable () -> Ints,
    gives expected: [Int]
  ) -> Example {
    Example(.stream, asks, verdict) {
      let made = made()
      // Read by head and tail, as the specs do, and again as a whole.
      var (seen, rest) = ([Int](), made)
      while let (element, tail) = await rest.uncons() {
        seen.append(element)
        rest = tail
      }
      guard seen == expected else { return false }
      return await made.array() == expected
    }
  }

  static let streams: [Example] = [
    row("empty", { .empty }, gives: []),
    row("one value", { .just(7) }, gives: [7]),
    row("concat: two", { .just(0) + .just(1) }, gives: [0, 1]),
    row("concat: three", { .just(0) + .just(1) + .just(2) }, gives: [0, 1, 2]),
    row("concat: around an empty one", { .just(0) + .empty + .just(2) }, gives: [0, 2]),
    row("flatten", { LazyList<Ints, Never>.just(.just(7)).joined() }, gives: [7]),
    row("bind: one value", { Ints.just(0).bind { value, _ in .just(value + 1) } }, gives: [1]),
    row("bind: several", { list([0, 1]).bind { value, _ in .just(value + 1) } }, gives: [1, 2]),
    row(
      "bind: an empty result",
      { list([0, 1, 2]).bind { value, _ in value == 1 ? .empty : .just(value + 1) } },
      gives: [1, 3]),
    row("bind: nil ends it", { endless.bind { _, _ in Ints?.none } }, gives: []),
    row(
      "bind: stop ends it after one value",
      .better("stop ends it after the whole list that is returned, not after its first element"),
      {
        endless.bind { value, stop in
          stop = true
          return .just(value)
        }
      }, gives: [7]),
    row(
      "bind: nil and stop",
      {
        endless.bind { _, stop in
          stop = true
          return Ints?.none
        }
      }, gives: []),
    Example(
      .stream, "bind: a block with state, read twice",
      .different(
        "a list is evaluated once: the state has one life, and the second reading is the same")
    ) {
      let counter = Counter()
      let counting = list([0, 1, 2]).bind { _, _ in Ints.just(counter.increment() - 1) }
      guard await counting.array() == [0, 1, 2] else { return false }
      return await counting.array() == [0, 1, 2]
    },
    Example(
      .stream, "bind: a block with state, read in turns",
      .different("a list is evaluated once: both sides of the zip read the same elements")
    ) {
      let counter = Counter()
      let counting = list([0, 1, 2]).bind { _, _ in Ints.just(counter.increment() - 1) }
      return await counting.zip(.empty + counting).map { $0 + $1 }.array() == [0, 2, 4]
    },
    row("flattenMap: one value", { Ints.just(0).flatMap { Ints.just($0 + 1) } }, gives: [1]),
    row("flattenMap: several", { list([0, 1]).flatMap { Ints.just($0 + 1) } }, gives: [1, 2]),
    row(
      "flattenMap: an empty result",
      { list([0, 1, 2]).flatMap { $0 == 1 ? Ints.empty : .just($0 + 1) } }, gives: [1, 3]),
    row(
      "flattenMap: nil is as empty",
      .different("a closure returns `.empty`, or `[]`: nil is no list"),
      { list([0, 1, 2]).flatMap { $0 == 1 ? [] : [$0 + 1] } }, gives: [1, 3]),
    row("map", { list([0, 1, 2]).map { $0 + 1 } }, gives: [1, 2, 3]),
    row("mapReplace", { list([0, 1, 2]).map { _ in 7 } }, gives: [7, 7, 7]),
    row("filter", { list(Array(0...6)).filter { $0 % 2 == 0 } }, gives: [0, 2, 4, 6]),
    row("ignore: a value", { list(Array(0...6)).ignoring(1) }, gives: [0, 2, 3, 4, 5, 6]),
    Example(.stream, "ignore: by equality") {
      var text = ""
      text.append("1")
      return await list(["0", "1", "2"]).ignoring(text).array() == ["0", "2"]
    },
    row("startWith", { Ints.just(1).prepending(0) }, gives: [0, 1]),
    Example(.stream, "skip: any number that there is") {
      for count in 0..<3 {
        guard await list([0, 1, 2]).dropFirst(count).array() == Array([0, 1, 2][count...]) else {
          return false
        }
      }
      return true
    },
    row("skip: more than there are", { list([0, 1, 2]).dropFirst(4) }, gives: []),
    Example(.stream, "take: any number that there is") {
      for count in 0..<3 {
        guard await list([0, 1, 2]).prefix(count).array() == Array([0, 1, 2][..<count]) else {
          return false
        }
      }
      return true
    },
    row("take: more than there are", { list([0, 1, 2]).prefix(4) }, gives: [0, 1, 2]),
    Example(.stream, "take: of an endless one") {
      for count in 0...2 {
        guard await endless.prefix(count).array() == Array(repeating: 7, count: count) else {
          return false
        }
      }
      return true
    },
    row("take: of one value", { Ints.just(7).prefix(1) }, gives: [7]),
    row(
      "+concat: an array of streams", { parts.lazyList.joined() }, gives: Array(0...7)),
    row(
      "+concat: an enumerator of streams",
      { LazyList(iterator: parts.makeIterator()).joined() }, gives: Array(0...7)),
    row("scan", { list([1, 2, 3, 4]).reductions(0, +) }, gives: [1, 3, 6, 10]),
    row(
      "scan with the index",
      { list([1, 2, 3, 4]).enumerated().reductions(0) { $0 + $1.element + $1.offset } },
      gives: [1, 4, 9, 16]),
    row("takeUntil", { mixed.prefix { !($0 >= 3) } }, gives: [0, 1, 2]),
    row("takeWhile", { mixed.prefix { $0 <= 1 } }, gives: [0, 1]),
    row("takeWhile: all", { mixed.prefix { $0 <= 10 } }, gives: [0, 1, 2, 3, 0, 2, 4]),
    row("takeWhile: none", { mixed.prefix { $0 < 0 } }, gives: []),
    row(
      "takeWhile: ends an endless one",
      { endless.reductions(0) { count, _ in count + 1 }.prefix { $0 <= 5 } },
      gives: [1, 2, 3, 4, 5]),
    row("skipUntil", { mixed.drop { !($0 >= 3) } }, gives: [3, 0, 2, 4]),
    row("skipWhile", { mixed.drop { $0 <= 1 } }, gives: [2, 3, 0, 2, 4]),
    row("skipWhile: all", { mixed.drop { $0 <= 10 } }, gives: []),
    row("skipWhile: none", { mixed.drop { $0 < 0 } }, gives: [0, 1, 2, 3, 0, 2, 4]),
    Example(.stream, "combinePrevious: the block gets the one before") {
      let seen = Probe<Int?>()
      let starts = list([1, 2, 3]).map { Int?.some($0) }.prepending(nil)
      let combined = starts.adjacentPairs().map { previous, next in
        seen.record(previous)
        return next
      }
      return await combined.array() == [1, 2, 3] && seen.values == [nil, 1, 2]
    },
    Example(.stream, "combinePrevious: gives what the block does") {
      await list([1, 2, 3]).prepending(1).adjacentPairs().map { "\($0) - \($1)" }.array()
        == ["1 - 1", "1 - 2", "2 - 3"]
    },
    Example(.stream, "reduceEach") {
      await list([("foo", "bar"), ("buzz", "baz"), ("", "_")]).map { $0 + $1 }.array()
        == ["foobar", "buzzbaz", "_"]
    },
  ]

  private static let parts: [Ints] = [
    .just(0), .empty, list([1, 2, 3]), .just(4), .just(5), .empty, .empty, list([6, 7]),
  ]
  private static let mixed = list([0, 1, 2, 3, 0, 2, 4])

  private static let names = list(["Ada", "Bob", "Dea"])
  private static let verbs = list(["eats", "cooks", "jumps"])
  private static let things = list(["fish", "bear", "rock"])
  private static let times = list(["now", "later"])

  private static func texts(
    _ asks: String, _ made: @escaping @Sendable () -> LazyList<String, Never>,
    gives expected: [String]
  ) -> Example {
    texts(asks, .same, made, gives: expected)
  }

  private static func texts(
    _ asks: String, _ verdict: Verdict,
    _ made: @escaping @Sendable () -> LazyList<String, Never>, gives expected: [String]
  ) -> Example {
    Example(.stream, asks, verdict) { await made().array() == expected }
  }

  static let zips: [Example] = [
    texts(
      "zipWith: tuples", { names.zip(verbs).map { "\($0) \($1)" } },
      gives: ["Ada eats", "Bob cooks", "Dea jumps"]),
    texts(
      "zipWith: as long as the shorter", { names.zip(times).map { "\($0) \($1)" } },
      gives: ["Ada now", "Bob later"]),
    texts(
      "zipWith: an endless one", { names.zip(endless).map { "\($0) \($1)" } },
      gives: ["Ada 7", "Bob 7", "Dea 7"]),
    texts(
      "zipWith: the same one twice", { names.zip(names).map { "\($0) \($1)" } },
      gives: ["Ada Ada", "Bob Bob", "Dea Dea"]),
    texts(
      "+zip:reduce: the values", { zip(names, verbs, things).map { "\($0) \($1) \($2)" } },
      gives: ["Ada eats fish", "Bob cooks bear", "Dea jumps rock"]),
    texts(
      "+zip:reduce: as long as the shortest",
      { zip(names, verbs, things, times).map { "\($0) \($1) \($2) \($3)" } },
      gives: ["Ada eats fish now", "Bob cooks bear later"]),
    texts(
      "+zip:reduce: an endless one",
      { zip(names, verbs, things, endless).map { a, b, c, _ in "\(a) \(b) \(c)" } },
      gives: ["Ada eats fish", "Bob cooks bear", "Dea jumps rock"]),
    texts(
      "+zip:reduce: the same ones several times",
      .better("six lists, each with the type of its elements"),
      {
        zip(names, names, verbs, things, verbs, things).map { a, b, c, d, e, f in
          [a, b, c, d, e, f].joined(separator: " ")
        }
      },
      gives: [
        "Ada Ada eats fish eats fish", "Bob Bob cooks bear cooks bear",
        "Dea Dea jumps rock jumps rock",
      ]),
    texts(
      "+zip: one stream", .different("a tuple of one is its element: `map` says it"),
      { names.map { $0 } }, gives: ["Ada", "Bob", "Dea"]),
    texts(
      "+zip: an array of streams", .better("any number, each of its own type, and no cast"),
      { zip(names, endless, things).map { "\($0) \($1) \($2)" } },
      gives: ["Ada 7 fish", "Bob 7 bear", "Dea 7 rock"]),
    texts(
      "+zip: an empty array", .different("a zip has two lists or more, by its type"),
      { names.zip(.empty).map { (name, _: Int) in name } }, gives: []),
    texts(
      "+zip: an enumerator of streams",
      .different("the lists of a zip are known where it is written: each has its own type"),
      { zip(names, verbs, things).map { "\($0) \($1) \($2)" } },
      gives: ["Ada eats fish", "Bob cooks bear", "Dea jumps rock"]),
    texts(
      "+zip: an empty enumerator", .different("a zip has two lists or more, by its type"),
      { LazyList<String, Never>.empty.zip(names).map { $0.0 } }, gives: []),
  ]
}
