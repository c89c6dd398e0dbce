import Tailrace
import TailraceTesting
import Testing

@Suite("flatMap and bind", .inTurn)
struct FlatMapTests {
  typealias List = LazyList<Int, Never>

  @Test("bind: stop ends after the whole inner list, nil at once")
  func bind() async {
    let stopped = List(1...).bind { number, stop in
      stop = number == 2
      return List.repeating(number, count: 2)
    }
    #expect(await stopped.array() == [1, 1, 2, 2])
    let ended = List(1...).bind { number, stop in
      stop = number == 2
      return number == 2 ? nil : List.just(number)
    }
    #expect(await ended.array() == [1])
  }

  @Test("flatMap to lists that may fail in other ways")
  func mixedFailures() async throws {
    let list = List(1...3).flatMap { number in
      LazyList<Int, Mishap>.failing(Mishap(position: number)).prepending(number)
    }
    await #expect(throws: Mishap(position: 1)) { try await list.count() }
    let fine = List(1...3).flatMap { (number: Int) throws in List.just(number) }
    #expect(try await fine.array() == [1, 2, 3])
  }

  @Test("the kinds of closures give lists")
  func kinds() {
    let list = LazyList(1...3)
    let plain = list.flatMap { LazyList.just($0) }
    expectList(plain, Never.self)
    let throwing = list.flatMap { number throws in LazyList.just(number) }
    expectList(throwing, (any Error).self)
    let asynchronous = list.flatMap { number async in LazyList.just(number) }
    expectList(asynchronous, Never.self)
    let both = list.flatMap { number async throws in LazyList.just(number) }
    expectList(both, (any Error).self)
    let sequences = list.flatMap { number async in [number] }
    expectList(sequences, Never.self)
    let bound = list.bind { number, _ in LazyList.just(number) }
    expectList(bound, Never.self)
  }

  @Test("lists and sequences, empty ones among them, and endless ones")
  func elements() async {
    #expect(
      await List(0...3).flatMap { List.repeating($0, count: $0) }.array() == [1, 2, 2, 3, 3, 3])
    #expect(
      await List(0...3).flatMap { Array(repeating: $0, count: $0) }.array() == [1, 2, 2, 3, 3, 3])
    #expect(await List.empty.flatMap { [$0] }.isEmpty())
    #expect(await List(1...).flatMap { List($0...) }.element(at: 200) == 201)
  }
}
