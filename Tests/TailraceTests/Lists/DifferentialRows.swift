import Tailrace

extension Comparison {
  static let all: [Comparison] =
    maps + filters + slices + joins + scans + folds + searches + groups + recoveries

  private static let maps: [Comparison] = [
    Comparison(
      "map", { sample in sample.input.map { $0 * 2 } },
      [
        "lazy": { sample in await sample.lazy.map { $0 * 2 }.array() },
        "lazy, async": { sample in await sample.lazy.map { number async in number * 2 }.array() },
        "eager": { sample in sample.eager.map { $0 * 2 }.array },
      ]),
    Comparison(
      "map, throwing", { sample in try sample.input.map { try sample.checked($0) } },
      [
        "lazy": { sample in try await sample.lazy.map { try sample.checked($0) }.array() },
        "lazy, async": { sample in
          try await sample.lazy.map { number async throws in try sample.checked(number) }.array()
        },
        "eager": { sample in try sample.eager.map { try sample.checked($0) }.array },
      ]),
    Comparison(
      "compactMap", { sample in sample.input.compactMap { sample.isMultiple($0) ? $0 : nil } },
      [
        "lazy": { sample in
          await sample.lazy.compactMap { sample.isMultiple($0) ? $0 : nil }.array()
        },
        "lazy, async": { sample in
          let list = sample.lazy.compactMap { number async -> Int? in
            sample.isMultiple(number) ? number : nil
          }
          return await list.array()
        },
        "eager": { sample in
          sample.eager.compactMap { sample.isMultiple($0) ? $0 : nil }.array
        },
      ]),
    Comparison(
      "flatMap", { sample in sample.input.flatMap { sample.copies($0) } },
      [
        "lazy": { sample in await sample.lazy.flatMap { sample.copies($0) }.array() },
        "lazy, to lists": { sample in
          await sample.lazy.flatMap { sample.copies($0).lazyList }.array()
        },
        "lazy, async": { sample in
          let list = sample.lazy.flatMap { number async in sample.copies(number) }
          return await list.array()
        },
        "eager": { sample in sample.eager.flatMap { sample.copies($0) }.array },
        "eager, to lists": { sample in
          sample.eager.flatMap { EagerList(sample.copies($0)) }.array
        },
      ]),
    Comparison(
      "flatMap, throwing",
      { sample in try sample.input.flatMap { sample.copies(try sample.checked($0)) } },
      [
        "lazy": { sample in
          let list = sample.lazy.flatMap { sample.copies(try sample.checked($0)) }
          return try await list.array()
        },
        "eager": { sample in
          try sample.eager.flatMap { sample.copies(try sample.checked($0)) }.array
        },
      ]),
    Comparison(
      "bind", { sample in bound(sample) },
      [
        "lazy": { sample in
          let list = sample.lazy.bind { number, stop -> LazyList<Int, Never>? in
            stop = number == sample.target
            return number == 6 ? nil : sample.copies(number).lazyList
          }
          return await list.array()
        },
        "lazy, async": { sample in
          let list = sample.lazy.bind { number, stop async -> LazyList<Int, Never>? in
            stop = number == sample.target
            return number == 6 ? nil : sample.copies(number).lazyList
          }
          return await list.array()
        },
        "eager": { sample in
          let list = sample.eager.bind { number, stop -> EagerList<Int>? in
            stop = number == sample.target
            return number == 6 ? nil : EagerList(sample.copies(number))
          }
          return list.array
        },
      ]),
  ]

  /// `bind` on arrays: up to `nil`, or up to and with the list that comes with `stop`.
  private static func bound(_ sample: Sample) -> [Int] {
    let passed = sample.input.prefix { $0 != 6 }
    let last = passed.firstIndex(of: sample.target).map { $0 + 1 } ?? passed.endIndex
    return passed[..<last].flatMap { sample.copies($0) }
  }

  private static let filters: [Comparison] = [
    Comparison(
      "filter", { sample in sample.input.filter { sample.isMultiple($0) } },
      [
        "lazy": { sample in await sample.lazy.filter { sample.isMultiple($0) }.array() },
        "lazy, async": { sample in
          await sample.lazy.filter { number async in sample.isMultiple(number) }.array()
        },
        "eager": { sample in sample.eager.filter { sample.isMultiple($0) }.array },
      ]),
    Comparison(
      "filter, throwing",
      { sample in try sample.input.filter { sample.isMultiple(try sample.checked($0)) } },
      [
        "lazy": { sample in
          let list = sample.lazy.filter { sample.isMultiple(try sample.checked($0)) }
          return try await list.array()
        },
        "eager": { sample in
          try sample.eager.filter { sample.isMultiple(try sample.checked($0)) }.array
        },
      ]),
    Comparison(
      "ignoring", { sample in sample.input.filter { $0 != sample.target } },
      [
        "lazy": { sample in await sample.lazy.ignoring(sample.target).array() }
      ]),
    Comparison(
      "removeDuplicates",
      { sample in
        sample.input.indices.filter { $0 == 0 || sample.input[$0 - 1] != sample.input[$0] }
          .map { sample.input[$0] }
      },
      [
        "lazy": { sample in await sample.lazy.removeDuplicates().array() },
        "lazy, by, async": { sample in
          let list = sample.lazy.removeDuplicates { left, right async in left == right }
          return try await list.array()
        },
      ]),
    Comparison(
      "removeDuplicates(by:)",
      { sample in
        sample.input.reduce(into: [Int]()) { kept, number in
          guard let last = kept.last, last / sample.modulus == number / sample.modulus else {
            return kept.append(number)
          }
        }
      },
      [
        "lazy": { sample in
          let list = sample.lazy.removeDuplicates { $0 / sample.modulus == $1 / sample.modulus }
          return await list.array()
        }
      ]),
  ]

  private static let slices: [Comparison] = [
    Comparison(
      "prefix", { sample in Array(sample.input.prefix(sample.count)) },
      [
        "lazy": { sample in await sample.lazy.prefix(sample.count).array() },
        "eager": { sample in sample.eager.prefix(sample.count).array },
      ]),
    Comparison(
      "dropFirst", { sample in Array(sample.input.dropFirst(sample.count)) },
      [
        "lazy": { sample in await sample.lazy.dropFirst(sample.count).array() },
        "eager": { sample in sample.eager.dropFirst(sample.count).array },
      ]),
    Comparison(
      "slices of slices",
      { sample in
        Array(sample.input.dropFirst(sample.count / 2).prefix(sample.count).dropFirst(1))
      },
      [
        "lazy": { sample in
          await sample.lazy.dropFirst(sample.count / 2).prefix(sample.count).dropFirst(1).array()
        },
        "eager": { sample in
          sample.eager.dropFirst(sample.count / 2).prefix(sample.count).dropFirst(1).array
        },
      ]),
    Comparison(
      "prefix(while:)", { sample in Array(sample.input.prefix { $0 != sample.target }) },
      [
        "lazy": { sample in await sample.lazy.prefix { $0 != sample.target }.array() },
        "lazy, async": { sample in
          let list = sample.lazy.prefix { number async in number != sample.target }
          return await list.array()
        },
      ]),
    Comparison(
      "drop(while:)", { sample in Array(sample.input.drop { $0 != sample.target }) },
      [
        "lazy": { sample in await sample.lazy.drop { $0 != sample.target }.array() },
        "lazy, async": { sample in
          let list = sample.lazy.drop { number async in number != sample.target }
          return await list.array()
        },
      ]),
    Comparison(
      "chunks",
      { sample in
        stride(from: 0, to: sample.input.count, by: sample.modulus).map {
          Array(sample.input[$0..<min($0 + sample.modulus, sample.input.count)])
        }
      },
      [
        "lazy": { sample in await sample.lazy.chunks(ofCount: sample.modulus).array() }
      ]),
    Comparison(
      "element(at:)",
      { sample in sample.count < sample.input.count ? sample.input[sample.count] : nil },
      [
        "lazy": { sample in await sample.lazy.element(at: sample.count) }
      ]),
    Comparison(
      "uncons", { sample in sample.input.first.map { [[$0], Array(sample.input.dropFirst())] } },
      [
        "lazy": { sample in
          guard let (head, tail) = await sample.lazy.uncons() else { return nil }
          return [[head], await tail.array()]
        }
      ]),
  ]
}
