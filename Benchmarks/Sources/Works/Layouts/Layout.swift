/// What computes the element at a position; `nil` at the end.
typealias StepFunction = @Sendable (Int) -> Int?

/// A way to lay out and isolate memo cells.
struct Layout<List: AsyncSequence & Sendable>: Sendable
where List.Element == Int, List.Failure == Never {
  let name: String
  let make: @Sendable (@escaping StepFunction) -> List
}

/// What can be asked of any layout.
protocol Measurable: Sendable {
  var firstPass: Contender { get }
  var again: Contender { get }
  var readers: Contender { get }
  var memory: Quantity { get }
}

extension Layout: Measurable {
  var firstPass: Contender {
    Contender(name, sizes: Contender.fewer) { count in
      let list = make(triples(count))
      let sum = await sum(list)
      return withExtendedLifetime(list) { Tally(count, sum) }
    }
  }

  var again: Contender {
    Contender(
      name, sizes: Contender.fewer,
      preparing: { count in
        let list = make(triples(count))
        _ = await sum(list)
        return { Tally(count, await sum(list)) }
      })
  }

  var readers: Contender {
    Contender(name, sizes: Contender.fewer) { count in
      await read(make(triples(count)), readers: 8)
    }
  }

  var memory: Quantity {
    .bytesPerElement("bytes per evaluated Int", who: name) { count in
      let list = make(triples(count))
      _ = await sum(list)
      return list
    }
  }
}

private func triples(_ count: Int) -> StepFunction { { $0 < count ? $0 &* 3 : nil } }
