import Foundation
import Tailrace
import TailraceTesting
import Testing

@Suite("Tuple", .inTurn)
struct TupleTests {
  @Test("elements keep their types")
  func elements() {
    let tuple = Tuple("foo", 5, Double?.none)
    let (text, number, nothing) = tuple.elements
    #expect(text == "foo" && number == 5 && nothing == nil)
    let second: Int = tuple.elements.1
    #expect(second == 5)
    #expect(tuple.elements.0.count == 3)
    let wrapped = Tuple(elements: ("foo", 5))
    #expect(wrapped.elements.1 == 5)
    let plain: (String, Int) = Tuple(elements: ("foo", 5)).elements
    #expect(plain == ("foo", 5))
  }

  @Test("none, one, and many")
  func arities() {
    let none = Tuple()
    #expect(none.count == 0 && none.first == nil && none.last == nil && none[0] == nil)
    #expect(none == Tuple())
    #expect("\(none)" == "()")
    let one = none.appending(1)
    #expect(one.count == 1 && one.first as? Int == 1 && one.last as? Int == 1)
    let alone: Int = one.elements
    #expect(alone == 1)
    let three = Tuple(1, "2", 3.0)
    #expect(one.appending("2").count == 2)
    let four = three.appending(Character("4"))
    let five = four.appending(true)
    let many = five.appending([6])
    #expect(many.count == 6)
    #expect(many.first as? Int == 1)
    #expect(many.second as? String == "2")
    #expect(many.third as? Double == 3)
    #expect(many.fourth as? Character == "4")
    #expect(many.fifth as? Bool == true)
    #expect(many.last as? [Int] == [6])
    #expect(many[5] as? [Int] == [6])
    #expect(many[6] == nil)
    #expect(many[Int.max] == nil)
    #expect(one.second == nil && one.fifth == nil)
  }

  @Test("an element that is nil is not the absence of one")
  func optionals() throws {
    let tuple = Tuple("foo", Int?.none, Int?.some(3))
    let second = try #require(tuple[1])
    #expect(second as? Int? == .some(.none))
    #expect(second as? Int == nil)
    #expect(tuple.second != nil)
    #expect(tuple[2] as? Int == 3)
    #expect(tuple[3] == nil)
    #expect(Tuple(1, Int?.none).last != nil)
    #expect(Array(tuple).count == 3)
    #expect("\(tuple)" == #"("foo", nil, 3)"#)
  }

  @Test("a negative position traps, with words")
  func negative() async {
    await #expect(processExitsWith: .failure) { _ = Tuple(1)[-1] }
  }

  @Test("a description that reads like a literal")
  func description() {
    #expect("\(Tuple("foo", 5, Int?.none))" == #"("foo", 5, nil)"#)
    #expect("\(Tuple(Int??.some(.none), Int??.some(7)))" == "(nil, 7)")
    #expect("\(Tuple(Tuple("a", 1), [1, 2]))" == #"(("a", 1), [1, 2])"#)
  }

  @Test("equal, hashed, sent")
  func equality() {
    func sent(_ value: some Sendable) {}
    sent(Tuple("foo", 5))
    #expect(Tuple("foo", 5) == Tuple("foo", 5))
    #expect(Tuple("foo", 5) != Tuple("foo", 6))
    #expect(Tuple("foo", 5) != Tuple("bar", 5))
    #expect(Set([Tuple(1, "a"), Tuple(1, "a"), Tuple(1, "b")]).count == 2)
    #expect(Tuple(Int?.none, 1) != Tuple(Int?.some(0), 1))
  }

  @Test(
    "compared lexicographically",
    arguments: [
      (Tuple(1, "b", 1.0), Tuple(2, "a", 0.0), true),
      (Tuple(1, "a", 9.0), Tuple(1, "b", 0.0), true),
      (Tuple(1, "a", 1.0), Tuple(1, "a", 1.0), false),
      (Tuple(1, "a", 1.0), Tuple(1, "a", 2.0), true),
      (Tuple(2, "a", 1.0), Tuple(1, "b", 2.0), false),
      // Nothing comes after what cannot be ordered.
      (Tuple(1, "a", Double.nan), Tuple(1, "a", 1.0), false),
      (Tuple(1, "a", 1.0), Tuple(1, "a", Double.nan), false),
      (Tuple(0, "a", Double.nan), Tuple(1, "a", 1.0), true),
    ])
  func order(
    _ left: Tuple<Int, String, Double>, _ right: Tuple<Int, String, Double>, _ isLess: Bool
  ) {
    #expect((left < right) == isLess)
    for (left, right) in [(left, right), (right, left), (left, left)] {
      #expect((left < right) == (left.elements < right.elements))
      #expect((left <= right) == (left.elements <= right.elements))
      #expect((left > right) == (left.elements > right.elements))
      #expect((left >= right) == (left.elements >= right.elements))
      #expect((left == right) == (left.elements == right.elements))
    }
  }

  @Test("without elements, all are equal")
  func orderOfNone() {
    #expect(Tuple() <= Tuple() && Tuple() >= Tuple())
    #expect(!(Tuple() < Tuple()) && !(Tuple() > Tuple()))
  }

  @Test("iterated, and as a list")
  func iteration() async {
    var texts: [String] = []
    for value in Tuple("tea", 5, Int?.none) { texts.append("\(value)") }
    #expect(texts == ["tea", "5", "nil"])
    let list = Tuple("tea", 5).lazyList
    #expect(await list.map { "\($0)" }.array() == ["tea", "5"])
    #expect(await Tuple().lazyList.isEmpty())
    #expect(await Tuple(Int?.none).lazyList.count() == 1)
  }

  @Test("a plain tuple from an operator is wrapped and given back")
  func wrapping() async {
    let rows = await zip(["a", "b"].lazyList, LazyList(1...)).map { Tuple(elements: $0) }.array()
    #expect(rows == [Tuple("a", 1), Tuple("b", 2)])
    #expect(rows.map(\.elements).map { $1 } == [1, 2])
  }
}

@Suite("Tuple of untyped values", .inTurn)
struct UntypedTupleTests {
  class Animal {}
  final class Cat: Animal {}

  @Test("of the right types")
  func success() throws {
    #expect(try Tuple<Int, String>(values: [1, "a"]) == Tuple(1, "a"))
    #expect(try Tuple<Int?, String>(values: [Int?.none as Any, "a"]) == Tuple(nil, "a"))
    #expect(try Tuple<Int?, String>(values: [1, "a"]) == Tuple(1, "a"))
    #expect(try type(of: Tuple()).init(values: []) == Tuple())
    #expect(try Tuple<any Error>(values: [CancellationError()]).count == 1)
    #expect(try Tuple<Animal>(values: [Cat()]).elements is Cat)
    #expect(try Tuple<Any, Any>(values: [1, NSNull()]).count == 2)
  }

  @Test("nothing is converted")
  func mismatches() {
    func expect<each Element>(
      _ type: Tuple<repeat each Element>.Type, _ values: [Any], convertingNulls nulls: Bool = false,
      _ error: TupleError
    ) {
      #expect(throws: error) { try type.init(values: values, convertingNulls: nulls) }
    }
    expect(
      Tuple<Int, String>.self, [1, 2],
      .mismatch(position: 1, expected: String.self, found: Int.self))
    expect(
      Tuple<Double>.self, [1], .mismatch(position: 0, expected: Double.self, found: Int.self))
    expect(
      Tuple<Int>.self, [1.0], .mismatch(position: 0, expected: Int.self, found: Double.self))
    expect(Tuple<Bool>.self, [1], .mismatch(position: 0, expected: Bool.self, found: Int.self))
    expect(
      Tuple<Int>.self, [Int?.none as Any],
      .mismatch(position: 0, expected: Int.self, found: Int?.self))
    expect(Tuple<Int, Int>.self, [1], .missing(position: 1, expected: Int.self))
    expect(Tuple<Int>.self, [1, "x"], .surplus(position: 1, found: String.self))
    expect(type(of: Tuple()), [1], .surplus(position: 0, found: Int.self))
    let number: Any = NSNumber(value: 1)
    expect(
      Tuple<Int>.self, [number],
      .mismatch(position: 0, expected: Int.self, found: type(of: number)))
    expect(
      Tuple<Double?>.self, [number],
      .mismatch(position: 0, expected: Double?.self, found: type(of: number)))
    let null: Any = NSNull()
    expect(
      Tuple<Int>.self, [null], convertingNulls: true,
      .mismatch(position: 0, expected: Int.self, found: type(of: null)))
    expect(
      Tuple<Int?>.self, [null],
      .mismatch(position: 0, expected: Int?.self, found: type(of: null)))
  }

  @Test("nulls are converted on request, where there can be a nil")
  func nulls() throws {
    let values: [Any] = [1, NSNull(), NSNull()]
    let tuple = try Tuple<Int, String?, NSNull>(values: values, convertingNulls: true)
    #expect(tuple.elements.1 == nil)
    #expect(tuple.elements.2 == NSNull())
    let converted: NSNull? = try Tuple<NSNull?>(values: [NSNull()], convertingNulls: true).elements
    #expect(converted == nil)
    let kept: NSNull? = try Tuple<NSNull?>(values: [NSNull()]).elements
    #expect(kept != nil)
  }

  @Test("the error names the position and the two types")
  func words() {
    let error = TupleError.mismatch(position: 3, expected: String.self, found: Int.self)
    #expect(error.description == "the value at position 3 is of type Int, not String")
    #expect(TupleError.missing(position: 2, expected: Int.self).position == 2)
    #expect("\(TupleError.missing(position: 2, expected: Int.self))".contains("position 2"))
    #expect("\(TupleError.surplus(position: 2, found: Int.self))".contains("position 2"))
  }
}
