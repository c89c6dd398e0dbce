import Tailrace
import TailraceTesting
import Testing

@Suite("forEachSpan", .inTurn)
struct ForEachSpanTests {
  typealias List = LazyList<Int, Never>

  @Test("the example")
  func example() async {
    var sum = 0
    await [1, 2, 3].lazyList.forEachSpan { span in
      for index in span.indices { sum += span[index] }
    }
    #expect(sum == 6)
  }

  /// The runs that a list lends.
  static func runs<Element>(_ list: consuming LazyList<Element, Never>) async -> [[Element]] {
    var runs: [[Element]] = []
    await list.forEachSpan { span in runs.append(span.indices.map { span[$0] }) }
    return runs
  }

  @Test("an array's elements are one run, a part of it, too; the empty list has none")
  func arrays() async {
    let array = (0..<1000).map { "\($0)" }
    #expect(await Self.runs(array.lazyList) == [array])
    #expect(await Self.runs(array[100..<200].lazyList) == [Array(array[100..<200])])
    #expect(await Self.runs(array.lazyList.dropFirst(10).prefix(3)) == [["10", "11", "12"]])
    #expect(await Self.runs(LazyList<String, Never>.empty).isEmpty)
    #expect(await Self.runs(array.lazyList.dropFirst(1000)).isEmpty)
    #expect(await Self.runs(List.just(7)) == [[7]])
  }

  @Test("each element once, in order, however many are evaluated", arguments: [0, 1, 7, 8, 9, 500])
  func order(_ evaluated: Int) async {
    let calls = Probe<Int>()
    let list = List(0..<500).map { calls.pass($0) }
    #expect(await list.prefix(evaluated).count() == evaluated)
    for _ in 0..<2 {
      let runs = await Self.runs(list)
      #expect(Array(runs.joined()) == Array(0..<500))
      #expect(runs.count < 16 && !runs.contains([]))
    }
    #expect(await Self.runs(list.dropFirst(300)).joined().elementsEqual(300..<500))
    #expect(calls.values == Array(0..<500))
  }

  @Test("lists of every kind")
  func kinds() async {
    let numbers = List(0..<200)
    let asynchronous = numbers.map { (number: Int) async -> Int in
      if number % 3 == 0 { await Task.yield() }
      return number
    }
    let pieces = numbers.prefix(50) + [50, 51]
    let lists: [List] = [
      asynchronous, numbers.prepending(-1).dropFirst(), numbers + asynchronous.dropFirst(200),
      pieces + asynchronous.dropFirst(52), numbers.named("numbers"),
      .deferred { asynchronous }, numbers.filter { $0 >= 0 }, numbers.flatMap { [$0] },
    ]
    for list in lists {
      #expect(await Self.runs(list).joined().elementsEqual(0..<200))
      #expect(await list.array() == Array(0..<200))
    }
  }

  @Test("constant memory when nobody holds the head")
  func space() async {
    let instances = InstanceCounter()
    var count = 0
    await LazyList(0..<10_000).map { instances.member($0) }.forEachSpan { span in
      count += span.count
      #expect(instances.alive <= 2 * 128)
    }
    #expect(count == 10_000)
    #expect(instances.alive == 0)
  }

  @Test("a failure comes after the elements before it", arguments: SourceKind.allCases)
  func failure(_ kind: SourceKind) async {
    var elements: [Int] = []
    let list = kind.make(upTo: 100, Probe(), failingAt: 50)
    await #expect(throws: Mishap.self) {
      try await list.forEachSpan { span in
        for index in span.indices { elements.append(span[index]) }
      }
    }
    #expect(elements == Array(1..<50))
  }

  @Test("a closure that throws is not called again, and the list goes on for others")
  func throwing() async {
    let calls = Probe<Int>()
    let list = List(0..<100).map { calls.pass($0) }
    var runs = 0
    await #expect(throws: Mishap.self) {
      try await list.forEachSpan { span in
        runs += 1
        if runs == 2 { throw Mishap(position: span.count) }
      }
    }
    #expect(runs == 2)
    #expect(calls.count < 100)
    #expect(await Self.runs(list).joined().elementsEqual(0..<100))
    #expect(calls.values == Array(0..<100))
  }

  @Test("cancellation: throws where it can, after it has lent evaluated elements; else it goes on")
  func cancellation() async throws {
    let gate = Gate()
    let list = LazyList<Int, any Error>(0..<20).map { (number: Int) async throws -> Int in
      if number == 10 { await gate.wait() }
      return number
    }
    let elements = Probe<Int>()
    let task = Task {
      try await list.forEachSpan { span in
        for index in span.indices { elements.record(span[index]) }
      }
    }
    await gate.waitForArrivals(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(elements.values == Array(0..<elements.count))
    gate.open()
    #expect(try await list.count() == 20)

    let sum = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await Self.runs(List(0..<300).map { $0 + 1 }).joined().reduce(0, +)
    }
    #expect(await sum.value == 300 * 301 / 2)
  }
}
