import AsyncAlgorithms
import OpenCombine
import Tailrace

extension Topic {
  /// Tailrace keeps every element; what its peers give is gone when it has been read.
  public static let firstPass = Topic(
    "First pass", about: "computing each element for the first time",
    works: [
      Work(
        "map and filter Ints", isHeadline: true,
        floors: [.atLeast(15, fasterThan: "`.async.map.filter`")],
        contenders: [
          Contender("LazyList") { count in
            let list: LazyList<Int, Never> = (0..<count).lazyList
              .map { $0 &* 3 }.filter { $0 % 2 == 0 }
            var sum = 0
            for await element in list { sum &+= element }
            // The head is held until here: nothing is forgotten on the way.
            return withExtendedLifetime(list) { Tally(count, sum) }
          },
          Contender("`.async.map.filter`") { count in
            let chain = (0..<count).async.map { $0 &* 3 }.filter { $0 % 2 == 0 }
            var sum = 0
            for await element in chain { sum &+= element }
            return Tally(count, sum)
          },
          Contender("`.async.compactMap`") { Tally($0, await compactMapped($0)) },
          Contender("`AsyncStream`, buffered, `.map.filter`", sizes: Contender.fewer) { count in
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            for element in 0..<count { continuation.yield(element) }
            continuation.finish()
            let chain = stream.map { $0 &* 3 }.filter { $0 % 2 == 0 }
            var sum = 0
            for await element in chain { sum &+= element }
            return Tally(count, sum)
          },
          Contender("OpenCombine `.map.filter.sink`") { count in
            let total = Total()
            let sink = (0..<count).publisher.map { $0 &* 3 }.filter { $0 % 2 == 0 }
              .sink { total.sum &+= $0 }
            return withExtendedLifetime(sink) { Tally(count, total.sum) }
          },
          Contender("`for x in lazy.map.filter`") { count in
            var sum = 0
            for element in (0..<count).lazy.map({ $0 &* 3 }).filter({ $0 % 2 == 0 }) {
              sum &+= element
            }
            return Tally(count, sum)
          },
        ]),
      Work(
        "map and filter Ints, head not held",
        contenders: [
          Contender("LazyList") { count in
            var sum = 0
            for await element in released(count) { sum &+= element }
            return Tally(count, sum)
          },
          Contender("`.async.map.filter`") { count in
            let chain = (0..<count).async.map { $0 &* 3 }.filter { $0 % 2 == 0 }
            var sum = 0
            for await element in chain { sum &+= element }
            return Tally(count, sum)
          },
        ]),
      Work(
        "map and filter Strings",
        contenders: [
          Contender(
            "LazyList",
            preparing: { count in
              let source = strings(count)
              return {
                let list: LazyList<String, Never> = source.lazyList
                  .map { $0 + "!" }.filter { $0.utf8.count % 2 == 0 }
                let length = await length(list)
                return withExtendedLifetime(list) { Tally(count, length) }
              }
            }),
          Contender(
            "`.async.map.filter`",
            preparing: { count in
              let source = strings(count)
              return {
                let chain = source.async.map { $0 + "!" }.filter { $0.utf8.count % 2 == 0 }
                return Tally(count, await length(chain))
              }
            }),
          Contender(
            "OpenCombine `.map.filter.sink`",
            preparing: { count in
              let source = strings(count)
              return {
                let total = Total()
                let sink = source.publisher.map { $0 + "!" }.filter { $0.utf8.count % 2 == 0 }
                  .sink { total.sum &+= $0.utf8.count }
                return withExtendedLifetime(sink) { Tally(count, total.sum) }
              }
            }),
          Contender(
            "`for x in lazy.map.filter`",
            preparing: { count in
              let source = strings(count)
              return {
                var length = 0
                for element in source.lazy.map({ $0 + "!" }).filter({ $0.utf8.count % 2 == 0 }) {
                  length &+= element.utf8.count
                }
                return Tally(count, length)
              }
            }),
        ]),
    ])
}

/// A list that only its reader holds.
private func released(_ count: Int) -> LazyList<Int, Never> {
  (0..<count).lazyList.map { $0 &* 3 }.filter { $0 % 2 == 0 }
}

@inline(never)
private func compactMapped(_ count: Int) async -> Int {
  let chain = (0..<count).async.compactMap { element -> Int? in
    let tripled = element &* 3
    return tripled % 2 == 0 ? tripled : nil
  }
  var sum = 0
  for await element in chain { sum &+= element }
  return sum
}
