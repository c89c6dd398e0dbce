import Foundation
import Tailrace
import TailraceFoundation
import Testing

@Suite("Collections")
struct CollectionTests {
  @Test("arrays, sets, ranges, strings")
  func elements() async {
    #expect(await [1, 2].lazyList.array() == [1, 2])
    #expect(await Set([1, 2]).lazyList.array().sorted() == [1, 2])
    #expect(await (1..<4).lazyList.array() == [1, 2, 3])
    #expect(await (1...3).lazyList.array() == [1, 2, 3])
    #expect(await (1...).lazyList.prefix(2).array() == [1, 2])
    #expect(await "e\u{301}a".lazyList.array() == ["é", "a"])
    #expect(await IndexSet([3, 1]).lazyList.array() == [1, 3])
    #expect(await Data("hi".utf8).lazyList.array() == [104, 105])
  }

  @Test("pairs, keys and values agree on the order")
  func dictionary() async {
    let dictionary = Dictionary(uniqueKeysWithValues: (0..<50).map { ($0, $0 * 2) })
    let pairs = await dictionary.lazyList.array()
    #expect(await dictionary.lazyKeys.array() == pairs.map(\.key))
    #expect(await dictionary.lazyValues.array() == pairs.map(\.value))
    #expect(pairs.count == 50)
  }

  @Test("a list is a snapshot: later changes are not seen")
  func snapshot() async {
    var array = [1, 2, 3]
    let list = array.lazyList
    array.removeAll()
    #expect(await list.array() == [1, 2, 3])
  }
}
