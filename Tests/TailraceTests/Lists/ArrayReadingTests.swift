import Tailrace
import TailraceTesting
import Testing

@Suite("The list of an array, read one by one and in runs", .inTurn)
struct ArrayReadingTests {
  @Test(
    "every way to read it gives the elements from every position on",
    arguments: [0, 1, 7, 8, 9, 16, 127, 128, 129, 1000])
  func positions(count: Int) async {
    let array = (0..<count).map { "element \($0)" }
    for start in Set([0, 1, 7, 8, 100, count / 2, count - 1, count].filter { 0...count ~= $0 }) {
      let list = array.lazyList.dropFirst(start)
      let expected = Array(array[start...])
      var one = [String]()
      for await element in list { one.append(element) }
      #expect(one == expected)
      var runs = [String]()
      await list.forEachSpan { span in
        for index in span.indices { runs.append(span[index]) }
      }
      #expect(runs == expected)
      #expect(await list.array() == expected)
      #expect(await list.map { $0 }.array() == expected)
      let pairs = await list.zip(list).map { $0.0 + $0.1 }.array()
      #expect(pairs == expected.map { $0 + $0 })
    }
  }

  @Test("a reader that goes one by one holds on to what it has not read, and not to all")
  func releases() async {
    weak var array: Probe?
    var iterator: LazyList<Element, Never>.Iterator
    do {
      let probe = Probe()
      array = probe
      iterator = (0..<300).map { Element(number: $0, of: probe) }.lazyList.makeAsyncIterator()
    }
    for number in 0..<299 { #expect(await iterator.next()?.number == number) }
    #expect(array != nil)
    #expect(await iterator.next()?.number == 299)
    #expect(await iterator.next() == nil)
    #expect(array == nil)
  }

  private final class Probe: Sendable {}

  private struct Element: Sendable, Equatable {
    let number: Int
    let probe: Probe

    init(number: Int, of probe: Probe) { (self.number, self.probe) = (number, probe) }

    static func == (left: Element, right: Element) -> Bool { left.number == right.number }
  }

  @Test("an iterator that is copied goes on from where it was, in both")
  func copies() async {
    let array = Array(0..<500)
    var first = array.lazyList.makeAsyncIterator()
    for _ in 0..<10 { _ = await first.next() }
    var second = first
    var (left, right) = ([Int](), [Int]())
    while let element = await first.next() { left.append(element) }
    while let element = await second.next() { right.append(element) }
    #expect(left == Array(10..<500))
    #expect(right == left)
  }

  @Test(
    "an array of what nobody else holds has all elements, whatever they are",
    arguments: [0, 1, 63, 64, 65, 128, 1000])
  func pushed(count: Int) async throws {
    #expect(await LazyList(0..<count).map { $0 + 1 }.array() == Array(1..<count + 1))
    let texts = await LazyList(0..<count).map { "number \($0)" }.array()
    #expect(texts == (0..<count).map { "number \($0)" })
    let failing = LazyList(0..<count).setFailureType(to: CancellationError.self) + .failing(.init())
    await #expect(throws: CancellationError.self) { try await failing.map { $0 + 1 }.array() }
    let cancellable = try await LazyList(0..<count).map { $0 + 1 }.throwingCancellation.array()
    #expect(cancellable.count == count)
  }
}
