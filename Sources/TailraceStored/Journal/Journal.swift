import Dispatch
import FileReading
import Foundation
import TailraceLists
import TailraceSupport
import TailraceFoundation

/// A list in a file, as bytes: the implementation of `FileStore`.
///
/// Readers take places from a small table, and put the next place back. The writer's state is a value
/// that the holder of the turn moves out and back. Calls that may wait for the disk run on the queue
/// of `elsewhere`.
// Each field names its guard.
@usableFromInline
package final class Journal: @unchecked Sendable {
  let path: [CChar]
  let name: String
  let schema: String
  let versions: (elements: UInt8, state: UInt8)
  let durability: Durability
  let disk: any Disk
  let reading = Locked(JournalReadings())
  let turn = AsyncLock(for: "the writer of a file")
  // Guard: the turn. May touch it: the holder of the turn.
  nonisolated(unsafe) var writer: JournalWriter?
  // Guard: the turn. May touch it: the holder of the turn.
  nonisolated(unsafe) var isPoisoned = false
  // Guard: the turn. May touch it: the holder of the turn.
  nonisolated(unsafe) var lastLook = DispatchTime.now()

  init(
    _ path: [CChar], name: String, schema: String, versions: (elements: UInt8, state: UInt8),
    _ durability: Durability, _ disk: any Disk
  ) {
    self.path = path
    self.name = name
    self.schema = schema
    self.versions = versions
    self.durability = durability
    self.disk = disk
  }

  // MARK: Reading

  @usableFromInline
  nonisolated(nonsending) package func read(
    from position: Int, upTo count: Int
  ) async throws -> JournalPage {
    try await blocking { [self] in
      guard let reader = try opened() else { return JournalPage() }
      let place = reading.withLock { $0.place(of: position) }
      do {
        let page = try walking { known in
          try reader.page(from: position, upTo: count, place, known: &known)
        }
        reading.withLock { $0.remember(page.next) }
        return page
      } catch ListStoreError.damaged(let position) {
        // Or the file was cut off, or replaced: that is told in its own words.
        try look(at: reader)
        throw ListStoreError.damaged(at: position)
      }
    }
  }

  /// Identity, first element, count and end. It takes no lock, and makes no file.
  nonisolated(nonsending) func extent() async throws -> ListExtent {
    try await blocking { [self] in
      guard let reader = try opened() else {
        return ListExtent(identity: nil, first: 0, count: 0, isEnded: false)
      }
      try look(at: reader)
      return try walking { try reader.extent(known: &$0) }
    }
  }

  /// Remembers how far a walk over the frames comes.
  func walking<Value>(_ walk: (_ known: inout KnownFrame?) throws -> Value) throws -> Value {
    var known = reading.withLock { $0.known }
    defer { reading.withLock { [known] in $0.known.note(known) } }
    return try walk(&known)
  }

  /// The journal, opened for reading; `nil` if it does not exist yet.
  func opened() throws -> JournalReader? {
    if let reader = reading.withLock({ $0.reader }) { return reader }
    guard let file = try open(writes: false) else { return nil }
    let reader = try reader(of: file)
    return reading.withLock { readings in
      if readings.reader == nil { readings.reader = reader }
      return readings.reader
    }
  }

  /// The file, opened; `nil` if it does not exist yet.
  func open(writes: Bool) throws -> (any DiskFile)? {
    let file: any DiskFile
    do throws(SystemError) {
      file = try disk.open(path, writes: writes)
    } catch {
      if error.code == ENOENT { return nil }
      // Where nobody reads a pipe, it cannot be opened for writing.
      if error.code == ENXIO { throw ListStoreError.refused("\(name) is not a file") }
      throw error
    }
    guard try file.status().isRegular else {
      throw ListStoreError.refused("\(name) is not a file")
    }
    return file
  }

  func reader(of file: any DiskFile) throws -> JournalReader {
    let header = try JournalHeader(of: file, at: name)
    guard header.schema == schema else {
      throw ListStoreError.otherSchema(found: header.schema, expected: schema)
    }
    return JournalReader(file, header, boot: disk.boot, path: name)
  }

  /// Looks whether the open file is still the one at the path, and not shorter than it was.
  ///
  /// - Parameter size: the least that it has.
  func look(at reader: JournalReader, size: Int = 0) throws {
    let status = try reader.file.status()
    guard let found = try disk.status(of: path) else {
      throw ListStoreError.refused(
        "\(name) was removed while it was open: put it back, or make the store and its lists anew")
    }
    guard found.isSameFile(as: status) else {
      throw ListStoreError.refused(
        "another file is in the place of \(name) now: make the store and its lists anew")
    }
    guard status.size >= max(size, reading.withLock { $0.known?.offset ?? 0 }) else {
      throw ListStoreError.refused(
        "\(name) is shorter than it was: make the store and its lists anew, to see what is left")
    }
    guard try JournalHeader(of: reader.file, at: name) == reader.header else {
      throw ListStoreError.refused(
        "\(name) has another list now: make the store and its lists anew")
    }
  }

  /// Waits until there may be more elements.
  @usableFromInline
  nonisolated(nonsending) package func waitForMore(than position: Int) async throws {
    // Watch first, then look: a change in between rings, too.
    let waiter = Waiter()
    let endWatch = FileChanges.shared.watch(path, waiter)
    defer { endWatch() }
    let page = try await read(from: position, upTo: 1)
    if !page.items.isEmpty || page.isEnd { return }
    let (pause, isLookDue) = reading.withLock { ($0.nextPause(), $0.isLookDue()) }
    // Perhaps the file is not there any more, and another one is written in its place.
    if isLookDue { try await blocking { [self] in try opened().map { try look(at: $0) } } }
    let start = ContinuousClock.now
    waiter.wake(after: pause)
    _ = await waiter.wait(cancellable: true)
    try Task.checkCancellation()
    if ContinuousClock.now - start < pause { reading.withLock { $0.quietWaits = 0 } }
  }

  // MARK: Where it runs

  nonisolated(nonsending) func withTurn<Value: Sendable>(
    _ body: @escaping @Sendable (Journal) throws -> Value
  ) async throws -> Value {
    _ = await turn.lock(cancellable: false)
    defer { turn.unlock() }
    return try await blocking { [self] in try body(self) }
  }

  /// Makes calls that may wait for the disk.
  nonisolated(nonsending) func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await Self.blocking(name, body)
  }

  nonisolated(nonsending) static func blocking<Value: Sendable>(
    _ name: String, _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let result: Result<Value, any Error> = try await elsewhere { () throws(SystemError) in
      Result(catching: body)
    }.get()
    do {
      return try result.get()
    } catch let failure as SystemError {
      throw FileError(name, failure)
    }
  }
}
