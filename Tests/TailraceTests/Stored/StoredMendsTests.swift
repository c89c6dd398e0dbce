import FileReading
import Foundation
import Tailrace
import TailraceFoundation
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceStored

/// A disk of a file system where a file has one name, or of a system where no process may give it two.
private struct LinklessDisk: Disk {
  let system = SystemDisk()
  let code: Int32

  var boot: JournalID { system.boot }

  func open(_ path: [CChar], writes: Bool) throws(SystemError) -> any DiskFile {
    try system.open(path, writes: writes)
  }

  func make(beside path: [CChar]) throws(SystemError) -> (file: any DiskFile, path: [CChar]) {
    try system.make(beside: path)
  }

  func name(_ path: [CChar], as other: [CChar]) throws(SystemError) {
    try system.name(path, as: other)
  }

  func link(_ path: [CChar], to other: [CChar]) throws(SystemError) {
    throw SystemError(code: code)
  }

  func rename(_ path: [CChar], to other: [CChar]) throws(SystemError) {
    try system.rename(path, to: other)
  }

  func remove(_ path: [CChar]) { system.remove(path) }

  func synchronizeFolder(of path: [CChar]) throws(SystemError) {
    try system.synchronizeFolder(of: path)
  }

  func status(of path: [CChar]) throws(SystemError) -> FileStatus? { try system.status(of: path) }

  func remoteFileSystem(of status: FileStatus) -> String? { nil }
}

@Suite("Stored lists whose disks, files and servers fail or change meanwhile", .hangLimit, .inTurn)
struct StoredMendsTests {
  // MARK: Files

  @Test(
    "elements that are trimmed while they are read: they are there, or told to be trimmed",
    arguments: [true, false])
  func readBesideTrim(_ isReleased: Bool) async throws {
    let source = try StoredFile()
    let writer = Walk.store(source)
    for try await _ in Walk.list(in: writer).prefix(300) {}
    // Without that the mark does not say yet where the list ends.
    if isReleased { try await writer.release() }
    let before = try source.bytes
    let copy = try StoredFile.copy(of: before)
    #expect(try await Walk.store(copy).trim(before: 200) == 200)
    let after = try copy.bytes
    var (read, trimmed) = (0, 0)
    // The writer trims before any of the reads of one call.
    for number in 1... {
      let (file, disk) = (try StoredFile.copy(of: before), LyingDisk())
      disk.lies.withLock { lies in
        lies.beforeRead = { if $0 == number { try? Data(after).write(to: file.url, options: []) } }
      }
      do {
        let page = try await Walk.store(file, .survivesProcess, disk).read(from: 5, upTo: 3)
        #expect(page.elements == Array(Walk.elements(8)[5...]), "read \(number)")
        read += 1
      } catch ListStoreError.trimmed(let first) {
        #expect(first == 200, "read \(number)")
        trimmed += 1
      }
      if disk.lies.withLock({ $0.reads }) < number { break }
    }
    #expect(read > 0 && trimmed > 1)
    if !isReleased { try await writer.release() }
  }

  @Test(
    "a repair passes what the disk cannot read, and finds the elements behind it",
    arguments: [JournalHeader.size, JournalMark.offset])
  func unreadableBeginning(_ start: Int) async throws {
    let (file, disk) = (try StoredFile(), LyingDisk())
    for try await _ in Walk.list(in: Walk.store(file), upTo: 400) {}
    // The first frames, and perhaps the marks before them, which say where the first frame is.
    disk.lies.withLock { $0.unreadable = start..<JournalHeader.size + JournalHeader.block }
    let outcome = try await FileStore.repair(file.url, disk: disk)
    #expect(outcome.damaged != nil && outcome.count == 400)
    #expect((1..<100).contains(outcome.first))
    let elements = try await Walk.store(file).read(from: outcome.first, upTo: 999).elements
    #expect(elements == Array(Walk.elements(400).dropFirst(outcome.first)))
  }

  @Test("a commit that is whole though its write has failed stays: readers may have it")
  func wholeAndFailed() async throws {
    let (disk, durability) = (ModelDisk(), Durability.survivesProcess)
    var walk = Walk()
    let store = DiskModelTests.store(disk, durability)
    _ = try await store.acquireLease()
    try await store.append(ListCommit([walk.next()], state: walk), at: 0)
    disk.fail(.lateWrite, number: 1)
    let commit = ListCommit([walk.next()], state: walk)
    await #expect(throws: FileError.self) { try await store.append(commit, at: 1) }
    await #expect(throws: ListStoreError.poisoned) { try await store.append(commit, at: 1) }
    let reader = DiskModelTests.store(disk, durability)
    #expect(try await reader.read(from: 0, upTo: 9).elements == Walk.elements(2))
    #expect(try await DiskModelTests.store(disk, durability).acquireLease()?.count == 2)
    #expect(try await reader.extent().count == 2)
  }

  @Test("a frame whose elements do not follow those before is none", arguments: [-3, 1, 1000])
  func otherPosition(_ distance: Int) async throws {
    let (file, _) = try await HistoryTests.hostile { $0.position += distance }
    let store = Walk.store(file)
    #expect(try await store.extent().count == 8)
    #expect(try await store.read(from: 0, upTo: 99).elements == Walk.elements(8))
    #expect(try await store.acquireLease()?.count == 8)
  }

  @Test("a file that was cut off under a reader: told as that, and not as damage")
  func cutOff() async throws {
    let file = try StoredFile()
    let writer = Walk.store(file)
    for try await _ in Walk.list(in: writer).prefix(50) {}
    try await writer.release()
    let reader = Walk.store(file)
    #expect(try await reader.extent().count == 50)
    try Data(try file.bytes.prefix(JournalHeader.size + 500)).write(to: file.url)
    for position in [49, 20] {
      await #expect {
        try await reader.read(from: position, upTo: 1)
      } throws: {
        "\($0)".contains("is shorter than it was")
      }
    }
    // Whoever has not seen more finds it damaged.
    await #expect {
      try await Walk.store(file).read(from: 49, upTo: 1)
    } throws: {
      if case .damaged = $0 as? ListStoreError { true } else { false }
    }
  }

  @Test("a list is repaired where a file has one name only", arguments: [EPERM, ENOTSUP])
  func oneName(_ code: Int32) async throws {
    let file = try StoredFile()
    let writer = Walk.store(file)
    for try await _ in Walk.list(in: writer).prefix(30) {}
    try await writer.release()
    let bytes = try file.bytes.dropLast(500)
    try Data(bytes).write(to: file.url)
    let outcome = try await FileStore.repair(file.url, disk: LinklessDisk(code: code))
    let damaged = try #require(outcome.damaged)
    #expect(Array(try Data(contentsOf: damaged)) == Array(bytes))
    #expect(outcome.first == 0 && (20..<30).contains(outcome.count))
    #expect(
      try await Walk.store(file).read(from: 0, upTo: 99).elements == Walk.elements(outcome.count))
    let names = try FileManager.default.contentsOfDirectory(atPath: file.folder.path)
    #expect(Set(names) == ["list", damaged.lastPathComponent])
  }

  // MARK: Servers

  @Test(
    "a closed list of another make that ends before a place that was kept: lost from there",
    arguments: [false, true])
  func closedBefore(_ isLive: Bool) async throws {
    let requests = Counter()
    let remote = RemoteList<Int>(
      { request in
        // It does not go on for ever.
        if requests.increment() > 30 { return RemoteResponse(status: 403, headers: [:]) }
        if request.path.contains("live=sse") { return RemoteResponse(status: 501, headers: [:]) }
        #expect(request.path.contains("offset=n8"))
        return RemoteResponse(
          status: 200,
          headers: [
            "Stream-Next-Offset": "n8", "Stream-Up-To-Date": "true", "Stream-Closed": "true",
          ], body: [Array("[]".utf8)])
      }, path: "/list", element: .json,
      from: RemotePlace(position: 10, offset: "n8", named: 8, isOurs: false),
      lingering: .seconds(100), clock: PauseClock())
    await #expect(throws: RemoteListError(path: "/list", reason: .lost(from: 8))) {
      if isLive {
        try await remote.waitForMore(than: 10)
      } else {
        _ = try await remote.read(from: 10, upTo: 1)
      }
    }
  }

  @Test(
    "a replica that lags, and answers 410: asked again, and then the list is read",
    arguments: [1, 4], [false, true])
  func lagging(_ times: Int, _ isLive: Bool) async throws {
    let source = ChangingSource([0, 1, 2])
    let faulty = FaultyTransport(ListEndpoint(source).transport)
    let remote = remote(faulty)
    #expect(try await remote.read(from: 0, upTo: 9).elements == [0, 1, 2])
    // What was just said to be all is believed once.
    #expect(try await remote.read(from: 3, upTo: 1).elements == [])
    let first = ListOffset(try await source.extent().identity, 0).name
    try await source.append([3], isEnd: true)
    let lags = Counter()
    faulty.order { _, _ in
      guard lags.increment() <= times else { return .none }
      return .status(
        410, headers: [ListOffset.field: ListOffset.form, "Stream-Next-Offset": first])
    }
    if isLive { try await remote.waitForMore(than: 3) }
    let page = try await remote.read(from: 3, upTo: 1)
    #expect(page.elements == [3] && page.isEnd)
    #expect(lags.value > times)
  }

  // MARK: Browsers

  @Test(
    "a page of another site that may read a list sees all that the endpoint says of it",
    arguments: [AllowedOrigins.all, .only(["https://example.com"])])
  func exposed(_ origins: AllowedOrigins) async throws {
    var seen: Set<String> = []
    for isEnded in [false, true] {
      let store = MemoryStore<Int, Int>([1, 2, 3], isEnded: isEnded)
      store.trim(before: 1)
      let endpoint = ListEndpoint(store, origins: origins, patience: .zero)
      let end = ListOffset(try await store.extent().identity, 3).name
      for request in [
        ListRequest(method: "HEAD"), ListRequest(offset: "-1"), ListRequest(offset: "now"),
        ListRequest(offset: ListOffset(try await store.extent().identity, 1).name),
        ListRequest(offset: end, live: "long-poll"), ListRequest(offset: end, live: "sse"),
      ] {
        var request = request
        request.origin = "https://example.com"
        let headers = try await endpoint.response(to: request).headers
        let said = headers.keys.filter {
          $0 == "ETag" || $0 == ListOffset.field || $0.hasPrefix("Stream-")
        }
        let exposed = headers["Access-Control-Expose-Headers"] ?? ""
        let names = exposed.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(Set(said).isSubset(of: names), "\(request)")
        seen.formUnion(said)
      }
    }
    #expect(
      seen == [
        "ETag", "Stream-Next-Offset", "Stream-First-Offset", "Stream-Cursor", "Stream-Up-To-Date",
        "Stream-Closed", ListOffset.field,
      ])
  }
}
