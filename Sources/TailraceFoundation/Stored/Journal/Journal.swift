import FileReading
import Foundation
import Tailrace

/// A list in a file, as bytes: the implementation of `FileStore`.
///
/// Readers take places from a small table, which they read without a lock, and put the next place
/// back. The writer's state is a value that the holder of the turn moves out and back. Calls that
/// may wait for the disk run on the queue of `elsewhere`.
// Each field names its guard.
@usableFromInline
package final class Journal: @unchecked Sendable {
  let path: [CChar]
  let name: String
  let schema: String
  let versions: (elements: UInt8, state: UInt8)
  let durability: Durability
  let disk: any Disk
  private let reading = Locked(JournalReadings())
  private let turn = Turn()
  // Guard: the turn. May touch it: the holder of the turn.
  private nonisolated(unsafe) var writer: JournalWriter?
  // Guard: the turn. May touch it: the holder of the turn.
  private nonisolated(unsafe) var isPoisoned = false

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
      var count = count
      while true {
        let (known, former, given, isReplaced) = reading.withLock {
          ($0.take(position), $0.repair, $0.given, $0.isReplaced)
        }
        if isReplaced { throw replaced }
        var page = Result { try reader.page(from: position, upTo: count, known: known) }
        // Read after the page: a repair is announced before it removes anything.
        let repair = try note(reader.repair())
        if repair.isUnderWay {
          let rest = repair.left - position
          if rest > 0, count > rest {
            count = rest
            continue
          }
          page = Result { try page.get().beside(repair, from: position) }
        } else if try !isThere(given, after: former, reader) {
          // Asked after the page was read: a frame that was cut off before is missing now.
          continue
        }
        if reading.withLock({ $0.give(page, after: former) }) { return try page.get() }
        // The page may have elements of both lists.
      }
    }
  }

  /// Notes the last repair, unless it discarded elements that this store has given. Returns the last
  /// one known.
  @discardableResult
  private func note(_ repair: JournalRepair) throws -> JournalRepair {
    if let last = reading.withLock({ $0.note(repair) }) { return last }
    throw ListStoreError.refused(
      """
      \(name) was repaired, and \(repair.left) elements were left of those that this store has given: \
      make the store and its lists anew
      """)
  }

  /// Whether the frame of the farthest element is still there. False if this store removes it, or
  /// has: then look again. Throws if another store has.
  private func isThere(
    _ given: GivenFrame?, after former: JournalRepair, _ reader: JournalReader
  ) throws -> Bool {
    if try reader.holds(given) { return true }
    guard reading.withLock({ $0.noteReplaced(after: former) }) else { return false }
    throw replaced
  }

  private var replaced: ListStoreError {
    .refused(
      """
      the last elements that this store has given of \(name) are not there any more: they were damaged, \
      and perhaps others were stored in their place. Make the store and its lists anew
      """)
  }

  /// The journal, opened for reading; `nil` if it does not exist yet.
  private func opened() throws -> JournalReader? {
    if let reader = reading.withLock({ $0.reader }) { return reader }
    let file: any DiskFile
    do throws(SystemError) {
      file = try disk.open(path, writes: false)
    } catch {
      if error.code == ENOENT { return nil }
      throw error
    }
    let reader = JournalReader(
      file, try JournalHeader(of: file, expecting: schema, at: name))
    let repair = try reader.repair()
    return reading.withLock { readings in
      if readings.reader == nil {
        readings.reader = reader
        _ = readings.note(repair)
      }
      return readings.reader
    }
  }

  /// Waits until there may be more elements.
  @usableFromInline
  nonisolated(nonsending) package func waitForMore(than position: Int) async throws {
    // Watch first, then look: a change in between rings, too.
    let bell = Bell()
    let endWatch = FileChanges.shared.watch(path, bell)
    defer { endWatch() }
    let page = try await read(from: position, upTo: 1)
    if !page.items.isEmpty || page.isEnd { return }
    let pause = reading.withLock { $0.nextPause() }
    let start = ContinuousClock.now
    bell.ring(after: pause)
    await withTaskCancellationHandler {
      await bell.wait()
    } onCancel: {
      bell.ring()
    }
    try Task.checkCancellation()
    if ContinuousClock.now - start < pause { reading.withLock { $0.quietWaits = 0 } }
  }

  // MARK: Writing

  /// Becomes the writer. `nil` if there is another.
  ///
  /// - Parameter read: makes something of what is stored. If it throws, the claim is given up again:
  ///   another store may be able to continue.
  @usableFromInline
  nonisolated(nonsending) package func claim<Value: Sendable>(
    _ read: @escaping @Sendable (JournalCheckpoint) throws -> Value
  ) async throws -> Value? {
    try await withTurn { journal in
      let wasWriter = journal.writer != nil
      guard try journal.open(cutsDamage: false), let writer = journal.writer else { return nil }
      do {
        try journal.note(writer.reader.repair())
        let (former, given) = journal.reading.withLock { ($0.repair, $0.given) }
        _ = try journal.isThere(given, after: former, writer.reader)
        if journal.reading.withLock({ $0.isReplaced }) { throw journal.replaced }
        return try read(
          JournalCheckpoint(
            count: writer.count, state: try writer.state(), isEnded: writer.isEnded))
      } catch {
        if !wasWriter { journal.writer = nil }
        throw error
      }
    }
  }

  /// Discards damaged elements and all after them. Returns the number of elements left.
  nonisolated(nonsending) func cutDamage() async throws -> Int {
    try await withTurn { journal in
      // Also a writer looks again: it has not read all that it continues. It keeps the lock.
      if let former = journal.writer.take() {
        journal.writer = try journal.makeWriter(former.reader, lock: former.lock, cutsDamage: true)
      }
      guard try journal.open(cutsDamage: true), let writer = journal.writer else {
        throw ListStoreError.inUse
      }
      return writer.count
    }
  }

  /// Discards elements. Returns the first position kept.
  nonisolated(nonsending) func trim(before position: Int) async throws -> Int {
    try await withTurn { journal in
      // A missing file is not made for this.
      guard try journal.opened() != nil else { return 0 }
      let wasWriter = journal.writer != nil
      guard try journal.open(cutsDamage: false), let writer = journal.writer else {
        throw ListStoreError.inUse
      }
      defer { if !wasWriter { journal.writer = nil } }
      do {
        return try writer.trim(before: position)
      } catch let failure as SystemError {
        // Perhaps a sync: the contents of the disk are unknown.
        journal.isPoisoned = true
        journal.writer = nil
        throw failure
      }
    }
  }

  /// Opens the journal for writing, if necessary. False if there is another writer.
  private func open(cutsDamage: Bool) throws -> Bool {
    if isPoisoned { throw ListStoreError.poisoned }
    if writer != nil { return true }
    var lock: (any DiskFile)?
    for _ in 0..<2 where lock == nil {
      do throws(SystemError) {
        lock = try disk.open(path, writes: false)
      } catch {
        guard error.code == ENOENT else { throw error }
        if let kind = disk.remoteFileSystem(of: path) {
          throw ListStoreError.refused(
            """
            \(name) is on a network file system (\(kind)), where neither a lock nor a sync can be relied \
            on: keep the list in a file of this machine, or in a database
            """)
        }
        try disk.create(path, contents: JournalHeader(schema: schema).bytes)
      }
    }
    guard let lock else { throw SystemError(code: ENOENT) }
    if let kind = disk.remoteFileSystem(of: path) {
      throw ListStoreError.refused(
        "\(name) is on a network file system (\(kind)): it can be read there, not written")
    }
    guard try lock.lock() else { return false }
    let file = try disk.open(path, writes: true)
    let header = try JournalHeader(of: file, expecting: schema, at: name)
    writer = try makeWriter(JournalReader(file, header), lock: lock, cutsDamage: cutsDamage)
    return true
  }

  /// Finds the end of the file, and repairs it if required.
  private func makeWriter(
    _ reader: JournalReader, lock: any DiskFile, cutsDamage: Bool
  ) throws -> JournalWriter {
    // A repair that fails is not this store's any more before another store can lock the file.
    try withExtendedLifetime(lock) {
      defer { reading.withLock { $0.own = nil } }
      let writer = try JournalWriter(
        reader, lock: lock, durability, cutsDamage: cutsDamage,
        given: { last in
          reading.withLock { last == nil || last == $0.repair ? $0.farthest : 0 }
        },
        announce: { repair in reading.withLock { $0.own = repair } })
      if cutsDamage {
        let repair = try reader.repair()
        reading.withLock { $0.start(after: repair) }
      }
      return writer
    }
  }

  /// Appends a draft if exactly this many elements are stored.
  @usableFromInline
  nonisolated(nonsending) package func append(
    _ draft: consuming JournalDraft, at position: Int
  ) async throws {
    var draft = draft
    await turn.take()
    defer { turn.give() }
    if isPoisoned { throw ListStoreError.poisoned }
    guard
      let isRight = try writer?.seal(
        &draft, at: position, elements: versions.elements, state: versions.state), isRight
    else { throw ListStoreError.superseded }
    // A small write is a copy, and does not wait for the disk.
    guard writer?.waitsForDisk(draft) == true || draft.bytes.count > 1 << 16 else {
      return try write(draft)
    }
    let (journal, sealed) = (self, draft)
    try await elsewhere { () throws(SystemError) in try journal.store(sealed) }.mapError {
      FileError(journal.name, $0)
    }.get()
  }

  private func write(_ draft: JournalDraft) throws {
    do throws(SystemError) { try store(draft) } catch { throw FileError(name, error) }
  }

  /// Writes a sealed draft at the end, and syncs it if required. The caller holds the turn.
  private func store(_ draft: JournalDraft) throws(SystemError) {
    guard var writer = writer.take() else { throw SystemError(code: EBADF) }
    let syncs = writer.waitsForDisk(draft)
    do throws(SystemError) {
      try writer.file.put(draft.bytes, at: writer.end)
    } catch {
      // No room: removes the part of the frame that was written; the next demand tries again.
      do throws(SystemError) {
        try writer.file.truncate(to: writer.end)
        writer.didTruncate()
        self.writer = writer
      } catch {
        isPoisoned = true
      }
      throw error
    }
    makeRoom(behind: draft, &writer)
    if syncs {
      do throws(SystemError) {
        try writer.file.synchronize()
      } catch {
        // The contents of the disk are unknown. The file is closed; a new store finds out.
        isPoisoned = true
        throw error
      }
    }
    let frame = writer.didAppend(draft, isSynced: syncs)
    reading.withLock { $0.note(frame, upTo: writer.countWithEnd) }
    // The elements are stored even if this fails: followers then find them later.
    if let cells = writer.cells(isSynced: syncs) {
      try? writer.file.put(cells, at: JournalCells.offset)
    }
    self.writer = writer
  }

  /// Extends the file for later commits, if possible, and frees the surplus of a list that ends.
  /// Neither must succeed: zeros after the last frame are no frame.
  private func makeRoom(behind draft: JournalDraft, _ writer: inout JournalWriter) {
    if writer.hasRoomLeft(behind: draft) {
      try? writer.file.truncate(to: writer.end + draft.bytes.count)
    }
    guard let room = writer.room(behind: draft) else { return }
    do throws(SystemError) {
      try writer.file.extend(room)
      writer.didMakeRoom(to: room.upperBound)
    } catch {
      writer.stopMakingRoom()
      try? writer.file.truncate(to: room.lowerBound)
    }
  }

  // MARK: Where it runs

  private nonisolated(nonsending) func withTurn<Value: Sendable>(
    _ body: @escaping @Sendable (Journal) throws -> Value
  ) async throws -> Value {
    await turn.take()
    defer { turn.give() }
    return try await blocking { [self] in try body(self) }
  }

  /// Makes calls that may wait for the disk.
  private nonisolated(nonsending) func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
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
