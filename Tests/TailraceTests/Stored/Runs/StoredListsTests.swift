import Foundation
import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceStored

@Suite("Lists by key in a directory", .inTurn, .hangLimit)
struct StoredListsTests {
  private typealias Lists = StoredLists<String, Int>

  /// A directory, the calls of its producers, and a gate before each element.
  private final class Place: Sendable {
    let directory = URL.temporaryDirectory.appending(path: "lists-\(UUID().uuidString)")
    private let gates = Locked<[Gate]>([])
    /// Of the lists that were made last.
    var gate: Gate { gates.withLock { $0.last } ?? Gate() }
    let calls = Probe<String>()
    let date = Locked(Date())
    let failures = Locked(0)

    /// Lets all go that still wait, and removes the files.
    func leave() {
      for gate in gates.withLock({ $0 }) { gate.open() }
      try? FileManager.default.removeItem(at: directory)
    }

    struct Failed: Error {}

    /// Lists of so many elements.
    func lists(
      _ length: Int = 3, durability: Durability = .survivesProcess,
      limits: StoredListLimits = StoredListLimits(), disk: any Disk = SystemDisk()
    ) -> StoredLists<String, Int> {
      let gate = Gate()
      gates.withLock { $0.append(gate) }
      return StoredLists(
        in: directory, element: .text, state: .raw, durability: durability, limits: limits,
        disk: disk, date: { [self] in date.withLock { $0 } }
      ) { [self] key, number in
        calls.record(key)
        await gate.wait()
        let fails = failures.withLock { failures in
          defer { failures = max(0, failures - 1) }
          return failures > 0
        }
        if fails { throw Failed() }
        guard number < length else { return nil }
        defer { number += 1 }
        return "\(key) \(number)"
      }
    }
  }

  private func elements(_ key: String, _ count: Int = 3) -> [String] {
    (0..<count).map { "\(key) \($0)" }
  }

  @Test("one producer a key, whoever reads, comes late or leaves; a second start begins nothing")
  func producing() async throws {
    let place = Place()
    defer { place.leave() }
    let lists = place.lists()
    #expect(try await lists.start("a", state: 0))
    #expect(try await !lists.start("a", state: 7))
    let leaving = Task { try await lists.list("a")?.array() }
    let early = Task { try await lists.list("a")?.array() }
    place.gate.pass()
    #expect(try await lists.list("a")?.head() == "a 0")
    leaving.cancel()
    _ = await leaving.result
    place.gate.open()
    #expect(try await early.value == elements("a"))
    #expect(try await lists.list("a")?.array() == elements("a"))
    #expect(try await lists.list("b") == nil)
    // Each element once, and the end.
    #expect(place.calls.count == 4)
    let entries = try await lists.all()
    #expect(entries.map(\.key) == ["a"] && entries.map(\.count) == [3])
    #expect(entries.map(\.status) == [.ended] && entries[0].bytes > 0)
    await lists.close()
  }

  @Test(
    "what was acknowledged before its first element goes on in the next process, and so does the rest"
  )
  func restart() async throws {
    let place = Place()
    defer { place.leave() }
    for count in 0..<2 {
      let lists = place.lists()
      try await lists.open()
      if count == 0 { try await lists.start("Ä/b", state: 0) }
      await place.gate.waitForArrivals(1)
      if count == 1 {
        place.gate.pass()
        #expect(try await lists.list("Ä/b")?.head() == "Ä/b 0")
        await place.gate.waitForArrivals(2)
      }
      await lists.close()
    }
    let lists = place.lists()
    place.gate.open()
    #expect(try await lists.list("Ä/b")?.array() == elements("Ä/b"))
    await lists.close()
    // Nothing of an ended list is called again.
    let calls = place.calls.count
    let again = place.lists()
    #expect(try await again.list("Ä/b")?.array() == elements("Ä/b"))
    #expect(place.calls.count == calls)
    await again.close()
  }

  @Test(
    "stop is stored: readers get the end, the producer is cancelled, and nothing goes on",
    arguments: [0, 1, 2])
  func stop(_ count: Int) async throws {
    let place = Place()
    defer { place.leave() }
    let lists = place.lists()
    try await lists.start("a", state: 0)
    let reader = Task { try await lists.list("a")?.array() }
    for _ in 0..<count { place.gate.pass() }
    _ = try await lists.list("a")?.prefix(count).array()
    // The next element is under way.
    await place.gate.waitForArrivals(count + 1)
    #expect(try await lists.stop("a"))
    #expect(try await reader.value == elements("a", count))
    for key in ["a", "b"] { #expect(try await !lists.stop(key)) }
    #expect(try await !lists.start("a", state: 0))
    // What comes after a stop is not part of the list.
    place.gate.open()
    await lists.close()
    let calls = place.calls.count
    let again = place.lists()
    #expect(try await again.list("a")?.array() == elements("a", count))
    #expect(place.calls.count == calls)
    await again.close()
  }

  @Test("a failure ends the attempt: readers wait, and the next start goes on")
  func failure() async throws {
    let place = Place()
    defer { place.leave() }
    place.failures.withLock { $0 = 1 }
    let lists = place.lists()
    place.gate.open()
    try await lists.start("a", state: 0)
    let reader = Task { try await lists.list("a")?.array() }
    while true {
      if case .failed(let why) = try await lists.all().first?.status {
        #expect(why.contains("Failed"))
        break
      }
      await Task.yield()
    }
    #expect(try await !lists.start("a", state: 0))
    #expect(try await reader.value == elements("a"))
    await lists.close()
  }

  /// Why a list has failed, when it has.
  private func failure(_ key: String, in lists: Lists) async throws -> String {
    while true {
      let entry = try await lists.all().first { $0.key == key }
      if case .failed(let why) = entry?.status { return why }
      await Task.yield()
    }
  }

  @Test("one that is damaged keeps no other from going on; repaired, it does at its next start")
  func damaged() async throws {
    let place = Place()
    defer { place.leave() }
    let former = place.lists()
    // Both wait for their first element, in this order.
    for (index, key) in ["a", "b"].enumerated() {
      try await former.start(key, state: 0)
      await place.gate.waitForArrivals(index + 1)
    }
    for _ in 0..<2 { place.gate.pass() }
    for key in ["a", "b"] { #expect(try await former.list(key)?.head() == "\(key) 0") }
    await former.close()
    let file = ListFiles(in: place.directory).url("a", ListFiles.list)
    var bytes = try Data(contentsOf: file)
    try #require(bytes.range(of: Data("a 0".utf8)).map { bytes[$0.lowerBound] ^= 1 })
    try bytes.write(to: file)
    let lists = place.lists()
    place.gate.open()
    #expect(try await lists.list("b")?.array() == elements("b"))
    #expect(try await failure("a", in: lists).contains("damaged"))
    #expect(try await lists.start("c", state: 0))
    #expect(try await FileStore.repair(file).damaged != nil)
    #expect(try await !lists.start("a", state: 0))
    #expect(try await lists.list("a")?.array() == elements("a"))
    await lists.close()
  }

  @Test(
    "after a sync that failed a list goes on at its next start, or is stopped",
    arguments: [false, true])
  func failedSync(_ isStopped: Bool) async throws {
    let (place, disk) = (Place(), LyingDisk())
    defer { place.leave() }
    let lists = place.lists(durability: .survivesPowerLoss, disk: disk)
    try await lists.start("a", state: 0)
    place.gate.pass()
    #expect(try await lists.list("a")?.head() == "a 0")
    await place.gate.waitForArrivals(2)
    disk.lies.withLock { $0.failingSyncs = 1 }
    if isStopped {
      await #expect(throws: (any Error).self) { try await lists.stop("a") }
      // The end may be in the file; now it is on the disk.
      try await lists.stop("a")
      #expect(try await lists.list("a")?.array() == elements("a", 1))
    }
    place.gate.open()
    if !isStopped {
      _ = try await failure("a", in: lists)
      #expect(try await !lists.start("a", state: 0))
      #expect(try await lists.list("a")?.array() == elements("a"))
    }
    await lists.close()
  }

  @Test("so many at a time; those of a former process all go on")
  func limit() async throws {
    let place = Place()
    defer { place.leave() }
    let former = place.lists()
    try await former.start("a", state: 0)
    try await former.start("b", state: 0)
    await former.close()
    let lists = place.lists(limits: StoredListLimits(producing: 1))
    await #expect(throws: TooManyListsError(limit: 1)) { try await lists.start("c", state: 0) }
    #expect(try await lists.all().map(\.status) == [.producing, .producing])
    #expect(try await lists.list("c") == nil)
    try await lists.stop("a")
    try await lists.stop("b")
    #expect(try await lists.start("c", state: 0))
    await lists.close()
    await #expect(throws: ListStoreError.self) { try await lists.start("d", state: 0) }
  }

  @Test(
    "keys that are no names of files are refused",
    arguments: ["", String(repeating: "é", count: 34)])
  func badKeys(_ key: String) async throws {
    let place = Place()
    defer { place.leave() }
    await #expect(throws: ListStoreError.self) { try await place.lists().start(key, state: 0) }
    #expect(!FileManager.default.fileExists(atPath: place.directory.path))
  }

  @Test("what start has acknowledged has its file, and nobody else produces it")
  func begun() async throws {
    let place = Place()
    defer { place.leave() }
    let others = place.lists()
    try await others.open()
    let lists = place.lists()
    try await lists.start("a", state: 0)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: place.directory.path).sorted()
        == ["a.first", "a.list"])
    await #expect(throws: ListStoreError.inUse) { try await others.start("a", state: 0) }
    await others.close()
    #expect(try await lists.stop("a"))
    place.gate.open()
    await lists.close()
  }

  // MARK: Retention

  @Test("what has ended goes when it is too old; what has not stays")
  func age() async throws {
    let place = Place()
    defer { place.leave() }
    let lists = place.lists(0, limits: StoredListLimits(age: .seconds(3600)))
    try await lists.start("old", state: 0)
    place.gate.pass()
    #expect(try await lists.list("old")?.array() == [])
    try await lists.start("running", state: 0)
    #expect(try await lists.removeExpired() == [])
    place.date.withLock { $0 += 3700 }
    // Its producer may still be on its way to its end.
    while try await lists.list("old") != nil { try await lists.removeExpired() }
    #expect(try await lists.all().map(\.key) == ["running"])
    await lists.close()
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: place.directory.path)
        .allSatisfy { $0.hasPrefix("running") })
    // The key is free again.
    let again = place.lists(0)
    #expect(try await again.start("old", state: 0))
    await again.close()
  }

  @Test("when all have too many bytes, those that ended first go, and not more than needed")
  func bytes() async throws {
    let place = Place()
    defer { place.leave() }
    let all = place.lists()
    place.gate.open()
    for key in ["a", "b", "c"] {
      try await all.start(key, state: 0)
      _ = try await all.list(key)?.array()
    }
    // Its producers write until they are over.
    await all.close()
    let looking = place.lists()
    let size = try await looking.all().map(\.bytes)
    await looking.close()
    for (index, key) in ["a", "b", "c"].enumerated() {
      for file in try FileManager.default.contentsOfDirectory(atPath: place.directory.path)
      where file.hasPrefix(key) {
        try FileManager.default.setAttributes(
          [.modificationDate: Date(timeIntervalSince1970: Double(1000 + index))],
          ofItemAtPath: place.directory.appending(path: file).path)
      }
    }
    let lists = place.lists(limits: StoredListLimits(bytes: size[1] + size[2]))
    try await lists.open()
    #expect(try await lists.all().map(\.key) == ["b", "c"])
    #expect(try await lists.remove("c"))
    #expect(try await !lists.remove("c"))
    await lists.close()
  }

  @Test("a removal that was interrupted is completed, and the list is not begun anew")
  func interrupted() async throws {
    let place = Place()
    defer { place.leave() }
    let lists = place.lists()
    place.gate.open()
    try await lists.start("a", state: 0)
    _ = try await lists.list("a")?.array()
    await lists.close()
    let files = ListFiles(in: place.directory)
    try FileManager.default.removeItem(at: files.url("a", ListFiles.first))
    let again = place.lists()
    #expect(try await again.all().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory.path).isEmpty)
    await again.close()
  }

  @Test("files that a killed process was about to name go when they are old, and no others")
  func leftOver() async throws {
    let place = Place()
    defer { place.leave() }
    let lists = place.lists()
    try await lists.open()
    await lists.close()
    let names = ["a.first.new-1x", "a.list.new-2y", "a.list.damaged-3z", "notes.new-4"]
    for name in names + ["b.first.new-5v"] {
      let url = place.directory.appending(path: name)
      try Data([1]).write(to: url)
      if name.hasPrefix("b") { continue }
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -1000)], ofItemAtPath: url.path)
    }
    let again = place.lists()
    #expect(try await again.all().isEmpty)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: place.directory.path).sorted()
        == ["a.list.damaged-3z", "b.first.new-5v", "notes.new-4"])
    await again.close()
  }

  // MARK: HTTP

  @Test("all lists over HTTP: by key, while they grow, and 404")
  func endpoint() async throws {
    let place = Place()
    defer { place.leave() }
    let lists = place.lists()
    let endpoint = StoredListsEndpoint(lists, origins: .all)
    try await lists.start("a b", state: 0)
    let transport: RemoteTransport = { request in
      let items = URLComponents(string: request.path)?.queryItems
      return RemoteResponse(
        try await endpoint.response(
          to: ListRequest(method: request.method) { name in
            items?.first { $0.name == name }?.value
          } header: { _ in
            nil
          }, key: "a b"))
    }
    let reader = Task {
      try await LazyList(
        reading: RemoteList(transport, path: "/", element: .json as ByteCoding<String>)
      ).array()
    }
    place.gate.pass()
    await place.gate.waitForArrivals(2)
    try await lists.stop("a b")
    #expect(try await reader.value == elements("a b", 1))
    let none = try await endpoint.response(to: ListRequest(), key: "b")
    #expect(none.status == 404 && none.headers["Access-Control-Allow-Origin"] == "*")
    #expect(
      try await endpoint.response(to: ListRequest(), key: "a b").headers["Stream-Closed"] == "true")
    await lists.close()
  }

  @Test(
    "a page of another site is told that there is no such list: its browser asks first, and must be allowed",
    arguments: [AllowedOrigins.sameOrigin, .all, .only(["https://example.com"])])
  func preflight(_ origins: AllowedOrigins) async throws {
    let place = Place()
    defer { place.leave() }
    let lists = place.lists()
    let endpoint = StoredListsEndpoint(lists, origins: origins)
    let origin = "https://example.com"
    let first = try await endpoint.response(
      to: ListRequest(method: "OPTIONS", origin: origin), key: "none")
    let then = try await endpoint.response(to: ListRequest(origin: origin), key: "none")
    let allowed: String? =
      switch origins {
      case .sameOrigin: nil
      case .all: "*"
      case .only: origin
      }
    #expect(first.status == (allowed == nil ? 404 : 204) && then.status == 404)
    #expect(first.headers["Access-Control-Allow-Origin"] == allowed)
    #expect(then.headers["Access-Control-Allow-Origin"] == allowed)
    await lists.close()
  }
}
