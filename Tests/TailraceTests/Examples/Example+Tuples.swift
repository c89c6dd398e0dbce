import Foundation
import Tailrace
import TailraceTesting

extension Example {
  private static let noClass: Verdict = .better(
    "one type for any number: the compiler knows each value's")

  static let tuples: [Example] = [
    Example(.tuple, "unpacks one value") { Tuple(7).elements == 7 },
    Example(.tuple, "unpacks nil", .better("nil is nil: there is no RACTupleNil")) {
      let value: Int? = Tuple(Int?.none).elements
      return value == nil
    },
    Example(.tuple, "unpacks several values") {
      let (text, number) = Tuple("foobar", 5).elements
      return text == "foobar" && number == 5
    },
    Example(
      .tuple, "fills in missing values with nil",
      .different("a missing value is an error of the compiler; of untyped values a TupleError")
    ) {
      do throws(TupleError) {
        _ = try Tuple<String, Int>(values: ["foobar"])
        return false
      } catch {
        return error.position == 1
      }
    },
    Example(
      .tuple, "leaves out values that are not assigned",
      .different("`_` leaves one out, and the compiler counts")
    ) {
      let (text, number, _) = Tuple("foobar", 5, true).elements
      return text == "foobar" && number == 5
    },
    Example(.tuple, "an unpacked value lives as long as a closure that captured it") {
      let instances = InstanceCounter()
      var closure: (() -> Int)?
      do {
        let member = Tuple(instances.member(3)).elements
        closure = { member.number }
      }
      guard instances.alive == 1, closure?() == 3 else { return false }
      closure = nil
      return instances.alive == 0
    },
    Example(.tuple, "packs one value") { Tuple(7) == (try Tuple<Int>(values: [7])) },
    Example(.tuple, "packs nil") {
      Tuple(Int?.none)
        == (try Tuple<Int?>(values: [NSNull()], convertingNulls: true))
    },
    Example(.tuple, "packs several values") {
      Tuple("foobar", 5) == (try Tuple<String, Int>(values: ["foobar", 5]))
    },
    Example(.tuple, "adds a value") {
      let tuple = Tuple("foo", String?.none, "bar").appending("buzz")
      return tuple.count == 4 && tuple.elements.0 == "foo" && tuple.elements.1 == nil
        && tuple.elements.3 == "buzz"
    },
    Example(.tuple, "adds nil") {
      let tuple = Tuple("foo", String?.none, "bar").appending(Int?.none)
      return tuple.count == 4 && tuple.elements.2 == "bar" && tuple.elements.3 == nil
    },
    Example(.tuple, "adds NSNull") {
      let tuple = Tuple("foo", String?.none, "bar").appending(NSNull())
      return tuple.count == 4 && tuple.elements.3 === NSNull()
    },
    Example(.tuple, "one value equals the untyped", noClass) {
      Tuple("foo") == (try Tuple<String>(values: ["foo"]))
    },
    Example(.tuple, "two values equal the untyped", noClass) {
      Tuple("foo", "bar") == (try Tuple<String, String>(values: ["foo", "bar"]))
    },
    Example(.tuple, "three values equal the untyped", noClass) {
      Tuple("foo", "bar", "buzz")
        == (try Tuple<String, String, String>(values: ["foo", "bar", "buzz"]))
    },
    Example(.tuple, "four values equal the untyped", noClass) {
      Tuple("foo", "bar", "buzz", "fizz")
        == (try Tuple<String, String, String, String>(values: ["foo", "bar", "buzz", "fizz"]))
    },
    Example(.tuple, "five values equal the untyped", noClass) {
      Tuple("foo", "bar", "buzz", "fizz", "bizz")
        == (try Tuple<String, String, String, String, String>(
          values: ["foo", "bar", "buzz", "fizz", "bizz"]))
    },
    Example(.tuple, "packing one value gives its class", noClass) {
      type(of: Tuple("foo")) == Tuple<String>.self
    },
    Example(.tuple, "packing two values gives their class", noClass) {
      type(of: Tuple("foo", 1)) == Tuple<String, Int>.self
    },
    Example(.tuple, "packing three values gives their class", noClass) {
      type(of: Tuple("foo", 1, true)) == Tuple<String, Int, Bool>.self
    },
    Example(.tuple, "packing four values gives their class", noClass) {
      type(of: Tuple("foo", 1, true, 2.5)) == Tuple<String, Int, Bool, Double>.self
    },
    Example(.tuple, "packing five values gives their class", noClass) {
      type(of: Tuple("foo", 1, true, 2.5, "x")) == Tuple<String, Int, Bool, Double, String>.self
    },
    Example(.tuple, "one and a value are two", noClass) {
      type(of: Tuple("foo").appending(1)) == Tuple<String, Int>.self
    },
    Example(.tuple, "two and a value are three", noClass) {
      type(of: Tuple("foo", 1).appending(true)) == Tuple<String, Int, Bool>.self
    },
    Example(.tuple, "three and a value are four", noClass) {
      type(of: Tuple("foo", 1, true).appending(2.5)) == Tuple<String, Int, Bool, Double>.self
    },
    Example(.tuple, "four and a value are five", .better("and five and a value are six")) {
      let five = Tuple("foo", 1, true, 2.5).appending("x")
      return type(of: five) == Tuple<String, Int, Bool, Double, String>.self
        && type(of: five.appending(6))
          == Tuple<String, Int, Bool, Double, String, Int>.self
    },
  ]
}
