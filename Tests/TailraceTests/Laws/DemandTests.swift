import Tailrace
import TailraceInspection
import TailraceTesting
import Testing

@Suite("Demand: nothing runs before it, and nothing more than it needs", .inTurn)
struct DemandTests {
  @Test("building, the head, the second element", arguments: Row.all, SourceKind.allCases)
  func stepwise(_ row: Row, _ kind: SourceKind) async throws {
    let pulls = Probe<Int>()
    let list = row.apply(kind.make(pulls), Calls())
    #expect(pulls.count == 0, "building demands nothing")
    _ = (
      list, list.description, list.debugDescription, list.tail, list.dropFirst(3), list.prefix(0)
    )
    _ = (list.evaluatedCount, list.evaluatedPrefix, list.name, list.diagram())
    #expect(pulls.count == 0, "looking demands nothing")
    // A row that gives nothing has no head to stop at.
    guard !row.elements.isEmpty else { return }

    #expect(try await list.head() == row.elements.first)
    #expect(row.pulls(forHead: pulls.count))
    _ = try await list.head()
    #expect(row.pulls(forHead: pulls.count), "the head is remembered")

    #expect(try await list.tail.head() == row.elements.dropFirst().first)
    #expect(row.pulls(forSecond: pulls.count))
    #expect(list.evaluatedPrefix == Array(row.elements.prefix(list.evaluatedCount)))
  }

  @Test("iterating two elements is two demands", arguments: Row.all, SourceKind.allCases)
  func iterating(_ row: Row, _ kind: SourceKind) async throws {
    guard row.elements.count > 1 else { return }
    let pulls = Probe<Int>()
    var seen: [Int] = []
    for try await element in row.apply(kind.make(pulls), Calls()) {
      seen.append(element)
      #expect(
        seen.count == 1 ? row.pulls(forHead: pulls.count) : row.pulls(forSecond: pulls.count))
      if seen.count == 2 { break }
    }
    #expect(seen == Array(row.elements.prefix(2)))
  }

  @Test("prefix never touches the element behind it", arguments: SourceKind.allCases)
  func prefix(_ kind: SourceKind) async throws {
    let pulls = Probe<Int>()
    let list = kind.make(upTo: 100, pulls)
    #expect(try await list.prefix(3).array() == [1, 2, 3])
    #expect(pulls.values == [1, 2, 3])
    #expect(try await list.element(at: 4) == 5)
    #expect(pulls.values == [1, 2, 3, 4, 5])
  }

  @Test("the head of a list does not run its tail's closure, nor the tail its own head's twice")
  func headAndTail() async {
    let probe = Probe<String>()
    let list = LazyList<Int, Never>(
      head: { probe.pass("head").count }, tail: { [probe.pass("tail").count] })
    #expect(await list.head() == 4)
    #expect(probe.values == ["head"])
    #expect(await list.tail.isEmpty() == false)
    #expect(await list.array() == [4, 4])
    #expect(probe.values == ["head", "tail"])
  }
}

extension Row {
  fileprivate func pulls(forHead pulls: Int) -> Bool { (forHead...forHead + ahead) ~= pulls }

  fileprivate func pulls(forSecond pulls: Int) -> Bool { (forSecond...forSecond + ahead) ~= pulls }
}
