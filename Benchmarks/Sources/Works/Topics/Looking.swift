import Measuring
import Tailrace
import TailraceInspection

extension Topic {
  /// The cost of the possibility to record: nothing, as long as nobody does.
  public static let looking = Topic(
    "Looking", about: "an element, while nobody records, and while somebody does",
    rows: [
      Row(
        "a plain step, not recorded",
        Contender("LazyList", plain),
        Contender("LazyList, made while somebody recorded", upTo: 10_000, former),
        Contender("LazyList, recorded", upTo: 10_000, recorded)),
      Row(
        "an async step, not recorded", sizes: [4, 100, 10_000],
        Contender("LazyList", asynchronous),
        Contender("LazyList, recorded", recordedAsynchronous)),
    ])
}

private func steps(_ count: Int) -> LazyList<Int, Never> {
  (0..<count).lazyList.map { $0 &* 3 }.filter { $0 % 2 == 0 }
}

private func asyncSteps(_ count: Int) -> LazyList<Int, Never> {
  (0..<count).lazyList.map { (number: Int) async -> Int in number &* 3 }
}

@inline(never) private func sum(_ list: LazyList<Int, Never>) async -> Int {
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func plain(_ count: Int) async -> Int { await sum(steps(count)) }

/// The recording is over when the list is read.
@inline(never) private func former(_ count: Int) async -> Int {
  let recording = Recording.start(limit: 0)
  let list = steps(count)
  recording.stop()
  return await sum(list)
}

@inline(never) private func recorded(_ count: Int) async -> Int {
  // A step of each of the three lists for an element, and some.
  let recording = Recording.start(limit: count * 4)
  defer { recording.stop() }
  return await sum(steps(count))
}

@inline(never) private func asynchronous(_ count: Int) async -> Int { await sum(asyncSteps(count)) }

@inline(never) private func recordedAsynchronous(_ count: Int) async -> Int {
  let recording = Recording.start(limit: count * 4)
  defer { recording.stop() }
  return await sum(asyncSteps(count))
}
