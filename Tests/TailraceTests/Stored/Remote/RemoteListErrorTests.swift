import Tailrace
import TailraceSupport
import Foundation
import TailraceTesting
import Testing

@testable import TailraceStored

@Suite("Errors of a list of a server", .inTurn, .hangLimit)
struct RemoteListErrorTests {
  typealias Store = MemoryStore<Int, Int>

  @Test(
    "a list that was begun anew is told, at every position, and never spliced", arguments: 0...4)
  func anew(_ read: Int) async throws {
    let source = ChangingSource([0, 1, 2, 3])
    let endpoint = ListEndpoint(source, pageLimit: 2)
    let remote = remote(endpoint.transport)
    let first = try await remote.read(from: 0, upTo: 4).elements
    for position in 0..<read { _ = try await remote.read(from: position, upTo: 1) }
    #expect(first == [0, 1])
    let reader = Task {
      try await LazyList(reading: remote, from: read).dropFirst(4 - read).array()
    }
    try await source.become([10, 11, 12, 13, 14, 15])
    let identity = try await source.extent().identity
    do {
      // The old list's end may have been read before.
      #expect(try await reader.value == [])
    } catch {
      #expect((error as? RemoteListError)?.reason == .otherList(found: identity))
      await #expect(throws: RemoteListError(path: "/list", reason: .otherList(found: identity))) {
        try await remote.read(from: 0, upTo: 1)
      }
    }
  }

  @Test(
    "an identity that is damaged on its way is no other list: the elements are asked for again",
    arguments: [1, 2, 4, .max])
  func damagedIdentity(_ times: Int) async throws {
    let source = ChangingSource([0, 1])
    let endpoint = ListEndpoint(source)
    let answers = Counter()
    let remote = remote { request in
      let response = try await endpoint.transport(request)
      answers.increment()
      // The first one tells the identity.
      guard answers.value > 1, answers.value - 1 <= times else { return response }
      var fields = response.headers
      fields["stream-next-offset"] = fields["stream-next-offset"].map { "x" + $0 }
      let body = response.body.map { piece in
        let text = String(decoding: piece, as: UTF8.self)
        return Array(text.replacing(#"Offset":""#, with: #"Offset":"x"#).utf8)
      }
      return RemoteResponse(status: response.status, headers: fields, body: body)
    }
    #expect(try await remote.read(from: 0, upTo: 9).elements == [0, 1])
    try await source.append([2, 3], isEnd: true)
    if times < .max {
      try await remote.waitForMore(than: 2)
      #expect(try await LazyList(reading: remote).array() == [0, 1, 2, 3])
      return
    }
    do {
      try await remote.waitForMore(than: 2)
      Issue.record("was read")
    } catch {
      guard case .malformed(let why) = (error as? RemoteListError)?.reason else { throw error }
      #expect(why.contains("another list"))
    }
  }

  @Test(
    "a proxy that drops the field of our offsets, from some responses or from all: no other list",
    arguments: [0..<1, 0..<2, 1..<3, 2..<3, 0..<Int.max])
  func lostField(_ harmed: Range<Int>) async throws {
    let source = ChangingSource([0, 1])
    let endpoint = ListEndpoint(source, pageLimit: 1)
    let answers = Counter()
    let remote = remote { request in
      let response = try await endpoint.transport(request)
      answers.increment()
      guard harmed.contains(answers.value - 1) else { return response }
      var fields = response.headers
      fields[ListOffset.field.lowercased()] = nil
      return RemoteResponse(status: response.status, headers: fields, body: response.body)
    }
    #expect(try await remote.read(from: 0, upTo: 1).elements == [0])
    #expect(try await remote.read(from: 1, upTo: 1).elements == [1])
    try await source.append([2, 3], isEnd: true)
    try await remote.waitForMore(than: 2)
    #expect(try await LazyList(reading: remote).array() == [0, 1, 2, 3])
  }

  @Test("discarded elements, and elements that the server has lost")
  func extents() async throws {
    let store = Store(Array(0..<10))
    store.trim(before: 4)
    for limit in [1, 100] {
      let remote = remote(ListEndpoint(store, pageLimit: limit).transport)
      await #expect(throws: ListStoreError.trimmed(first: 4)) {
        try await remote.read(from: 0, upTo: 1)
      }
      await #expect(throws: ListStoreError.trimmed(first: 4)) {
        try await remote.read(from: 3, upTo: 1)
      }
      #expect(try await remote.read(from: 4, upTo: 1).elements == [4])
    }
    let extent = Locked(ListExtent(identity: "a", count: 3, isEnded: false))
    let shrinking = remote { request in
      let asksExtent = request.path.contains("offset=now")
      if asksExtent || request.path.contains("offset=a_") {
        let extent = extent.withLock { $0 }
        let isBeyond = !asksExtent && extent.count < 3
        return RemoteResponse(
          status: isBeyond ? 410 : 200,
          headers: [
            ListOffset.field: ListOffset.form,
            "Stream-Next-Offset": ListOffset("a", isBeyond ? 0 : extent.count).name,
            "Stream-Up-To-Date": "true",
          ], body: [Array("[]".utf8)])
      }
      return RemoteResponse(
        status: 200,
        headers: [
          ListOffset.field: ListOffset.form, "Stream-Next-Offset": ListOffset("a", 3).name,
          "Stream-Up-To-Date": "true",
        ], body: [Array("[1,2,3]".utf8)])
    }
    #expect(try await shrinking.read(from: 0, upTo: 9).elements == [1, 2, 3])
    extent.withLock { $0.count = 2 }
    await #expect(throws: RemoteListError(path: "/list", reason: .lost(from: 3))) {
      _ = try await shrinking.read(from: 3, upTo: 1)
      _ = try await shrinking.read(from: 3, upTo: 1)
    }
  }

  @Test("an extent that was told before other elements came is no loss")
  func lateExtent() async throws {
    let source = ChangingSource([0, 1])
    let endpoint = ListEndpoint(source)
    let gate = Gate()
    let remote = remote { request in
      let response = try await endpoint.transport(request)
      if request.path.contains("offset=now") { await gate.wait() }
      return response
    }
    let extent = Task { try await remote.extent() }
    await gate.waitForArrivals(1)
    try await remote.waitForMore(than: 1)
    try await source.append([2, 3], isEnd: true)
    try await remote.waitForMore(than: 3)
    gate.open()
    #expect(try await extent.value.count == 2)
    #expect(try await LazyList(reading: remote).array() == [0, 1, 2, 3])
  }

  @Test("an end that was taken back is none any more, and one that comes meanwhile is one")
  func ends() throws {
    func extent(_ count: Int, _ isEnded: Bool) -> ListExtent {
      ListExtent(identity: "a", count: count, isEnded: isEnded)
    }
    var contents = RemoteContents<Int>(.beginning)
    try contents.take(extent(2, true), asked: contents.reach)
    #expect(contents.isEnded)
    let before = contents.reach
    try contents.take(extent(2, false), asked: before)
    #expect(!contents.isEnded)
    let open = contents.reach
    try contents.take(extent(3, true), asked: open)
    // Told before the other one.
    try contents.take(extent(3, false), asked: open)
    try contents.take(extent(2, false), asked: open)
    #expect(contents.isEnded && contents.count == 3)
    do {
      try contents.take(extent(2, false), asked: contents.reach)
      Issue.record("elements were lost")
    } catch {
      guard case .lacking(from: 2) = error else { throw error }
    }
  }

  @Test("a server that has fewer elements than before is asked a few times more, with pauses")
  func lacking() async throws {
    let requests = Counter()
    let remote = remote { request in
      let isPage = !request.path.contains("offset=now")
      if isPage { requests.increment() }
      return RemoteResponse(
        status: 200,
        headers: [
          ListOffset.field: ListOffset.form,
          "Stream-Next-Offset": ListOffset("a", isPage ? 0 : 3).name,
          "Stream-Up-To-Date": "true",
        ], body: [Array("[]".utf8)])
    }
    #expect(try await remote.extent().count == 3)
    await #expect(throws: RemoteListError(path: "/list", reason: .lost(from: 0))) {
      try await remote.read(from: 0, upTo: 1)
    }
    #expect(requests.value == 5)
  }

  @Test("a refusal has the status and the beginning of the body; the next demand asks again")
  func refused() async throws {
    let store = Store([1, 2], isEnded: true)
    let faulty = FaultyTransport(ListEndpoint(store).transport) { number, _ in
      number == 1 ? .status(403, body: " not for you" + String(repeating: "!", count: 1000)) : .none
    }
    let list = LazyList(reading: remote(faulty))
    let body = ("not for you" + String(repeating: "!", count: 188))
    await #expect(throws: RemoteListError(path: "/list", reason: .refused(status: 403, body: body)))
    {
      try await list.array()
    }
    #expect(try await list.array() == [1, 2])
  }

  @Test(
    "responses that are none",
    arguments: [
      ("[1,2", "a", 5), ("{}", "a", 5), ("", "a", 5), ("[1]", nil, 5), ("[]", "a", 5),
      // It is whole: to ask again would bring the same.
      ("[1,\"x\"]", "a", 1),
    ] as [(String, String?, Int)])
  func malformed(_ body: String, _ next: String?, _ times: Int) async throws {
    let requests = Counter()
    let remote = remote { _ in
      requests.increment()
      return RemoteResponse(
        status: 200, headers: next.map { ["Stream-Next-Offset": $0] } ?? [:],
        body: [Array(body.utf8)])
    }
    do {
      _ = try await remote.read(from: 0, upTo: 1)
      Issue.record("was read")
    } catch {
      guard case .malformed = (error as? RemoteListError)?.reason else { throw error }
    }
    #expect(requests.value == times)
  }

  @Test("patience that is over with a response that makes no sense: the error says what it was")
  func impatient() async throws {
    let remote = remote(
      { _ in
        RemoteResponse(
          status: 200, headers: ["Stream-Next-Offset": "a"], body: [Array("[1,2".utf8)])
      }, patience: .zero)
    await #expect(
      throws: RemoteListError(
        path: "/list", reason: .malformed("the elements are no JSON array"))
    ) { try await remote.read(from: 0, upTo: 1) }
  }

  @Test("more bytes than a client wants to hold", arguments: [false, true])
  func tooLarge(_ isLive: Bool) async throws {
    let store = Store(Array(0..<1000))
    let remote = remote(ListEndpoint(store).transport, byteLimit: 100)
    do {
      if isLive {
        try await remote.waitForMore(than: 0)
      } else {
        _ = try await remote.read(from: 0, upTo: 1)
      }
      Issue.record("was read")
    } catch {
      guard case .malformed(let why) = (error as? RemoteListError)?.reason else { throw error }
      #expect(why.contains("100 bytes"))
    }
  }

  @Test("a server that does not answer is asked for as long as there is patience")
  func patience() async throws {
    let scheduler = VirtualScheduler()
    let faulty = FaultyTransport(ListEndpoint(Store([1])).transport) { _, _ in .unreachable }
    let remote = remote(faulty.transport, patience: .seconds(60), clock: scheduler.clock)
    let readers = [
      Task { _ = try await remote.read(from: 0, upTo: 1) },
      Task { try await remote.waitForMore(than: 0) },
      Task { _ = try await remote.extent() },
    ]
    try await scheduler.advancing(by: .seconds(1)) {
      for reader in readers {
        do {
          try await reader.value
          Issue.record("was read")
        } catch {
          guard case .unreachable = (error as? RemoteListError)?.reason else { throw error }
        }
      }
    }
    // Not at most how long: this clock goes on while a reader is on its way to the next attempt.
    #expect(scheduler.now.offset >= .seconds(60))
  }
}
