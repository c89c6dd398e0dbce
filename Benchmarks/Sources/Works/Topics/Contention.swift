import Tailrace

extension Topic {
  /// Whoever finds that somebody else computes has to wait. That may not cost more than it saves.
  public static let contention = Topic(
    "Contention", about: "readers of one list beside readers that never meet",
    works: [2, 8, 64].map(contended))
}

private let alone = "LazyList, one for each reader, one after the other"

private func contended(_ readers: Int) -> Work {
  let sizes = [1, 100, 1_000_000 / readers]
  return Work(
    "\(readers) readers", readers: readers, floors: [.atMost(2, slowerThan: alone)],
    contenders: [
      Contender("LazyList", sizes: sizes) { count in
        let list: LazyList<Int, Never> = (0..<count).lazyList.map { $0 &* 3 }
        return await read(list, readers: readers)
      },
      Contender(alone, sizes: sizes) { count in
        var sum = 0
        for _ in 0..<readers {
          let list: LazyList<Int, Never> = (0..<count).lazyList.map { $0 &* 3 }
          sum &+= await read(list, readers: 1).result
        }
        return Tally(count * readers, sum)
      },
    ])
}
