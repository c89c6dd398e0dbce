import Tailrace
import TailraceTesting
import Testing

@Suite("Collections", .inTurn)
struct CollectionTests {
  @Test("arrays, sets, ranges")
  func elements() async {
    #expect(await [1, 2].lazyList.array() == [1, 2])
    #expect(await ContiguousArray([1, 2]).lazyList.array() == [1, 2])
    #expect(await [0, 1, 2, 3][1...2].lazyList.array() == [1, 2])
    #expect(await EagerList(0...3).dropFirst(2).lazyList.array() == [2, 3])
    #expect(await Set([1, 2]).lazyList.array().sorted() == [1, 2])
    #expect(await (1..<4).lazyList.array() == [1, 2, 3])
    #expect(await (1...3).lazyList.array() == [1, 2, 3])
    #expect(await (1...).lazyList.prefix(2).array() == [1, 2])
    #expect(await [Int]().lazyList.isEmpty())
  }

  @Test("strings: characters, scalars, units")
  func strings() async {
    #expect(await "e\u{301}a".lazyList.array() == ["é", "a"])
    // Two hearts and diamonds, each a scalar and a variation selector.
    let suits = "♥️♦️"
    #expect(await suits.lazyList.array() == ["♥️", "♦️"])
    #expect(await suits.unicodeScalars.lazyList.count() == 4)
    #expect(await suits.utf16.lazyList.array() == Array(suits.utf16))
    #expect(await suits.utf8.lazyList.array() == Array(suits.utf8))
    #expect(await suits.dropFirst().lazyList.array() == ["♦️"])
    #expect(await "".lazyList.isEmpty())
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
    var contiguous = ContiguousArray(array)
    var dictionary = [1: 2]
    var set: Set = [1]
    var text = "abc"
    let (arrays, contiguouses) = (array.lazyList, contiguous.lazyList)
    let (keys, values, pairs) = (dictionary.lazyKeys, dictionary.lazyValues, dictionary.lazyList)
    let (sets, characters, bytes) = (set.lazyList, text.lazyList, text.utf8.lazyList)
    array.removeAll()
    contiguous.append(4)
    dictionary[1] = nil
    set.insert(2)
    text = ""
    #expect(await arrays.array() == [1, 2, 3])
    #expect(await contiguouses.array() == [1, 2, 3])
    #expect(await keys.array() == [1])
    #expect(await values.array() == [2])
    #expect(await pairs.count() == 1)
    #expect(await sets.array() == [1])
    #expect(await characters.array() == ["a", "b", "c"])
    #expect(await bytes.count() == 3)
  }

  @Test("an iterator: one pass, remembered, element by element")
  func iterator() async {
    let instances = InstanceCounter()
    let list = { LazyList(iterator: Countdown(from: 5, instances.member())) }()
    #expect(list.evaluatedCount == 0)
    #expect(await list.head() == 5)
    #expect(list.evaluatedPrefix == [5])
    async let one = list.array()
    async let other = list.array()
    #expect(await one == [5, 4, 3, 2, 1])
    #expect(await other == [5, 4, 3, 2, 1])
    #expect(instances.alive == 0, "an exhausted iterator is released")
    var numbers = [1, 2, 3].makeIterator()
    #expect(numbers.next() == 1)
    let rest = numbers.lazyList
    #expect(numbers.next() == 2)
    #expect(await rest.array() == [2, 3])
  }
}

/// An iterator that cannot be shared, and must not be asked after its end.
private final class Countdown: IteratorProtocol {
  private var number: Int
  private let member: InstanceCounter.Member

  init(from number: Int, _ member: InstanceCounter.Member) {
    self.number = number
    self.member = member
  }

  func next() -> Int? {
    guard number > 0 else {
      #expect(number == 0, "asked again after the end")
      number -= 1
      return nil
    }
    defer { number -= 1 }
    return number
  }
}
