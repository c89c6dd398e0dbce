import Tailrace

extension Comparison {
  static let groups: [Comparison] = [
    Comparison(
      "compacted",
      { sample in
        sample.input.map { sample.isMultiple($0) ? $0 : nil }.compactMap { $0 }
      },
      [
        "lazy": { sample in
          await sample.lazy.map { sample.isMultiple($0) ? $0 : nil }.compacted().array()
        }
      ]),
    Comparison(
      "uniqued", { sample in firsts(sample.input) { $0 } },
      ["lazy": { sample in await sample.lazy.uniqued().array() }]),
    Comparison(
      "uniqued(on:)", { sample in firsts(sample.input) { $0 % sample.modulus } },
      [
        "lazy": { sample in await sample.lazy.uniqued { $0 % sample.modulus }.array() },
        "lazy, async": { sample in
          try await sample.lazy.uniqued { number async in number % sample.modulus }.array()
        },
      ]),
    Comparison(
      "dropLast", { sample in Array(sample.input.dropLast(sample.count)) },
      [
        "lazy": { sample in await sample.lazy.dropLast(sample.count).array() },
        "lazy, of an array": { sample in
          await sample.input.lazyList.dropLast(sample.count).array()
        },
      ]),
    Comparison(
      "suffix", { sample in Array(sample.input.suffix(sample.count)) },
      [
        "lazy": { sample in await sample.lazy.suffix(sample.count).array() },
        "lazy, of an array": { sample in await sample.input.lazyList.suffix(sample.count).array() },
      ]),
    Comparison(
      "windows",
      { sample -> [[Int]] in
        guard sample.input.count >= sample.modulus else { return [] }
        return (0...sample.input.count - sample.modulus).map {
          Array(sample.input[$0..<$0 + sample.modulus])
        }
      },
      ["lazy": { sample in await sample.lazy.windows(ofCount: sample.modulus).array() }]),
    Comparison(
      "chunked(by:)", { sample in chunks(sample.input) { $0 <= $1 } },
      [
        "lazy": { sample in await sample.lazy.chunked { $0 <= $1 }.array() },
        "lazy, async": { sample in
          try await sample.lazy.chunked { left, right async in left <= right }.array()
        },
      ]),
    Comparison(
      "chunked(on:)", { sample in chunks(sample.input) { sample.kind($0) == sample.kind($1) } },
      [
        "lazy": { sample in await sample.lazy.chunked { sample.kind($0) }.map(\.1).array() },
        "lazy, async": { sample in
          try await sample.lazy.chunked { number async in sample.kind(number) }.map { $0.1 }.array()
        },
        "lazy, by what it is on": { sample in
          await sample.lazy.chunked { sample.kind($0) }.map { (subject, chunk) in
            chunk.filter { sample.kind($0) == subject }
          }.array()
        },
      ]),
    Comparison(
      "onEach, throwing", { sample in try sample.input.map { try sample.checked($0) } },
      [
        "lazy": { sample in
          try await sample.lazy.onEach { _ = try sample.checked($0) }.array()
        },
        "lazy, async": { sample in
          try await sample.lazy.onEach { number async throws in _ = try sample.checked(number) }
            .array()
        },
      ]),
    Comparison(
      "count(where:)", { sample in sample.input.filter { sample.isMultiple($0) }.count },
      [
        "lazy": { sample in await sample.lazy.count { sample.isMultiple($0) } },
        "lazy, throwing": { sample in
          try await sample.lazy.count { number throws in sample.isMultiple(number) }
        },
        "lazy, async": { sample in
          try await sample.lazy.count { number async in sample.isMultiple(number) }
        },
        "lazy, async throwing": { sample in
          try await sample.lazy.count { number async throws in sample.isMultiple(number) }
        },
      ]),
    Comparison(
      "lines", { sample in lines(sample.text) },
      [
        "lazy": { sample in await sample.chunks.lines.array() },
        "lazy, of slices": { sample in await sample.chunks.map { $0[...] }.lines.array() },
        "lazy, of one chunk": { sample in
          await LazyList.just(Array(sample.text.utf8)).lines.array()
        },
      ]),
    Comparison(
      "concurrentMapUnordered", { sample in sample.input.map { $0 * 2 }.sorted() },
      [
        "lazy": { sample in
          await sample.lazy.concurrentMapUnordered(limit: sample.modulus) { $0 * 2 }.array()
            .sorted()
        }
      ]),
  ]

  static let recoveries: [Comparison] = [
    Comparison(
      "catch", { sample in sample.untilTarget + (sample.hasTarget ? sample.other : []) },
      [
        "lazy": { sample in
          await sample.lazy.map { try sample.checked($0) }.catch { _ in sample.lazyOther }.array()
        },
        "lazy, async": { sample in
          let list = sample.lazy.map { number async throws in try sample.checked(number) }
          return await list.catch { _ async in sample.lazyOther }.array()
        },
        "lazy, throwing": { sample in
          let list = sample.lazy.map { try sample.checked($0) }
          return try await list.catch { _ throws in sample.lazyOther }.array()
        },
        "lazy, async throwing": { sample in
          let list = sample.lazy.map { try sample.checked($0) }
          return try await list.catch { _ async throws in sample.lazyOther }.array()
        },
      ]),
    Comparison(
      "replacingFailure", { sample in sample.untilTarget + (sample.hasTarget ? [9] : []) },
      [
        "lazy": { sample in
          await sample.lazy.map { try sample.checked($0) }.replacingFailure(with: 9).array()
        },
        "lazy, async": { sample in
          let list = sample.lazy.map { number async throws in try sample.checked(number) }
          return await list.replacingFailure(with: 9).array()
        },
      ]),
    Comparison(
      "endingAtFailure", { sample in sample.untilTarget },
      [
        "lazy": { sample in
          await sample.lazy.map { try sample.checked($0) }.endingAtFailure().array()
        },
        "lazy, async": { sample in
          let list = sample.lazy.map { number async throws in try sample.checked(number) }
          return await list.endingAtFailure().array()
        },
      ]),
    Comparison(
      "mapFailure",
      { sample -> [Int] in
        if sample.hasTarget { throw Mishap(position: 99) }
        return sample.input
      },
      [
        "lazy": { sample in
          let list = sample.lazy.map { try sample.checked($0) }
          return try await list.mapFailure { _ in Mishap(position: 99) }.array()
        }
      ]),
  ]

  private static func firsts(_ numbers: [Int], on subject: (Int) -> Int) -> [Int] {
    numbers.enumerated()
      .filter { (position, number) in
        !numbers[..<position].contains { subject($0) == subject(number) }
      }
      .map(\.element)
  }

  private static func chunks(_ numbers: [Int], by belong: (Int, Int) -> Bool) -> [[Int]] {
    numbers.reduce(into: []) { chunks, number in
      if let last = chunks.last?.last, belong(last, number) {
        chunks[chunks.count - 1].append(number)
      } else {
        chunks.append([number])
      }
    }
  }

  /// The lines of a text, cut by the standard library. A `\r\n` is one character there.
  private static func lines(_ text: String) -> [String] {
    var lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map(String.init)
  }
}

extension Sample {
  fileprivate func kind(_ number: Int) -> Int { abs(number) % modulus }

  fileprivate var hasTarget: Bool { input.contains(target) }

  fileprivate var untilTarget: [Int] { Array(input.prefix { $0 != target }) }

  /// Words and ends of lines.
  fileprivate var text: String {
    input.map { $0 < 0 ? "\n" : $0 == 0 ? "\r\n" : "é\($0)" }.joined()
  }

  /// The text in chunks that end anywhere.
  fileprivate var chunks: LazyList<[UInt8], Never> {
    LazyList(Array(text.utf8)).chunks(ofCount: modulus)
  }
}
