import Measuring
import Tailrace

extension Topic {
  /// A reader that finds another one computing has to wait. That may not cost more than it saves.
  public static let contention = Topic(
    "Contention", about: "readers of one list beside readers that never meet",
    rows: [2, 8, 64].map { readers in
      Row(
        "\(readers) readers", per: "element and reader", times: readers,
        sizes: [4, 100, 10_000, 100_000],
        Contender("LazyList") { await shared($0, by: readers) },
        Contender("LazyList, one for each reader, one after the other", atMost: 2) {
          await apart($0, by: readers)
        })
    })
}

@inline(never) private func shared(_ count: Int, by readers: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { $0 &* 3 }
  return await together(readers) { start in
    var iterator = list.makeAsyncIterator()
    await start.cross()
    var sum = 0
    while let element = await iterator.next() { sum &+= element }
    return sum
  }
}

@inline(never) private func apart(_ count: Int, by readers: Int) async -> Int {
  var sum = 0
  for _ in 0..<readers {
    let list: LazyList<Int, Never> = (0..<count).lazyList.map { $0 &* 3 }
    sum &+= await together(1) { _ in
      var sum = 0
      for await element in list { sum &+= element }
      return sum
    }
  }
  return sum
}
