import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("Cursor: a moving position in a list", .inTurn)
struct CursorTests {
  typealias List = LazyList<Int, Never>

  /// The remaining elements, pulled one by one.
  private func rest(_ cursor: inout Cursor<Int>) -> [Int] {
    var elements: [Int] = []
    while let element = cursor.next() { elements.append(element) }
    return elements
  }

  private func name(_ absence: Absence) -> String {
    switch absence {
    case .end: "end"
    case .failed: "failed"
    case .failedTransiently: "failed for now"
    case .missing: "missing"
    case .released: "released"
    case .cancelled: "cancelled"
    case .paused: "paused"
    }
  }

  @Test("one by one, then the end, each time", arguments: [0, 1, 7, 8, 9, 300], [false, true])
  func elements(_ length: Int, isEvaluated: Bool) async {
    let list = List(0..<length).map { $0 }
    if isEvaluated { #expect(await list.count() == length) }
    var cursor = Cursor(list)
    #expect(rest(&cursor) == Array(0..<length))
    for _ in 0..<2 {
      #expect(cursor.next() == nil)
      #expect(name(cursor.takeAbsence()) == "end")
    }
  }

  @Test("an offset, and a list that goes on in another one")
  func offset() {
    var cursor = Cursor(List(0..<20).dropFirst(15) + List(5..<8))
    #expect(rest(&cursor) == Array(15..<20) + Array(5..<8))
  }

  @Test("alone it takes the producer over, and nothing is kept; beside a reader it does not")
  func takeOver() {
    var alone = Cursor(List(0..<20).map { $0 })
    #expect(alone.next() == 0 && alone.producer != nil)
    let list = List(0..<20).map { $0 }
    var beside = Cursor(list)
    #expect(beside.next() == 0 && beside.producer == nil)
    #expect(list.evaluatedCount == 1)
    var modest = Cursor(List(0..<20).map { $0 }, takesOver: false)
    #expect(modest.next() == 0 && modest.producer == nil)
  }

  @Test("who has seen an old mark is told of no later attempt, at another cell or at this one")
  func toldByMark() async throws {
    let attempts = Probe<Int>()
    let list = LazyList<Int, any Error>(state: 0, retryingFailures: true) { state async throws in
      let position = state
      attempts.record(position)
      // Position 1 fails once, and 2 twice.
      if attempts.values.count(where: { $0 == position }) <= position {
        throw Mishap(position: position)
      }
      state += 1
      return position
    }
    let segment = try #require(list.segment)
    func isTold(_ seen: Published, at mark: Published) -> Bool {
      var cursor = Cursor(list, takesOver: false)
      (cursor.note, cursor.demand.hasWaited) = (WaitingNote(seen, .one), true)
      return cursor.isTold(of: segment, mark)
    }
    var (reader, failures) = (list.makeAsyncIterator(), 0)
    while failures < 3 {
      do { _ = try await reader.next() } catch {
        failures += 1
        let seen = Published(count: failures == 1 ? 1 : 2)
        #expect(isTold(seen, at: segment.mark))
        if failures > 1 { #expect(!isTold(Published(count: 1), at: Published(count: 1).failed)) }
        if failures > 2 { #expect(!isTold(seen, at: seen.failed)) }
      }
    }
    #expect(segment.mark == Published(count: 2).failed.failed)
  }

  /// The missing cell of a pull beside the claim's holder.
  private func missing(awaited isAwaited: Bool) throws -> MissingCell? {
    let list = List(0..<20).map { $0 }
    let evaluator = try #require(list.segment?.evaluator)
    evaluator.claim.take()!.end()
    let isMarked = isAwaited && evaluator.claim.noteAwaited()
    #expect(isMarked == isAwaited)
    var cursor = Cursor(list)
    #expect(cursor.next() == nil)
    evaluator.letGo(Held())
    guard case .missing(let cell) = cursor.takeAbsence() else { return nil }
    #expect(cursor.next() == 0)
    return cell
  }

  @Test("a reader beside a plain step falls behind, unless that step is so slow that others wait")
  func taken() throws {
    #expect(try missing(awaited: false)?.isTaken == true)
    #expect(try missing(awaited: true)?.isTaken == false)
  }

  @Test("a reader beside an asynchronous step waits for it at once")
  func takenByTask() throws {
    let list = List(0..<20).map { (number: Int) async in number }
    let evaluator = try #require(list.segment?.evaluator)
    evaluator.claim.take()!.end()
    defer { evaluator.letGo(Held()) }
    var cursor = Cursor(list)
    #expect(cursor.next() == nil)
    guard case .missing(let cell) = cursor.takeAbsence() else {
      Issue.record("it is not missing")
      return
    }
    #expect(!cell.isTaken)
  }

  @Test("a missing cell is given once: the cursor does not retain its list")
  func takesAbsence() throws {
    let list = List(0..<20).map { $0 }
    let evaluator = try #require(list.segment?.evaluator)
    evaluator.claim.take()!.end()
    defer { evaluator.letGo(Held()) }
    var cursor = Cursor(list)
    #expect(cursor.next() == nil)
    #expect(name(cursor.takeAbsence()) == "missing")
    #expect(name(cursor.takeAbsence()) == "paused")
  }

  @Test("the rest is a list, whether the producer was taken over or not", arguments: [false, true])
  func unpulled(takesOver: Bool) async {
    let calls = Probe<Int>()
    var cursor = Cursor(List(0..<20).map { calls.pass($0) }, takesOver: takesOver)
    for number in 0..<5 { #expect(cursor.next() == number) }
    let list = List(cursor.rest)
    #expect(await list.array() == Array(5..<20))
    #expect(rest(&cursor) == Array(5..<20))
    #expect(calls.values == Array(0..<20))
  }

  @Test("an element that is put back comes again, before the others")
  func putBack() {
    var cursor = Cursor(List(0..<5).map { $0 })
    #expect(cursor.next() == 0 && cursor.next() == 1)
    cursor.pushBack(1)
    cursor.pushBack(7)
    #expect(rest(&cursor) == [7, 1, 2, 3, 4])
  }

  @Test("elements are lent in runs, each of them once")
  func runs() async {
    let list = List(0..<300).map { $0 }
    #expect(await list.prefix(100).count() == 100)
    var cursor = Cursor(list, wants: .all)
    var (elements, count) = ([Int](), 0)
    while cursor.withNextCells({ elements += $0 }) { count += 1 }
    #expect(elements == Array(0..<300) && count < 20)
    #expect(name(cursor.takeAbsence()) == "end")
  }

  @Test("a cell that is missing is told once, and what is there is given before")
  func missing() async {
    let gate = Gate()
    let list = List(0..<3).map { (number: Int) async in
      if number == 1 { await gate.wait() }
      return number
    }
    #expect(await list.head() == 0)
    var cursor = Cursor(list)
    #expect(cursor.next() == 0 && cursor.next() == nil)
    #expect(name(cursor.takeAbsence()) == "missing")
    #expect(name(cursor.takeAbsence()) == "paused", "it would keep its list")
    gate.open()
    #expect(await cursor.nextWaiting() == 1)
  }

  @Test("a failure is told each time, behind the elements before it")
  func failure() {
    var cursor = Cursor([1, 2] + LazyList<Int, Mishap>.failing(Mishap(position: 2)))
    #expect(rest(&cursor) == [1, 2])
    for _ in 0..<2 {
      #expect(cursor.next() == nil)
      #expect(name(cursor.takeAbsence()) == "failed")
    }
  }

  @Test("a cancelled task gets what is evaluated, and nothing more")
  func cancelled() async {
    let list = List(0..<5).map { $0 }
    #expect(await list.prefix(2).count() == 2)
    let task = Task { () -> ([Int], String) in
      withUnsafeCurrentTask { $0?.cancel() }
      var cursor = Cursor(list, stopsWhenCancelled: true)
      return (rest(&cursor), name(cursor.takeAbsence()))
    }
    #expect(await task.value == ([0, 1], "cancelled"))
    #expect(list.evaluatedCount == 2)
  }
}
