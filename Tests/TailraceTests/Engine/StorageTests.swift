import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("Storage: the elements of an array, in place", .inTurn)
struct StorageTests {
  @Test("it counts from the first element of the slice")
  func slice() {
    let storage = Storage((0..<10).map { $0 * 2 }[3..<6])
    #expect([storage[0], storage[1], storage[2]] == [6, 8, 10])
  }

  @Test("a list of an array is one segment without cells of its own; of no elements, none")
  func sharing() {
    let list = LazyList<Int, Never>(sharing: [1, 2, 3])
    #expect(list.segment?.storage != nil && list.segment?.base == nil)
    #expect(LazyList<Int, Never>(sharing: [Int]()).segment == nil)
    #expect(LazyList<Int, Never>(sharing: [Int]()[...]).segment == nil)
    #expect(list.slice == [1, 2, 3] && list.dropFirst(2).slice == [3])
  }

  @Test("lists are told from other elements, trivial or not")
  func recognised() {
    #expect(isList(LazyList<Int, Never>.self) && isList(LazyList<String, any Error>.self))
    #expect(!isList(Int.self) && !isList(String.self) && !isList([LazyList<Int, Never>].self))
  }

  @Test("a list that is not a part of an array has no slice")
  func noSlice() async {
    let mapped = LazyList<Int, Never>(sharing: [1, 2, 3]).map { $0 }
    #expect(await mapped.count() == 3)
    #expect(mapped.slice == nil)
    let more = Segment(
      storage: Storage([1][...]), link: .more(Segment(storage: Storage([2][...])), 0))
    #expect(LazyList<Int, Never>(segment: more, offset: 0).slice == nil)
  }

  @Test("elements that are lists are let go of one by one, though the array is not read to its end")
  func lists() async {
    let instances = InstanceCounter()
    typealias Inner = LazyList<InstanceCounter.Member, Never>
    var list = LazyList<Inner, Never>(
      sharing: (0..<3).map { number in Inner.just(instances.member(number)) })
    #expect(list.segment?.storage == nil && instances.alive == 3)
    list = list.dropFirst(3)
    #expect(await list.isEmpty())
    #expect(instances.alive == 0)
  }
}
