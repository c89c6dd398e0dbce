import Tailrace
import Testing

@testable import TailraceStored

@Suite("What is known of a remote list, as a value", .inTurn)
struct RemoteContentsTests {
  private typealias Contents = RemoteContents<Int>

  private func answer(
    _ elements: [Int], _ next: String, isOurs: Bool = false, isLive: Bool = false,
    isUpToDate: Bool = false, isClosed: Bool = false
  ) -> Contents.Answer {
    Contents.Answer(
      elements: elements, sizes: elements.map { _ in 300 }, next: next, isUpToDate: isUpToDate,
      isClosed: isClosed, isOurs: isOurs, isLive: isLive)
  }

  @Test("a request to another server begins at the nearest offset that it has named")
  func names() throws {
    var contents = Contents(.beginning)
    try contents.take(answer([0, 1], "x2"), from: 0)
    try contents.take(answer([2, 3], "x4"), from: 2)
    let starts = (0...5).map { contents.start(for: $0) }
    #expect(starts.map { $0?.position } == [0, 0, 2, 2, 4, 4])
    let (beginning, expected) = (ListOffset.beginning, ["x2", "x2", "x4", "x4"])
    #expect(starts.map { $0?.offset } == [beginning, beginning] + expected)
    #expect(contents.place(at: 1).named == 0 && contents.place(at: 3).named == 2)
  }

  @Test("an answer without elements says that it is of the end, or is live")
  func empty() throws {
    for isLive in [false, true] {
      for (isUpToDate, isClosed) in [(false, false), (true, false), (false, true)] {
        var contents = Contents(.beginning)
        let empty = answer(
          [], ListOffset("a", 0).name, isOurs: true, isLive: isLive, isUpToDate: isUpToDate,
          isClosed: isClosed)
        if isLive || isUpToDate || isClosed {
          try contents.take(empty, from: 0)
          #expect(contents.isEnded == isClosed && contents.count == 0)
        } else {
          #expect(throws: RemoteAnswerError.self) { try contents.take(empty, from: 0) }
        }
      }
    }
  }

  @Test("elements that are not kept any more are handed out, to be released elsewhere")
  func discarded() throws {
    var contents = Contents(.beginning, byteCapacity: 1000)
    for number in 0..<10 {
      let next = ListOffset("a", number + 1).name
      try contents.take(answer([number], next, isOurs: true, isLive: true), from: number)
    }
    #expect(contents.tail.start == 4 && contents.tail.elements == Array(4..<10))
    #expect(contents.tail.bytes == 1800 && contents.tail.sizes.count == 6)
    let discarded = Set(contents.takeDiscarded().joined())
    #expect(discarded.isSuperset(of: 0..<contents.tail.start))
    #expect(contents.takeDiscarded().isEmpty)
  }

  /// What tells, after answers without the field, that the server is an endpoint of ours.
  private enum Sign: CaseIterable { case page, event, extent, gone, place }

  @Test(
    "an endpoint of ours whose field was lost on its way is known by its offsets",
    arguments: Sign.allCases)
  private func lostField(_ sign: Sign) throws {
    // Offsets of another list, or of no list, were another server's.
    for former in ["a", "b", nil] {
      var contents = Contents(.beginning)
      for position in [0, 2] {
        let next = former.map { ListOffset($0, position + 2).name } ?? "x\(position + 2)"
        try contents.take(answer([position, position + 1], next), from: position)
      }
      #expect(contents.server == .other && contents.start(for: 3)?.position == 2)
      var failure: RemoteAnswerError?
      do throws(RemoteAnswerError) {
        switch sign {
        case .page: try contents.take(answer([4], ListOffset("a", 5).name, isOurs: true), from: 4)
        case .event:
          let next = ListOffset("a", 5).name
          try contents.take(answer([4], next, isOurs: true, isLive: true), from: 4)
        case .extent:
          let extent = ListExtent(identity: "a", count: 5, isEnded: false)
          try contents.take(extent, asked: contents.reach)
        case .gone: failure = contents.gone(ListOffset("a", 5), from: 4)
        case .place:
          let offset = ListOffset("a", 4).name
          try contents.resume(
            at: RemotePlace(position: 4, offset: offset, named: 4, isOurs: true))
        }
      } catch {
        failure = error
      }
      if former == "a" {
        #expect(contents.server == .ours(identity: "a"))
        #expect(contents.start(for: 3)?.position == 3, "an endpoint of ours has each position")
        switch failure {
        case nil: #expect(sign != .gone)
        case .final(.list(.trimmed(first: 5))): #expect(sign == .gone)
        case let failure?: Issue.record("\(failure)")
        }
      } else {
        #expect(contents.server == .other)
        guard case .final(.remote(.otherList(found: _))) = failure else {
          Issue.record("\(String(describing: failure))")
          continue
        }
      }
    }
  }

  @Test("a list that is read on from a place, and one whose extent is told")
  func places() throws {
    let offset = ListOffset("a", 3).name
    var contents = Contents(RemotePlace(position: 3, offset: offset, named: 3, isOurs: true))
    #expect(contents.count == 3 && contents.tail.start == 3)
    #expect(contents.server == .ours(identity: "a"))
    #expect(try contents.look(from: 3, upTo: 1, isReading: true) == ListPage([]))
    #expect(try contents.look(from: 2, upTo: 1, isReading: true) == nil)
    let extent = ListExtent(identity: "a", count: 5, isEnded: false)
    try contents.take(extent, asked: contents.reach)
    #expect(contents.count == 5 && contents.mayHaveMore(than: 4) && !contents.mayHaveMore(than: 5))
    #expect(contents.liveStart()?.position == 5)
    let (first, beginning) = (ListOffset("a", 1).name, Contents(.beginning))
    let place = RemotePlace(position: 1, offset: first, named: 1, isOurs: true)
    #expect(Contents(place).count == 1 && beginning.tail.start == 0 && beginning.count == 0)
  }

  @Test("a page is read beside the live end, and what the server has discarded is behind it")
  func pages() throws {
    let place = RemotePlace(
      position: 3, offset: ListOffset("a", 3).name, named: 3, isOurs: true)
    var contents = Contents(place)
    try contents.take(answer([0, 1], ListOffset("a", 2).name, isOurs: true), from: 0)
    #expect(contents.tail.start == 3 && contents.page.end == 2)
    #expect(try contents.look(from: 1, upTo: 5, isReading: false) == ListPage([1]))
    let offset = try #require(ListOffset(ListOffset("a", 7).name))
    guard case .final(.list(.trimmed(first: 7))) = contents.gone(offset, from: 2) else {
      Issue.record("it is not told")
      return
    }
    #expect(contents.count == 7 && contents.tail.start == 7)
  }

  @Test("an answer to the first request that begins later: the list has been trimmed")
  func trimmedFirst() throws {
    let answer = answer([4, 5], ListOffset("a", 6).name, isOurs: true)
    var contents = Contents(.beginning)
    #expect(throws: RemoteAnswerError.self) { try contents.take(answer, from: 0) }
    #expect(contents.count == 4 && contents.tail.start == 4)
    // Behind elements that are known, or at another place, the answer is damaged.
    contents = Contents(.beginning)
    try contents.take(self.answer([0], ListOffset("a", 1).name, isOurs: true), from: 0)
    for position in [0, 1] {
      do {
        try contents.take(answer, from: position)
        Issue.record("elements of another place were taken")
      } catch {
        guard case .corrupt = error else { throw error }
      }
    }
    contents = Contents(.beginning)
    #expect(throws: RemoteAnswerError.self) { try contents.take(answer, from: 1) }
    #expect(contents.count == 0)
  }

  @Test("elements that are here stay, if the list has been trimmed before them, or up to their end")
  func trimmedBehind() throws {
    for (first, kept) in [(1, [0, 1]), (2, [0, 1]), (3, [])] {
      var contents = Contents(.beginning)
      try contents.take(answer([0, 1], ListOffset("a", 2).name, isOurs: true), from: 0)
      _ = contents.gone(ListOffset("a", first), from: 0)
      #expect(contents.tail.elements == kept && contents.count == max(2, first))
    }
  }

  @Test("an end: what is told now counts, and what came while it was asked for")
  func ends() throws {
    for (known, asked, told) in [
      (false, false, false), (false, false, true), (true, false, false), (true, false, true),
      (true, true, false), (true, true, true),
    ] {
      var contents = Contents(.beginning)
      let element = answer([0], ListOffset("a", 1).name, isOurs: true, isClosed: known)
      try contents.take(element, from: 0)
      try contents.take(
        ListExtent(identity: "a", count: 1, isEnded: told),
        asked: Contents.Reach(count: 1, isEnded: asked))
      #expect(contents.isEnded == (told || known && !asked))
    }
  }

  @Test("of what nobody has read, so much is kept as there is room for, and what was just read")
  func room() throws {
    let capacity = Contents.capacity
    var contents = Contents(.beginning)
    let first = answer(
      Array(0..<2 * capacity), ListOffset("a", 2 * capacity).name, isOurs: true, isLive: true)
    try contents.take(first, from: 0)
    #expect(contents.tail.elements.count == 2 * capacity, "twice as many")
    let next = ListOffset("a", 2 * capacity + 1).name
    try contents.take(
      answer([2 * capacity], next, isOurs: true, isLive: true), from: 2 * capacity)
    #expect(contents.tail.elements.count == capacity && contents.tail.end == 2 * capacity + 1)
    #expect(contents.tail.bytes == 300 * capacity)
    // An answer that is larger than the room.
    contents = Contents(.beginning, byteCapacity: 1000)
    for (elements, end) in [([0, 1, 2], 3), (Array(3..<13), 13)] {
      let answer = answer(elements, ListOffset("a", end).name, isOurs: true, isLive: true)
      try contents.take(answer, from: end - elements.count)
    }
    #expect(contents.tail.start == 3 && contents.tail.elements == Array(3..<13))
    #expect(contents.tail.bytes == 3000)
  }

  @Test("patience that is over tells the last failure, whatever its kind")
  func lastFailure() {
    let failures: [(RemoteAnswerError, RemoteListError.Reason)] = [
      (.corrupt("damaged"), .malformed("damaged")), (.later("busy"), .unreachable("busy")),
      (.silent(.seconds(3)), .unreachable("nothing was heard for 3.0 seconds")),
      (.lacking(from: 7), .unreachable("the server has only 7 elements, and has had more")),
    ]
    for (failure, reason) in failures {
      var budget = FailureBudget(.seconds(1))
      #expect(budget.take(failure, at: .seconds(5)) == nil)
      guard case .over(.remote(let told)) = budget.turn(.seconds(9), at: .seconds(6)) else {
        Issue.record("patience is not over")
        continue
      }
      #expect(told == reason)
    }
  }

  /// A connection asks for events, and somebody waits for the first element.
  private func connecting() throws -> (RemoteState<Int>, WhileAwaited<RemoteOutcome, Int>) {
    var state = RemoteState(Contents(.beginning), patience: nil)
    var awaited = WhileAwaited<RemoteOutcome, Int>(lingers: true)
    let number = try #require(state.enter(waitingFor: 0, &awaited))
    #expect(awaited.wait(number, number) == nil)
    #expect(state.step(1, at: .zero, &awaited) == .request(.events))
    return (state, awaited)
  }

  /// The connection ends when nobody has waited for a minute since a time in seconds, and not before.
  private func expectEnd(
    of state: RemoteState<Int>, _ awaited: inout WhileAwaited<RemoteOutcome, Int>,
    whenIdleSince time: Int
  ) {
    state.endIfIdle(for: .seconds(60), at: .seconds(time + 59), &awaited)
    #expect(awaited.isRunning)
    state.endIfIdle(for: .seconds(60), at: .seconds(time + 60), &awaited)
    #expect(!awaited.isRunning)
  }

  @Test("a connection ends when nobody has waited for a while, counted from the last answer")
  func idle() throws {
    var (state, awaited) = try connecting()
    let element = answer([7], ListOffset("a", 1).name, isOurs: true, isLive: true)
    try state.took(element, from: 0, run: 1, at: .seconds(100), &awaited)
    expectEnd(of: state, &awaited, whenIdleSince: 100)
  }

  @Test("a connection ends when nobody has waited for a while, counted from the last that has left")
  func left() throws {
    var (state, awaited) = try connecting()
    let other = try #require(state.enter(waitingFor: 0, &awaited))
    #expect(awaited.wait(other, other) == nil)
    awaited.cancel(1, .cancelled)
    state.left(at: .seconds(50), awaited)
    awaited.cancel(other, .cancelled)
    state.left(at: .seconds(100), awaited)
    expectEnd(of: state, &awaited, whenIdleSince: 100)
  }

  @Test("a connection that begins anew knows nothing of what the one before has read")
  func beginsAnew() throws {
    var (state, awaited) = try connecting()
    let element = answer(
      [7], ListOffset("a", 1).name, isOurs: true, isLive: true, isUpToDate: true)
    try state.took(element, from: 0, run: 1, at: .zero, &awaited)
    #expect(state.link.isReading && state.cursor == nil)
    var other = answer([8], ListOffset("a", 2).name, isOurs: true, isLive: true)
    for cursor in ["c", nil] {
      (other.cursor, other.elements) = (cursor, cursor == nil ? [] : [8])
      other.sizes = other.elements
      try state.took(other, from: cursor == nil ? 2 : 1, run: 1, at: .zero, &awaited)
      #expect(state.cursor == "c")
    }
    state.endIfIdle(for: .zero, at: .seconds(60), &awaited)
    #expect(!awaited.isRunning)
    _ = state.enter(waitingFor: 2, &awaited)
    #expect(!state.link.isReading)
  }
}
