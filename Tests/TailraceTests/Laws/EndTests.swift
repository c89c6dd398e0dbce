import Tailrace
import TailraceTesting
import Testing

@Suite("One end: it is found once, and stays", .inTurn)
struct EndTests {
  @Test("the end is asked for once", arguments: Row.all, SourceKind.allCases)
  func end(_ row: Row, _ kind: SourceKind) async throws {
    let pulls = Probe<Int>()
    let list = row.apply(kind.make(pulls), Calls())
    #expect(try await list.count() == row.elements.count)
    let asked = pulls.count
    #expect(try await list.count() == row.elements.count)
    #expect(try await list.element(at: row.elements.count) == nil)
    #expect(try await list.dropFirst(row.elements.count).isEmpty())
    #expect(pulls.count == asked)
    #expect(list.description == "\(row.elements)")
  }

  @Test("an iterator at the end keeps giving nil", arguments: Row.all)
  func iterator(_ row: Row) async throws {
    var iterator = row.apply(SourceKind.plain.make(Probe()), Calls()).makeAsyncIterator()
    while try await iterator.next() != nil {}
    #expect(try await iterator.next() == nil)
    #expect(try await iterator.next() == nil)
  }

  @Test("a slice that is mapped to pairs has all of them")
  func slice() async {
    let list = LazyList(1...9)
    #expect(await list.prefix(2).flatMap { [$0, $0] }.count() == 4)
    #expect(await list.prefix(2).flatMap { LazyList.repeating($0, count: 2) }.count() == 4)
  }

  @Test("the tail of the empty list is empty")
  func empty() async {
    let list = LazyList<Int, Never>.empty
    #expect(await list.tail.tail.isEmpty())
    #expect(await list.uncons() == nil)
    #expect(await list.prepending(1).tail.tail.array() == [])
    #expect(list.description == "[]")
  }
}
