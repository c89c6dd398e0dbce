import AsyncAlgorithms
import OpenCombine
import Tailrace

extension Topic {
  /// Nobody holds the head: the whole is asked for, and nothing but the result stays.
  public static let collecting = Topic(
    "Collecting", about: "the whole at once, after map and filter",
    works: [
      Work(
        "an array of Ints", isHeadline: true,
        floors: [.atMost(10, slowerThan: "`Array(lazy.map.filter)`")],
        contenders: [
          Contender("LazyList") { count in
            let array = await (0..<count).lazyList.map { $0 &* 3 }.filter { $0 % 2 == 0 }.array()
            return collected(array, of: count)
          },
          Contender("`Array(lazy.map.filter)`") { count in
            let array = Array((0..<count).lazy.map { $0 &* 3 }.filter { $0 % 2 == 0 })
            return collected(array, of: count)
          },
          Contender("`await Array(async.map.filter)`") { count in
            let array = await Array((0..<count).async.map { $0 &* 3 }.filter { $0 % 2 == 0 })
            return collected(array, of: count)
          },
          Contender("OpenCombine `.map.filter.collect`") { count in
            let result = Collected()
            let sink = (0..<count).publisher.map { $0 &* 3 }.filter { $0 % 2 == 0 }.collect()
              .sink { result.array = $0 }
            return withExtendedLifetime(sink) { collected(result.array, of: count) }
          },
        ]),
      Work(
        "an array of Strings",
        contenders: [
          Contender(
            "LazyList",
            preparing: { count in
              let source = strings(count)
              return {
                let array = await source.lazyList
                  .map { $0 + "!" }.filter { $0.utf8.count % 2 == 0 }.array()
                return collected(array, of: count)
              }
            }),
          Contender(
            "`Array(lazy.map.filter)`",
            preparing: { count in
              let source = strings(count)
              return {
                let array = Array(
                  source.lazy.map { $0 + "!" }.filter { $0.utf8.count % 2 == 0 })
                return collected(array, of: count)
              }
            }),
          Contender(
            "`await Array(async.map.filter)`",
            preparing: { count in
              let source = strings(count)
              return {
                let array = await Array(
                  source.async.map { $0 + "!" }.filter { $0.utf8.count % 2 == 0 })
                return collected(array, of: count)
              }
            }),
        ]),
      Work(
        "the sum of Ints",
        contenders: [
          Contender("LazyList") { count in
            let sum = await (0..<count).lazyList.map { $0 &* 3 }.filter { $0 % 2 == 0 }
              .reduce(0) { $0 &+ $1 }
            return Tally(count, sum)
          },
          Contender("`lazy.map.filter.reduce`") { count in
            let sum = (0..<count).lazy.map { $0 &* 3 }.filter { $0 % 2 == 0 }
              .reduce(0) { $0 &+ $1 }
            return Tally(count, sum)
          },
          Contender("`.async.map.filter.reduce`") { count in
            let sum = await (0..<count).async.map { $0 &* 3 }.filter { $0 % 2 == 0 }
              .reduce(0) { $0 &+ $1 }
            return Tally(count, sum)
          },
        ]),
    ])
}

/// Arrays are told apart by their count and their last element: adding them up would be timed, too.
private func collected(_ array: [Int], of count: Int) -> Tally {
  blackHole(array)
  return Tally(count, array.count &+ (array.last ?? 0))
}

private func collected(_ array: [String], of count: Int) -> Tally {
  blackHole(array)
  return Tally(count, array.count &+ (array.last?.utf8.count ?? 0))
}

/// Where the closure of a sink leaves an array. It is called before `sink` returns.
private final class Collected {
  var array: [Int] = []
}
