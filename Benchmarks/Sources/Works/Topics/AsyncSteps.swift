import AsyncAlgorithms
import Tailrace

extension Topic {
  public static let asyncSteps = Topic(
    "Async steps", about: "elements that an async closure computes",
    works: [
      Work(
        "a step that suspends", isHeadline: true,
        floors: [.atLeast(4, fasterThan: "`.async.map.share()`")],
        contenders: [
          Contender("LazyList", sizes: Contender.fewer) { count in
            // Spelt out: without the type it might be the standard library's `map`.
            let list: LazyList<Int, Never> = (0..<count).lazyList.map { await yielding($0) }
            return Tally(count, await sum(list))
          },
          Contender("`.async.map.share()`", sizes: Contender.fewer) { count in
            Tally(count, await sum((0..<count).async.map { await yielding($0) }.share()))
          },
          Contender("`.async.map`", sizes: Contender.fewer) { count in
            Tally(count, await sum((0..<count).async.map { await yielding($0) }))
          },
        ]),
      Work(
        "a step that asks an actor",
        contenders: [
          Contender("LazyList", sizes: Contender.fewer) { count in
            let server = Server()
            let list: LazyList<Int, Never> = (0..<count).lazyList.map { await server.triple($0) }
            return Tally(count, await sum(list))
          },
          Contender("`.async.map.share()`", sizes: Contender.fewer) { count in
            let server = Server()
            return Tally(
              count, await sum((0..<count).async.map { await server.triple($0) }.share()))
          },
          Contender("`.async.map`", sizes: Contender.fewer) { count in
            let server = Server()
            return Tally(count, await sum((0..<count).async.map { await server.triple($0) }))
          },
        ]),
      Work(
        "an async step that does not suspend",
        contenders: [
          Contender("LazyList", sizes: Contender.fewer) { count in
            let list: LazyList<Int, Never> = (0..<count).lazyList.map { await staying($0) }
            return Tally(count, await sum(list))
          },
          Contender("`.async.map.share()`", sizes: Contender.fewer) { count in
            Tally(count, await sum((0..<count).async.map { await staying($0) }.share()))
          },
          Contender("`.async.map`", sizes: Contender.fewer) { count in
            Tally(count, await sum((0..<count).async.map { await staying($0) }))
          },
        ]),
    ])
}

private func yielding(_ element: Int) async -> Int {
  await Task.yield()
  return element &* 3
}

@inline(never)
private func staying(_ element: Int) async -> Int { element &* 3 }

private actor Server {
  func triple(_ element: Int) -> Int { element &* 3 }
}
