import Tailrace
import Testing

struct Point: Sendable, Equatable {
  var x = 0
  var y = 0
}

@MainActor
final class Model {
  var total = 0
}

@Suite("A client in the Swift 5 mode of the language")
struct Swift5ClientTests {
  @Test("closures, folds and loops")
  func closures() async throws {
    let list = LazyList(1...5).map { $0 * 2 }.filter { $0 > 2 }
    var total = 0
    for await number in list { total += number }
    #expect(total == 28)
    let sum = await LazyList(1...100).map { $0 * 2 }.filter { $0 % 3 == 0 }.reduce(0, +)
    #expect(sum == 3366)
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
  }

  @Test("work on the main scheduler is on the main actor")
  func scheduling() async {
    let model = await Model()
    await QueueScheduler.main.schedule { @MainActor in model.total = 7 }.value
    #expect(await model.total == 7)
  }
}
