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

  @Test("a failure that only one of both has stays as it is")
  func failures() async throws {
    let fine = List(1...3)
    let failing = LazyList<Int, Mishap>([1, 2]) + .failing(Mishap(position: 2))
    @Sendable func inner(_ number: Int) -> LazyList<Int, Mishap> {
      number == 3 ? .failing(Mishap(position: 3)) : .just(number)
    }
    @Sendable func other(_ number: Int) -> LazyList<Int, CancellationError> { .just(number) }

    let innerFails = fine.flatMap { inner($0) }
    expectList(innerFails, Mishap.self)
    let innerFailsLater = fine.flatMap { number async in inner(number) }
    expectList(innerFailsLater, Mishap.self)
    let outerFails = failing.flatMap { List.repeating($0, count: 2) }
    expectList(outerFails, Mishap.self)
    let outerFailsLater = failing.flatMap { number async in List.repeating(number, count: 2) }
    expectList(outerFailsLater, Mishap.self)
    let bothFail = failing.flatMap { inner($0) }
    expectList(bothFail, Mishap.self)
    let bothFailLater = failing.flatMap { number async in inner(number) }
    expectList(bothFailLater, Mishap.self)
    let apart = failing.flatMap { other($0) }
    expectList(apart, (any Error).self)
    let apartLater = failing.flatMap { number async in other(number) }
    expectList(apartLater, (any Error).self)

    for list in [innerFails, innerFailsLater] {
      #expect(try await list.prefix(2).array() == [1, 2])
      await #expect(throws: Mishap(position: 3)) { try await list.array() }
    }
    for list in [outerFails, outerFailsLater] {
      #expect(try await list.prefix(4).array() == [1, 1, 2, 2])
      await #expect(throws: Mishap(position: 2)) { try await list.array() }
    }
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
