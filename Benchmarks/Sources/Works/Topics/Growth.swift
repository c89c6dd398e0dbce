import Tailrace

extension Topic {
  /// An element costs the same in a list of any length.
  public static let growth = Topic(
    "Growth", about: "cost per element against the number of elements",
    works: [
      Work(
        "first pass, map and filter", steadiness: 1.5,
        contenders: [
          Contender("LazyList", sizes: sizes) { count in
            let list: LazyList<Int, Never> = (0..<count).lazyList
              .map { $0 &* 3 }.filter { $0 % 2 == 0 }
            let sum = await sum(list)
            return withExtendedLifetime(list) { Tally(count, sum) }
          }
        ]),
      Work(
        "read again", steadiness: 1.5,
        contenders: [
          Contender(
            "LazyList", sizes: sizes,
            preparing: { count in
              let list = (0..<count).lazyList
              _ = await list.count()
              return { Tally(count, await sum(list)) }
            }),
          // Memory that is far away costs an array, too.
          Contender(
            "`for x in array`", sizes: sizes,
            preparing: { count in
              let array = Array(0..<count)
              return {
                var sum = 0
                for element in array { sum &+= element }
                return Tally(count, sum)
              }
            }),
        ]),
      Work(
        "an array of map and filter", steadiness: 1.5,
        contenders: [
          Contender("LazyList", sizes: sizes) { count in
            let array = await (0..<count).lazyList.map { $0 &* 3 }.filter { $0 % 2 == 0 }.array()
            blackHole(array)
            return Tally(count, array.count)
          }
        ]),
    ])
}

private let sizes = [100, 10_000, 1_000_000, 10_000_000]
