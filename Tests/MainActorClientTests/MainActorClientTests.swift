import Tailrace
import Testing

/// A type that crosses isolations says so: what is isolated to the main actor could not be compared
/// by a list's step, which runs wherever it is demanded.
nonisolated struct Point: Sendable, Equatable {
  var x = 0
  var y = 0
}

final class Model {
  var total = 0

  func load() async -> [Int] {
    let list = LazyList(1...5).map { $0 * 2 }.filter { $0 > 2 }
    for await number in list { total += number }
    return await list.array()
  }
}

@Suite("A client with the main actor as its default isolation")
struct MainActorClientTests {
  @Test("closures, folds and loops")
  func closures() async throws {
    let model = Model()
    #expect(await model.load() == [4, 6, 8, 10])
    #expect(model.total == 28)
    let sum = await LazyList(1...100).map { $0 * 2 }.filter { $0 % 3 == 0 }.reduce(0, +)
    #expect(sum == 3366)
    await LazyList(1...3).forEach { model.total += $0 }
    #expect(model.total == 34)
    let found = try await LazyList(1...9).map { number in
      await Task.yield()
      if number > 5 { throw CancellationError() }
      return number
    }.first { $0 > 3 }
    #expect(found == 4)
  }

  @Test("key paths, and duplicates of a type of one's own")
  func types() async {
    let points = LazyList([Point(x: 1), Point(x: 1), Point(x: 2, y: 1)])
    #expect(await points.map(\.x).array() == [1, 1, 2])
    #expect(await points.removeDuplicates().count() == 2)
    #expect(await points.map { $0.y }.max() == 1)
  }

  @Test("work on the main scheduler is on the main actor")
  func scheduling() async {
    let model = Model()
    await QueueScheduler.main.schedule { @MainActor in model.total = 7 }.value
    #expect(model.total == 7)
  }
}
