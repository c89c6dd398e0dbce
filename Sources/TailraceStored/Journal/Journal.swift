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
  private let reading = Locked(JournalReadings())
  private let turn = Turn()
  // Guard: the turn. May touch it: the holder of the turn.
  private nonisolated(unsafe) var writer: JournalWriter?
  // Guard: the turn. May touch it: the holder of the turn.
  private nonisolated(unsafe) var isPoisoned = false
  // Guard: the turn. May touch it: the holder of the turn.
  private nonisolated(unsafe) var lastLook = ContinuousClock.now

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
      let known = reading.withLock { $0.place(of: position) }
      let page = try reader.page(from: position, upTo: count, known: known)
      reading.withLock { $0.give(page) }
      return page
    }
  }

  /// Identity, first element, count and end. It claims nothing, and makes no file.
  nonisolated(nonsending) func extent() async throws -> ListExtent {
    try await blocking { [self] in
      guard let reader = try opened() else {
        return ListExtent(identity: nil, first: 0, count: 0, isEnded: false)
      }
      try look(at: reader)
      return try reader.extent()
    }
  }

  /// The journal, opened for reading; `nil` if it does not exist yet.
  private func opened() throws -> JournalReader? {
    if let reader = reading.withLock({ $0.reader }) { return reader }
    guard let file = try open(writes: false) else { return nil }
    let reader = try reader(of: file)
    return reading.withLock { readings in
      if readings.reader == nil { readings.reader = reader }
      return readings.reader
    }
  }

  /// The file, opened; `nil` if it does not exist yet.
  private func open(writes: Bool) throws -> (any DiskFile)? {
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

  private func reader(of file: any DiskFile) throws -> JournalReader {
    let header = try JournalHeader(of: file, at: name)
    guard header.schema == schema else {
      throw ListStoreError.otherSchema(found: header.schema, expected: schema)
    }
    return JournalReader(file, header, boot: disk.boot, path: name)
  }

  /// Looks whether the open file is still the one at the path, and has all that was given of it.
  ///
  /// - Parameter size: the least that it has.
  private func look(at reader: JournalReader, size: Int = 0) throws {
    let status = try reader.file.status()
    guard let found = try disk.status(of: path), status.links > 0 else {
      throw ListStoreError.refused(
        "\(name) was removed while it was open: put it back, or make the store and its lists anew")
    }
    guard found.isSameFile(as: status) else {
      throw ListStoreError.refused(
        "another file is in the place of \(name) now: make the store and its lists anew")
    }
    let given = reading.withLock { $0.given }
    guard status.size >= max(size, given?.offset ?? 0) else {
      throw ListStoreError.refused(
        "\(name) is shorter than it was: make the store and its lists anew, to see what is left")
    }
    guard try JournalHeader(of: reader.file, at: name) == reader.header else {
      throw ListStoreError.refused(
        "\(name) has another list now: make the store and its lists anew")
    }
    if let given, try !reader.holds(given) { throw reader.replaced }
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
    let (pause, isQuiet) = reading.withLock { ($0.nextPause(), $0.isQuiet) }
    // Nothing has changed for a while: perhaps because the file is not there any more.
    if isQuiet { try await blocking { [self] in try opened().map { try look(at: $0) } } }
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
      guard try journal.claim(), let writer = journal.writer else { return nil }
      do {
        try journal.look(at: writer.reader, size: writer.end)
        if let given = journal.reading.withLock({ $0.given }), given.position > writer.count {
          throw ListStoreError.damaged(at: writer.count)
        }
        return try read(
          JournalCheckpoint(
            count: writer.count, state: try writer.state(), isEnded: writer.isEnded))
      } catch {
        if !wasWriter { journal.writer = nil }
        throw error
      }
    }
  }

  /// Gives up the claim. What is not on the disk, and is to be there, is brought there first.
  nonisolated(nonsending) func release() async throws {
    try await withTurn { journal in
      guard var writer = journal.writer.take() else { return }
      guard writer.hasUnsynced, journal.durability != .process else { return }
      do {
        try writer.file.synchronize()
      } catch {
        journal.isPoisoned = true
        throw error
      }
      writer.didSync()
    }
  }

  /// Takes the end of the list back.
  nonisolated(nonsending) func removeEnd() async throws {
    try await withTurn { journal in
      guard try journal.opened() != nil else { return }
      let wasWriter = journal.writer != nil
      guard try journal.claim() else { throw ListStoreError.inUse }
      defer { if !wasWriter { journal.writer = nil } }
      guard let writer = journal.writer, writer.isEnded else { return }
      var draft = JournalDraft(count: 0, hasState: false, isEnd: false)
      draft.isResumption = true
      guard
        try journal.writer?.seal(
          &draft, at: writer.count, elements: journal.versions.elements,
          state: journal.versions.state) == true
      else { return }
      try journal.store(draft, syncing: journal.durability != .process)
    }
  }

  /// Discards elements. Returns the first position kept.
  nonisolated(nonsending) func trim(before position: Int) async throws -> Int {
    try await withTurn { journal in
      // A missing file is not made for this.
      guard try journal.opened() != nil else { return 0 }
      let wasWriter = journal.writer != nil
      guard try journal.claim(), var writer = journal.writer.take() else {
        throw ListStoreError.inUse
      }
      do {
        try journal.look(at: writer.reader, size: writer.end)
        let first = try writer.trim(before: position)
        if wasWriter { journal.writer = writer }
        return first
      } catch let failure as SystemError {
        // Perhaps a sync: the contents of the disk are unknown.
        journal.isPoisoned = true
        throw failure
      } catch {
        if wasWriter { journal.writer = writer }
        throw error
      }
    }
  }

  /// Opens the journal for writing, if necessary. False if there is another writer.
  private func claim() throws -> Bool {
    if isPoisoned { throw ListStoreError.poisoned }
    if writer != nil { return true }
    guard let lock = try openOrCreate() else { throw SystemError(code: ENOENT) }
    if let kind = disk.remoteFileSystem(of: try lock.status()) {
      throw ListStoreError.refused(
        """
        \(name) is on a network file system (\(kind)), where neither a lock nor a sync can be relied \
        on: it can be read there, not written. Keep the list in a file of this machine, or in a database
        """)
    }
    guard try lock.lock() else { return false }
    guard let file = try open(writes: true) else { throw SystemError(code: ENOENT) }
    // It may have been replaced before it was locked: then the lock is that of another file.
    guard try file.status().isSameFile(as: lock.status()) else { return false }
    let reader = try reader(of: file)
    // The name of a new file may not be on the disk: whoever made it may have stopped before.
    if try reader.mark().number == 0 { try disk.synchronizeFolder(of: path) }
    writer = try JournalWriter(reader, lock: lock, durability)
    return true
  }

  private func openOrCreate() throws -> (any DiskFile)? {
    if let file = try open(writes: false) { return file }
    let header = JournalHeader(schema: schema)
    guard schema.utf8.count <= JournalHeader.longestName else {
      throw ListStoreError.refused(
        "the names of the codings have \(schema.utf8.count) bytes; a file has room for "
          + "\(JournalHeader.longestName)")
    }
    if let folder = try disk.status(of: path.folder), let kind = disk.remoteFileSystem(of: folder) {
      throw ListStoreError.refused(
        """
        \(name) would be on a network file system (\(kind)), where neither a lock nor a sync can be \
        relied on: keep the list in a file of this machine, or in a database
        """)
    }
    try disk.create(path, contents: header.bytes)
    return try open(writes: false)
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
    let syncs = writer?.waitsForDisk(draft) == true
    // A frame behind a hole would hide that the file was cut off.
    let size = try? writer?.file.status().size
    let isShort = size ?? 0 < writer?.end ?? 0
    let looks = syncs || isShort || ContinuousClock.now - lastLook > .milliseconds(500)
    guard looks || draft.bytes.count > 1 << 16 else { return try write(draft) }
    let (journal, sealed) = (self, draft)
    try await blocking {
      if looks, let writer = journal.writer {
        try journal.look(at: writer.reader, size: writer.end)
        journal.lastLook = .now
      }
      try journal.store(sealed, syncing: syncs)
    }
  }

  private func write(_ draft: JournalDraft) throws {
    do throws(SystemError) { try store(draft, syncing: false) } catch {
      throw FileError(name, error)
    }
  }

  /// Writes a sealed draft at the end, and syncs it if required. The caller holds the turn.
  private func store(_ draft: JournalDraft, syncing: Bool) throws(SystemError) {
    guard var writer = writer.take() else { throw SystemError(code: EBADF) }
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
    if syncing {
      do throws(SystemError) {
        try writer.file.synchronize()
      } catch {
        // The contents of the disk are unknown. The file is closed; a new store finds out.
        isPoisoned = true
        throw error
      }
    }
    writer.didAppend(draft, isSynced: syncing)
    if let given = writer.given { reading.withLock { $0.note(given) } }
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

/// The shared state of a journal's readers.
struct JournalReadings: Sendable {
  /// The places of readers that continue.
  private static let mostPlaces = 16

  var reader: JournalReader?
  /// The frame of the farthest element that was given, or stored. While it is there, all before it is.
  private(set) var given: GivenFrame?
  private var places: [JournalPlace] = []
  /// How many consecutive waits have ended without a change.
  var quietWaits = 0
  /// Whether the last pauses were long enough for a look at the file.
  var isQuiet: Bool { quietWaits >= 5 }

  /// The place of a position, if it is known. Other readers may continue from there, too.
  func place(of position: Int) -> JournalPlace? { places.last { $0.position == position } }

  /// A page was read.
  mutating func give(_ page: JournalPage) {
    if let given = page.given { note(given) }
    let place = page.next
    if place.offset == 0 || places.last == place { return }
    places.removeAll { $0.position == place.position }
    if places.count == Self.mostPlaces { places.removeFirst() }
    places.append(place)
  }

  /// Elements of a frame were given, or stored.
  mutating func note(_ frame: GivenFrame) {
    if frame.position >= given?.position ?? 0 { given = frame }
  }

  /// The pause before checking again without a notification: short at first, because the lock ends
  /// only after its file was closed, which is the event notified.
  mutating func nextPause() -> Duration {
    quietWaits = min(quietWaits + 1, 8)
    return .milliseconds(1 << (quietWaits + 1))
  }
}
