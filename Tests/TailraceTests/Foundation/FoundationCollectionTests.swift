import Foundation
import Tailrace
import TailraceFoundation
import Testing

@Suite("Collections of Foundation", .inTurn)
struct FoundationCollectionTests {
  @Test("elements of a type")
  func typed() async throws {
    #expect(try await NSArray(array: [1, 2]).lazyList(of: Int.self).array() == [1, 2])
    #expect(try await NSArray(array: ["a", "b"]).lazyList(of: String.self).array() == ["a", "b"])
    #expect(try await NSSet(array: [1, 2]).lazyList(of: Int.self).array().sorted() == [1, 2])
    #expect(
      try await NSOrderedSet(array: [3, 1, 2]).lazyList(of: Int.self).array() == [3, 1, 2])
    #expect(try await NSArray().lazyList(of: Int.self).isEmpty())
    #expect(await IndexSet([3, 1]).lazyList.array() == [1, 3])
    #expect(await Data("hi".utf8).lazyList.array() == [104, 105])
    #expect(await NSString("♥️♦️").lazyList.array() == ["♥️", "♦️"])
  }

  @Test("an element of another type is a failure at its position")
  func mismatch() async throws {
    let list = NSArray(array: [1, 2, "x", 4]).lazyList(of: Int.self)
    #expect(try await list.prefix(2).array() == [1, 2])
    let error = await #expect(throws: ElementTypeError.self) { try await list.array() }
    #expect(error?.position == 2)
    #expect(error?.expected == Int.self)
    #expect(error.map { "\($0)".contains("position 2") && "\($0)".contains("not Int") } == true)
    #expect(list.evaluatedPrefix == [1, 2])
    await #expect(throws: ElementTypeError.self) {
      try await NSArray(array: [1.5]).lazyList(of: Int.self).head()
    }
    await #expect(throws: ElementTypeError.self) {
      try await NSArray(array: [NSNull()]).lazyList(of: String.self).head()
    }
  }

  @Test("an array with nulls as a list of optionals")
  func nulls() async throws {
    let array = NSArray(array: [1, NSNull(), 3])
    #expect(try await array.lazyList(of: Int.self, convertingNulls: true).array() == [1, nil, 3])
    let strict = array.lazyList(of: Int.self, convertingNulls: false)
    let error = await #expect(throws: ElementTypeError.self) { try await strict.array() }
    #expect(error?.position == 1)
    #expect(strict.evaluatedPrefix == [1])
    let mixed = NSArray(array: [NSNull(), "x"]).lazyList(of: Int.self, convertingNulls: true)
    #expect(try await mixed.prefix(1).array() == [nil])
    await #expect(throws: ElementTypeError.self) { try await mixed.array() }
  }

  @Test("elements without types")
  func untyped() async {
    let values = await NSArray(array: [1, "a"]).lazyList.array()
    #expect(values[0].value as? Int == 1 && values[1].value as? String == "a")
    #expect(await NSSet(array: [1]).lazyList.count() == 1)
    #expect(await NSOrderedSet(array: ["b", "a"]).lazyList.map { "\($0)" }.array() == ["b", "a"])
  }

  @Test("pairs, keys and values agree on the order")
  func dictionary() async throws {
    let dictionary = NSDictionary(
      dictionary: Dictionary(uniqueKeysWithValues: (0..<50).map { ("\($0)", $0) }))
    let pairs = try await dictionary.lazyList(ofKeys: String.self, values: Int.self).array()
    #expect(pairs.count == 50)
    #expect(pairs.allSatisfy { $0.key == "\($0.value)" })
    #expect(try await dictionary.lazyKeys(of: String.self).array() == pairs.map(\.key))
    #expect(try await dictionary.lazyValues(of: Int.self).array() == pairs.map(\.value))
    #expect(await dictionary.lazyKeys.map { "\($0)" }.array() == pairs.map(\.key))
    #expect(await dictionary.lazyValues.map { "\($0)" }.array() == pairs.map(\.key))
    #expect(await dictionary.lazyList.map { "\($0.key)" }.array() == pairs.map(\.key))
    await #expect(throws: ElementTypeError.self) {
      try await dictionary.lazyList(ofKeys: String.self, values: String.self).head()
    }
  }

  @Test("a list is a snapshot: later changes are not seen")
  func snapshot() async throws {
    let (array, dictionary) = (NSMutableArray(array: [1]), NSMutableDictionary())
    let (set, ordered) = (NSMutableSet(array: [1]), NSMutableOrderedSet(array: [1]))
    let text = NSMutableString("abc")
    dictionary["a"] = 1
    let arrays = array.lazyList(of: Int.self)
    let untyped = array.lazyList
    let (sets, ordereds) = (set.lazyList(of: Int.self), ordered.lazyList(of: Int.self))
    let (keys, characters) = (dictionary.lazyKeys(of: String.self), text.lazyList)
    array.add(2)
    set.add(2)
    ordered.add(2)
    dictionary["b"] = 2
    text.append("d")
    #expect(try await arrays.array() == [1])
    #expect(await untyped.count() == 1)
    #expect(try await sets.array() == [1])
    #expect(try await ordereds.array() == [1])
    #expect(try await keys.array() == ["a"])
    #expect(await characters.array() == ["a", "b", "c"])
  }

  @Test("an enumerator: at once, or handed over and pulled as it is demanded")
  func enumerators() async throws {
    let all = NSArray(array: [1, 2, 3]).objectEnumerator()
    _ = all.nextObject()
    #expect(try await all.lazyList(of: Int.self).array() == [2, 3])
    #expect(all.nextObject() == nil)
    #expect(await NSArray(array: [1, 2]).objectEnumerator().lazyList.count() == 2)

    let list = LazyList(enumerator: NSArray(array: [1, 2, "x"]).objectEnumerator(), of: Int.self)
    #expect(list.evaluatedCount == 0)
    #expect(try await list.head() == 1)
    #expect(list.evaluatedPrefix == [1])
    let error = await #expect(throws: ElementTypeError.self) { try await list.array() }
    #expect(error?.position == 2)
    await #expect(throws: ElementTypeError.self) { try await list.array() }
    #expect(try await list.prefix(2).array() == [1, 2])
  }
}
