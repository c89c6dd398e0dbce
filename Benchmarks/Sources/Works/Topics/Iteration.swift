import AsyncAlgorithms
import OpenCombine
import Tailrace

extension Topic {
  public static let iteration = Topic(
    "Iteration", about: "reading what is already there",
    works: [
      Work(
        "read Ints again", isHeadline: true, floors: [.atMost(4, slowerThan: "`for x in array`")],
        contenders: [
          Contender(
            "LazyList",
            preparing: { count in
              let list = (0..<count).lazyList
              _ = await list.count()
              return {
                var sum = 0
                for await element in list { sum &+= element }
                return Tally(count, sum)
              }
            }),
          Contender(
            "`for x in array`",
            preparing: { count in
              let array = Array(0..<count)
              return {
                // The compiler may turn this loop into vector instructions. So it may elsewhere.
                var sum = 0
                for element in array { sum &+= element }
                return Tally(count, sum)
              }
            }),
          Contender(
            "`array.async`",
            preparing: { count in
              let array = Array(0..<count)
              return {
                var sum = 0
                for await element in array.async { sum &+= element }
                return Tally(count, sum)
              }
            }),
          Contender(
            "OpenCombine `array.publisher.sink`",
            preparing: { count in
              let array = Array(0..<count)
              return {
                let total = Total()
                let sink = array.publisher.sink { total.sum &+= $0 }
                return withExtendedLifetime(sink) { Tally(count, total.sum) }
              }
            }),
        ]),
      Work(
        "read Strings again",
        contenders: [
          Contender(
            "LazyList",
            preparing: { count in
              let list = strings(count).lazyList
              _ = await list.count()
              return {
                var length = 0
                for await element in list { length &+= element.utf8.count }
                return Tally(count, length)
              }
            }),
          Contender(
            "`for x in array`",
            preparing: { count in
              let array = strings(count)
              return {
                var length = 0
                for element in array { length &+= element.utf8.count }
                return Tally(count, length)
              }
            }),
          Contender(
            "`array.async`",
            preparing: { count in
              let array = strings(count)
              return {
                var length = 0
                for await element in array.async { length &+= element.utf8.count }
                return Tally(count, length)
              }
            }),
        ]),
    ])
}

/// Where the closure of a sink adds up. OpenCombine's closures need not be Sendable, and are called
/// before `sink` returns.
final class Total {
  var sum = 0
}
