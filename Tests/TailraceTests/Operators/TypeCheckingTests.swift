import Tailrace
import Testing

/// Chains as users write them. They have to compile quickly as well as give the right results: each
/// operator has four kinds beside those of `AsyncSequence`, and the compiler weighs them all. `.ci/run`
/// checks this file on its own and fails when an expression takes long.
@Suite("Natural chains type-check quickly", .inTurn)
struct TypeCheckingTests {
  @Test("to a value, without a literal's type being named")
  func values() async {
    let largest = await LazyList(1...100).map { $0 * 2 }.filter { $0 % 3 == 0 }.prefix(10).max()
    #expect(largest == 60)
    let has = await LazyList(1...100).map { $0 * 2 }.filter { $0 % 3 == 0 }.contains(12)
    #expect(has)
    let first = await LazyList(1...100).map { $0 * 2 }.filter { $0 % 3 == 0 }.first { $0 > 10 }
    #expect(first == 12)
    let squares = await LazyList(1...).map { $0 * $0 }.filter { $0 % 2 == 0 }.prefix(3).array()
    #expect(squares == [4, 16, 36])
    let even = await LazyList(1...9).map { $0 * 2 }.adjacentPairs().map { $1 - $0 }
      .allSatisfy { $0 == 2 }
    #expect(even)
  }

  // The literal says nothing about its elements; see `_EmptyArrayLiteral`.
  @Test("compared with an empty literal")
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
  }

  @Test("folds with a closure, of a long chain")
  func folds() async {
    let sum = await LazyList(1...100).map { $0 * 2 }.filter { $0 % 3 == 0 }.prefix(10)
      .reduce(0) { $0 + $1 }
    #expect(sum == 330)
    let long = await [3, 1, 2].lazyList.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }
      .map { $0 + 1 }.reduce(0) { $0 + $1 }
    #expect(long == 18)
    let counts = await LazyList(1...6).map { $0 % 2 }.reduce(into: [:]) {
      $0[$1, default: 0] += 1
    }
    #expect(counts == [0: 3, 1: 3])
  }

  // An operator's name as an argument, behind a chain of closures, is what compilers are slow at,
  // for arrays too: a list with a name of its own is quick.
  @Test("folds with an operator, of a list that has a name")
  func operators() async {
    let list = LazyList(1...100).map { $0 * 2 }.filter { $0 % 3 == 0 }.prefix(10)
    let sum = await list.reduce(0, +)
    #expect(sum == 330)
    let least = await list.min(by: <)
    #expect(least == 6)
    let sums = await list.reductions(0, +).prefix(3).array()
    #expect(sums == [6, 18, 36])
    let halves = [1.5, 2.5].lazyList.map { $0 * 2 }.filter { $0 > 0.5 }
    let total = await halves.reduce(0, +)
    #expect(total == 8)
    let words = ["a", "b"].lazyList.map { $0 + "x" }.filter { $0 != "" }
    let text = await words.reduce("", +)
    #expect(text == "axbx")
    let products = zip(list, LazyList(1...)).map { $0 * $1 }
    let product = await products.prefix(2).reduce(1, *)
    #expect(product == 144)
  }
}
