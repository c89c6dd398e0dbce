import Tailrace
import Testing

/// `AsyncSequence` has operators of the same names, which memoize nothing. None of them may be
/// chosen, whatever a closure does; here no type says which is meant.
@Suite("Every kind of closure gives a LazyList", .inTurn)
struct KindTests {
  private func plain<T: Sendable>(_ value: T) -> T { value }

  private func expectList<E, F>(_ list: LazyList<E, F>, _ failure: F.Type) {}

  @Test("map, compactMap, filter")
  func maps() {
    let list = LazyList(1...3)
    expectList(list.map { $0 }, Never.self)
    expectList(list.map { number throws in number }, (any Error).self)
    expectList(list.map { number async in number }, Never.self)
    expectList(list.map { number async throws in number }, (any Error).self)
    let mapped = list.map { number async in number }
    expectList(mapped, Never.self)
    let compacted = list.compactMap { number async throws in Optional(number) }
    expectList(compacted, (any Error).self)
    let filtered = list.filter { number async in number > 0 }
    expectList(filtered, Never.self)
    let thrown = list.filter { number throws in number > 0 }
    expectList(thrown, (any Error).self)
  }

  @Test("flatMap and bind")
  func flatMaps() {
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

  @Test("slices and scans")
  func slices() {
    let list = LazyList(1...3)
    let prefix = list.prefix { number async in number > 0 }
    expectList(prefix, Never.self)
    let dropped = list.drop { number async throws in number > 0 }
    expectList(dropped, (any Error).self)
    let first = list.prefix(2)
    expectList(first, Never.self)
    let rest = list.dropFirst()
    expectList(rest, Never.self)
    let sums = list.reductions(0) { sum, number async in sum + number }
    expectList(sums, Never.self)
  }
}
