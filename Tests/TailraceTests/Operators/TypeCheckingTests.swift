import Tailrace
import Testing

/// `Tests/CallSites` has more code as users write it, which is only type-checked.
@Suite("Literals behind chains of closures", .inTurn)
struct TypeCheckingTests {
  // The literal says nothing about its elements; see `_EmptyArrayLiteral`.
  @Test("an empty array is compared with, an empty dictionary is filled")
  func comparisons() async {
    let numbers = LazyList(1...3)
    #expect(await numbers.map { $0 + 1 }.filter { $0 > 9 }.array() == [])
    #expect(await numbers.map { $0 + 1 }.array() != [])
    #expect(await !(numbers.map { $0 + 1 }.array() == []))
    #expect(await [] == numbers.compactMap { _ in Int?.none }.array())
    #expect(await [] != numbers.map { $0 + 1 }.array())
    #expect(await numbers.map { $0 + 1 }.array().prefix(0) == [])
    #expect(await numbers.map { $0 + 1 }.filter { $0 > 9 }.eager() == [])
    let lengths = ["a"].map { (text) in
      let length = text.count
      return length
    }
    #expect(lengths != [] && [Int]() == [])
    let counts = await LazyList(1...6).map { $0 % 2 }.reduce(into: [:]) {
      $0[$1, default: 0] += 1
    }
    #expect(counts == [0: 3, 1: 3])
  }
}
