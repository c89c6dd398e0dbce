import Measuring
import Foundation
import Tailrace
import TailraceFoundation
import TailraceStored

extension Topic {
  public static let stored = Topic(
    "Stored", about: "lists in files, elements of 60 bytes, beside the system's calls by hand",
    rows: [
      Row(
        "append, survives the process", sizes: [100, 10_000],
        Contender("LazyList, one at a time", given: unstored, appendsOne(.survivesProcess)),
        Contender("`write`", atMost: 3, given: unstored, writes(syncing: false)),
        Contender("LazyList, `array()`", given: unstored, appendsArray(.survivesProcess))),
      Row(
        "append, survives the machine", sizes: [100, 400],
        Contender("LazyList, one at a time", given: unstored, appendsOne(.survivesPowerLoss)),
        Contender(
          "`write` and `fdatasync`", atMost: 1.3, given: unstored, writes(syncing: true)),
        Contender(
          "the same, where zeros were", given: unstored, writes(syncing: true, into: 1 << 16))),
      Row(
        "append, survives the machine, many at once", sizes: [1000],
        Contender("LazyList, `array()`", given: unstored, appendsArray(.survivesPowerLoss)),
        Contender(
          "LazyList, one at a time", atMost: 1.0 / 15, given: unstored,
          appendsOne(.survivesPowerLoss))),
      Row(
        "replay", sizes: [100, 10_000, 100_000],
        Contender("LazyList, `for await`", given: filled, replaysOne),
        Contender("LazyList, `array()`", given: filled, replaysArray),
        Contender("`lazyLines` of the same text", given: lines, readsLines)),
    ],
    quantities: [
      Quantity(
        "from an append to a follower, median", who: "LazyList(reading:)", unit: "µs",
        atMost: 1000, size: 300, hearing),
      Quantity(
        "opening a file of 1 GB to go on", who: "FileStore", unit: "µs", atMost: 100_000,
        size: 1_000_000, opening),
    ])
}

// MARK: Stored elements and their file

private let padding = String(repeating: "some words ", count: 6)

private func element(_ number: Int) -> String { String("\(number) \(padding)".prefix(60)) }

private func list(
  _ file: NewFile, _ durability: Durability, upTo count: Int
) -> LazyList<String, any Error> {
  let store = FileStore<String, Int>(
    file.url, element: .text, state: .raw, durability: durability)
  return LazyList(storedIn: store, state: 0) { number in
    guard number < count else { return nil }
    number += 1
    return element(number)
  }
}

/// A place for a file, which goes with it.
private final class NewFile: Sendable {
  let url = FileManager.default.temporaryDirectory.appending(path: "stored-\(UUID().uuidString)")

  deinit { remove() }

  func remove() { try? FileManager.default.removeItem(at: url) }
}

/// A file that is there.
private struct StoredFile: Sendable {
  let file: NewFile
  let count: Int
}

private func unstored(_ count: Int) -> StoredFile { StoredFile(file: NewFile(), count: count) }

private func filled(_ count: Int) async throws -> StoredFile {
  let stored = unstored(count)
  _ = try await list(stored.file, .survivesProcess, upTo: count).count()
  return stored
}

private func lines(_ count: Int) throws -> StoredFile {
  let lines = unstored(count)
  let text = (1...count).map { element($0) + "\n" }.joined()
  try Data(text.utf8).write(to: lines.file.url)
  return lines
}

// MARK: Tailrace

private func appendsOne(
  _ durability: Durability
) -> @Sendable (StoredFile) async throws -> Int {
  { stored in try await appendOne(stored, durability) }
}

private func appendsArray(
  _ durability: Durability
) -> @Sendable (StoredFile) async throws -> Int {
  { stored in try await appendArray(stored, durability) }
}

@inline(never) private func appendOne(
  _ stored: StoredFile, _ durability: Durability
) async throws -> Int {
  defer { stored.file.remove() }
  var (bytes, count) = (0, 0)
  for try await element in list(stored.file, durability, upTo: .max) {
    bytes &+= element.utf8.count
    count &+= 1
    if count == stored.count { break }
  }
  return bytes
}

@inline(never) private func appendArray(
  _ stored: StoredFile, _ durability: Durability
) async throws -> Int {
  defer { stored.file.remove() }
  let elements = try await list(stored.file, durability, upTo: stored.count).array()
  return elements.reduce(0) { $0 &+ $1.utf8.count }
}

@inline(never) private func replaysOne(_ stored: StoredFile) async throws -> Int {
  let store = FileStore<String, Int>(stored.file.url, element: .text, state: .raw)
  var bytes = 0
  for try await element in LazyList(reading: store) { bytes &+= element.utf8.count }
  return bytes
}

@inline(never) private func replaysArray(_ stored: StoredFile) async throws -> Int {
  let store = FileStore<String, Int>(stored.file.url, element: .text, state: .raw)
  let elements = try await LazyList(reading: store).array()
  return elements.reduce(0) { $0 &+ $1.utf8.count }
}

// MARK: Peers

/// - Parameter room: how many zeros are written first each time that they have been used up.
private func writes(
  syncing: Bool, into room: Int = 0
) -> @Sendable (StoredFile) async throws -> Int {
  { stored in try writeByHand(stored, syncing: syncing, room) }
}

@inline(never) private func writeByHand(
  _ stored: StoredFile, syncing: Bool, _ room: Int
) throws -> Int {
  defer { stored.file.remove() }
  let descriptor = open(stored.file.url.path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
  defer { close(descriptor) }
  let zeros = [UInt8](repeating: 0, count: room)
  var (bytes, size) = (0, 0)
  for number in 1...stored.count {
    var text = element(number)
    if room > 0, bytes + text.utf8.count > size {
      guard pwrite(descriptor, zeros, room, off_t(size)) == room else {
        throw Flaw("cannot write \(stored.file.url.path)")
      }
      size += room
    }
    let written = text.withUTF8 { write(descriptor, $0.baseAddress, $0.count) }
    guard written == text.utf8.count else { throw Flaw("cannot write \(stored.file.url.path)") }
    #if canImport(Glibc)
      if syncing { fdatasync(descriptor) }
    #else
      if syncing { _ = fcntl(descriptor, F_FULLFSYNC) }
    #endif
    bytes &+= written
  }
  return bytes
}

@inline(never) private func readsLines(_ stored: StoredFile) async throws -> Int {
  var bytes = 0
  for try await line in stored.file.url.lazyLines { bytes &+= line.utf8.count }
  return bytes
}

// MARK: Quantities

/// Microseconds from before an append to after a follower has the element, the median.
@Sendable private func hearing(_ count: Int) async throws -> Double? {
  let file = NewFile()
  let clock = ContinuousClock()
  let (times, heard) = AsyncStream<ContinuousClock.Instant>.makeStream()
  let follower = Task {
    let store = FileStore<String, Int>(file.url, element: .text, state: .raw)
    for try await _ in LazyList(reading: store) { heard.yield(clock.now) }
    heard.finish()
  }
  var delays: [Duration] = []
  var arrivals = times.makeAsyncIterator()
  var writer = list(file, .survivesProcess, upTo: count).makeAsyncIterator()
  while true {
    let start = clock.now
    guard try await writer.next() != nil, let arrival = await arrivals.next() else { break }
    delays.append(arrival - start)
  }
  try await follower.value
  return delays.sorted()[delays.count / 2] / .microseconds(1)
}

/// Microseconds to acquire the lease of a store that somebody else has filled, the best of several.
@Sendable private func opening(_ count: Int) async throws -> Double? {
  let file = NewFile()
  do {
    let store = FileStore<[UInt8], Int>(file.url, element: .bytes, state: .raw)
    let element = [UInt8](repeating: 7, count: 1000)
    _ = try await LazyList(storedIn: store, state: 0) { number in
      number += 1
      return number <= count ? element : nil
    }.count()
  }
  let clock = ContinuousClock()
  var best = Duration.seconds(1000)
  for _ in 0..<5 {
    let store = FileStore<[UInt8], Int>(file.url, element: .bytes, state: .raw)
    let start = clock.now
    guard try await store.acquireLease()?.count == count else { throw Flaw("elements are missing") }
    best = min(best, clock.now - start)
  }
  return best / .microseconds(1)
}
