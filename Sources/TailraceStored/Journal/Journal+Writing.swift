import Dispatch
import FileReading
import Foundation
import TailraceLists
import TailraceFoundation
import TailraceSupport

// Leases, and what the holder of a lease does.
extension Journal {
  /// Becomes the writer. `nil` if there is another.
  ///
  /// - Parameter read: makes something of what is stored. If it throws, the lease is given up again:
  ///   another store may be able to continue.
  @usableFromInline
  nonisolated(nonsending) package func acquireLease<Value: Sendable>(
    _ read: @escaping @Sendable (JournalCheckpoint) throws -> Value
  ) async throws -> Value? {
    try await withTurn { journal in
      let wasWriter = journal.writer != nil
      guard try journal.isWriter(), let writer = journal.writer else { return nil }
      do {
        return try read(
          JournalCheckpoint(
            count: writer.count, state: try writer.state(), isEnded: writer.isEnded))
      } catch {
        if !wasWriter { journal.writer.take()?.lock.unlock() }
        throw error
      }
    }
  }

  /// Stores the end where the list is, between two appends. False if it was there.
  nonisolated(nonsending) func end(_ draft: JournalDraft) async throws -> Bool {
    try await withTurn { journal in
      guard try journal.isWriter(), let count = journal.writer?.count else {
        throw ListStoreError.inUse
      }
      var draft = draft
      let (elements, state) = journal.versions
      guard
        let isOpen = try journal.writer?.seal(
          &draft, at: count, elements: elements, state: state), isOpen
      else { return false }
      try journal.store(draft, syncing: true)
      return true
    }
  }

  /// Gives up the lease. All is on the disk then.
  nonisolated(nonsending) func release() async throws {
    try await withTurn { try $0.giveUp() }
  }

  private func giveUp() throws {
    guard var writer = writer.take() else { return }
    // A child of this process may have the file, too.
    defer { writer.lock.unlock() }
    do {
      try writer.finish()
    } catch {
      isPoisoned = true
      throw error
    }
  }

  /// Discards elements. Returns the first position kept.
  nonisolated(nonsending) func trim(before position: Int) async throws -> Int {
    try await withTurn { journal in
      // A missing file is not made for this.
      guard try journal.opened() != nil else { return 0 }
      let wasWriter = journal.writer != nil
      guard try journal.isWriter() else { throw ListStoreError.inUse }
      let first = Result { try journal.trimmed(before: position) }
      if !wasWriter, !journal.isPoisoned { try journal.giveUp() }
      return try first.get()
    }
  }

  private func trimmed(before position: Int) throws -> Int {
    do {
      return try writer?.trim(before: position) ?? 0
    } catch let failure as SystemError {
      // Perhaps a sync: the contents of the disk are unknown.
      isPoisoned = true
      writer.take()?.lock.unlock()
      throw failure
    }
  }

  /// Looks at the journal's file, and opens it for writing, if necessary. False if there is another writer.
  private func isWriter() throws -> Bool {
    // Before anything is cut off.
    if let reader = try writer?.reader ?? opened() { try look(at: reader, size: writer?.end ?? 0) }
    if isPoisoned { throw ListStoreError.poisoned }
    if writer != nil { return true }
    guard let lock = try openOrCreate() else { throw SystemError(code: ENOENT) }
    try checkIsLocal(try lock.status())
    guard try lock.lock() else { return false }
    guard let file = try open(writes: true) else { throw SystemError(code: ENOENT) }
    // It may have been replaced before it was locked: then the lock is that of another file.
    guard try file.status().isSameFile(as: lock.status()) else { return false }
    let reader = try reader(of: file)
    // The name of a new file may not be on the disk: whoever made it may have stopped before.
    if try reader.mark().number == 0 { try disk.synchronizeFolder(of: path) }
    writer = try walking { known in
      try JournalWriter(reader, lock: lock, durability, known: &known) { range in
        try keepAside(range, of: file)
      }
    }
    // It reads the file that it writes, also when another one is at the path.
    let own = JournalReader(lock, reader.header, boot: reader.boot, path: name)
    reading.withLock { if $0.reader == nil { $0.reader = own } }
    return true
  }

  /// Copies some bytes of the file into another one beside it, which stays.
  private func keepAside(_ range: Range<Int>, of file: any DiskFile) throws {
    let name = try disk.make(beside: path, with: file) { copy in
      var offset = range.lowerBound
      while offset < range.upperBound {
        let bytes = try file.upTo(min(1 << 20, range.upperBound - offset), at: offset)
        if bytes.isEmpty { break }
        try copy.put(bytes, at: offset - range.lowerBound)
        offset += bytes.count
      }
    }
    try disk.rename(name, to: path.beside(.lost))
    try disk.synchronizeFolder(of: path)
  }

  private func checkIsLocal(_ status: FileStatus) throws {
    guard let kind = disk.remoteFileSystem(of: status) else { return }
    throw ListStoreError.refused(
      """
      \(name) is on a network file system (\(kind)), where neither a lock nor a sync can be relied \
      on: a list can be read there, not written. Keep it in a file of this machine, or in a database
      """)
  }

  private func openOrCreate() throws -> (any DiskFile)? {
    if let file = try open(writes: false) { return file }
    let header = JournalHeader(schema: schema)
    guard schema.utf8.count <= JournalHeader.longestName else {
      throw ListStoreError.refused(
        "the names of the codings have \(schema.utf8.count) bytes; a file has room for "
          + "\(JournalHeader.longestName)")
    }
    if let folder = try disk.status(of: path.folder) { try checkIsLocal(folder) }
    try disk.create(path, contents: header.bytes(in: disk.boot))
    if let file = try open(writes: false) { return file }
    throw ListStoreError.refused(
      "\(name) is a link to a file that is not there: remove it, or name the file itself")
  }

  /// After so many nanoseconds, the file is looked at before a commit that is not synced.
  private static let lookInterval: UInt64 = 500_000_000

  /// Appends a draft if exactly this many elements are stored.
  @usableFromInline
  nonisolated(nonsending) package func append(
    _ draft: consuming JournalDraft, at position: Int
  ) async throws {
    var draft = draft
    _ = await turn.lock(cancellable: false)
    defer { turn.unlock() }
    if isPoisoned { throw ListStoreError.poisoned }
    guard
      let isRight = try writer?.seal(
        &draft, at: position, elements: versions.elements, state: versions.state), isRight
    else { throw ListStoreError.superseded }
    // A small write is a copy, and does not wait for the disk.
    let syncs = writer?.waitsForDisk(draft) == true
    // A frame behind a hole would hide that the file was cut off.
    let looks =
      syncs || (try? writer?.file.size()) ?? 0 < writer?.end ?? 0
      || DispatchTime.now().uptimeNanoseconds - lastLook.uptimeNanoseconds > Self.lookInterval
    guard looks || draft.bytes.count > 1 << 16 else { return try write(draft) }
    let (journal, sealed) = (self, draft)
    try await blocking {
      if looks, let writer = journal.writer {
        try journal.look(at: writer.reader, size: writer.end)
        journal.lastLook = .now()
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
      try writer.append(draft, syncing: syncing)
    } catch {
      // If it is unknown what is there, the file is closed; a new store finds out.
      if writer.takeBack() {
        self.writer = writer
      } else {
        isPoisoned = true
        writer.lock.unlock()
      }
      throw error
    }
    reading.withLock { $0.known.note(writer.last) }
    self.writer = writer
  }
}
