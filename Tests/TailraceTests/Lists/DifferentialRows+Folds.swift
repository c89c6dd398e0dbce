import Tailrace

extension Comparison {
  static let joins: [Comparison] = [
    Comparison(
      "+", { sample in sample.input + sample.other },
      [
        "lazy": { sample in await (sample.lazy + sample.lazyOther).array() },
        "eager": { sample in (sample.eager + sample.eagerOther).array },
      ]),
    Comparison(
      "prepending", { sample in [sample.target] + sample.input },
      [
        "lazy": { sample in await sample.lazy.prepending(sample.target).array() }
      ]),
    Comparison(
      "joined", { sample in Array(sample.input.map { sample.copies($0) }.joined()) },
      [
        "lazy": { sample in await sample.lazy.map { sample.copies($0) }.joined().array() },
        "lazy, of lists": { sample in
          await sample.lazy.map { sample.copies($0).lazyList }.joined().array()
        },
      ]),
    Comparison(
      "interspersed",
      { sample in Array(sample.input.map { [$0] }.joined(separator: [sample.target])) },
      [
        "lazy": { sample in await sample.lazy.interspersed(with: sample.target).array() }
      ]),
    Comparison(
      "zip", { sample in Swift.zip(sample.input, sample.other).map { [$0, $1] } },
      [
        "lazy": { sample in await sample.lazy.zip(sample.lazyOther).map { [$0, $1] }.array() },
        "lazy, of two": { sample in
          await zip(sample.lazy, sample.lazyOther).map { [$0, $1] }.array()
        },
        "lazy, of three": { sample in
          await zip(sample.lazy, sample.lazyOther, sample.lazy)
            .map { [$0.0, $0.1] }.array()
        },
        "eager": { sample in sample.eager.zip(sample.eagerOther).map { [$0, $1] }.array },
        "eager, of three": { sample in
          sample.eager.zip(sample.eagerOther, sample.eager)
            .map { [$0.0, $0.1] }.array
        },
      ]),
    Comparison(
      "elementsEqual", { sample in sample.input.elementsEqual(sample.input.prefix(sample.count)) },
      [
        "lazy": { sample in
          await sample.lazy.elementsEqual(LazyList(sample.input).prefix(sample.count))
        },
        "lazy, sharing": { sample in
          let list = sample.lazy
          return await list.elementsEqual(list.prefix(sample.count))
        },
        "lazy, by": { sample in
          await sample.lazy.elementsEqual(LazyList(sample.input).prefix(sample.count), by: ==)
        },
        "eager": { sample in sample.eager == sample.eager.prefix(sample.count) },
        "eager, sequences": { sample in
          sample.eager.elementsEqual(sample.eager.prefix(sample.count))
        },
      ]),
  ]

  static let scans: [Comparison] = [
    Comparison(
      "reductions", { sample in scanned(sample.input, 1) { $0 &* 2 &+ $1 } },
      [
        "lazy": { sample in await sample.lazy.reductions(1) { $0 &* 2 &+ $1 }.array() },
        "lazy, async": { sample in
          let list = sample.lazy.reductions(1) { sum, number async in sum &* 2 &+ number }
          return try await list.array()
        },
        "lazy, into": { sample in
          await sample.lazy.reductions(into: 1) { $0 = $0 &* 2 &+ $1 }.array()
        },
      ]),
    Comparison(
      "reductions, throwing",
      { sample in scanned(try sample.input.map { try sample.checked($0) }, 0, +) },
      [
        "lazy": { sample in
          try await sample.lazy.reductions(0) { $0 + (try sample.checked($1)) }.array()
        }
      ]),
    Comparison(
      "enumerated", { sample in sample.input.enumerated().map { [$0.offset, $0.element] } },
      [
        "lazy": { sample in
          await sample.lazy.enumerated().map { [$0.offset, $0.element] }.array()
        }
      ]),
    Comparison(
      "adjacentPairs",
      { sample in Swift.zip(sample.input, sample.input.dropFirst()).map { [$0, $1] } },
      [
        "lazy": { sample in await sample.lazy.adjacentPairs().map { [$0, $1] }.array() }
      ]),
  ]

  private static func scanned(
    _ numbers: [Int], _ initial: Int, _ combine: (Int, Int) -> Int
  ) -> [Int] {
    var result = initial
    return numbers.map {
      result = combine(result, $0)
      return result
    }
  }

  static let folds: [Comparison] = [
    Comparison(
      "reduce", { sample in sample.input.reduce("") { "\($0) \($1)" } },
      [
        "lazy": { sample in await sample.lazy.reduce("") { "\($0) \($1)" } },
        "lazy, async": { sample in
          await sample.lazy.reduce("") { text, number async in "\(text) \(number)" }
        },
        "lazy, into": { sample in await sample.lazy.reduce(into: "") { $0 += " \($1)" } },
      ]),
    Comparison(
      "sum", { sample in sample.input.reduce(0) { $0 &+ $1 } },
      [
        "lazy": { sample in await sample.lazy.sum() }
      ]),
    Comparison(
      "reduce, throwing",
      { sample in try sample.input.reduce(0) { $0 + (try sample.checked($1)) } },
      [
        "lazy": { sample in try await sample.lazy.reduce(0) { $0 + (try sample.checked($1)) } }
      ]),
    Comparison(
      "foldRight", { sample in sample.input.reversed().reduce("") { "\($1) \($0)" } },
      [
        "lazy": { sample in
          await sample.lazy.foldRight("") { first, rest in "\(first) \(await rest.value())" }
        }
      ]),
    Comparison(
      "count, last, and all",
      { sample in [sample.input.count, sample.input.last ?? -9] + sample.input },
      [
        "lazy": { sample in
          let list = sample.lazy
          let (count, last) = (await list.count(), await list.last() ?? -9)
          return [count, last] + (await list.array())
        },
        "eager": { sample in
          [sample.eager.count, sample.eager.last ?? -9] + sample.eager.array
        },
        "there and back": { sample in
          let list = await sample.eager.lazyList.eager()
          return [list.count, list.last ?? -9] + Array(list)
        },
      ]),
    Comparison(
      "forEach", { sample in sample.input },
      [
        "lazy": { sample in
          var seen: [Int] = []
          await sample.lazy.forEach { seen.append($0) }
          return seen
        }
      ]),
  ]

  static let searches: [Comparison] = [
    Comparison(
      "first(where:)", { sample in sample.input.first { $0 > sample.target } },
      [
        "lazy": { sample in await sample.lazy.first { $0 > sample.target } }
      ]),
    Comparison(
      "contains, allSatisfy",
      { sample in
        [
          sample.input.contains(sample.target), sample.input.contains { $0 > sample.target },
          sample.input.allSatisfy { $0 > sample.target },
        ]
      },
      [
        "lazy": { sample in
          let list = sample.lazy
          let found = await list.contains(sample.target)
          let greater = await list.contains { $0 > sample.target }
          return [found, greater, await list.allSatisfy { $0 > sample.target }]
        }
      ]),
    Comparison(
      "min, max", { sample in extremes(sample) },
      [
        "lazy": { sample in await extremes(sample.lazy) }
      ]),
  ]

  // Which of several equal elements is chosen shows in its position.

  private static func extremes(_ sample: Sample) -> [Int] {
    let pairs = Array(sample.input.enumerated())
    let least = pairs.min { $0.element < $1.element }
    let greatest = pairs.max { $0.element < $1.element }
    return [least?.offset ?? -1, greatest?.offset ?? -1, sample.input.min() ?? -9]
  }

  private static func extremes(_ list: LazyList<Int, Never>) async -> [Int] {
    let pairs = list.enumerated()
    let least = await pairs.min { $0.element < $1.element }
    let greatest = await pairs.max { $0.element < $1.element }
    return [least?.offset ?? -1, greatest?.offset ?? -1, await list.min() ?? -9]
  }
}
