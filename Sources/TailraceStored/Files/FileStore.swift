public import Foundation
import TailraceLists

/// A list in a local file.
///
/// ```swift
/// let store = FileStore<String, Int>(url, element: .text, state: .raw)
/// let list = LazyList(storedIn: store, state: 0) { number in
///   number += 1
///   return number <= 3 ? "element \(number)" : nil
/// }
/// try await list.count()   // 3; in the file, and on the disk
/// try await LazyList(reading: store).last()   // "element 3"
/// ```
///
/// The first append makes the file, which only ever grows at its end. One process writes it, and
/// any number of processes read it. An opened store continues after the last complete commit, also after
/// a crash. See <doc:StoringLists>.
///
/// A lease lasts until ``release()``, or until the store is released. It is a lock of the file, which
/// ends with the process at the latest; without `release()`, a child made by a bare `fork` keeps it until
/// it ends or calls `exec`. The store notices that its file is removed, replaced or cut off while it is used:
/// operations then throw `ListStoreError.refused`, with a message. A process that is killed while it makes the
/// file may leave another file beside it, of the same name with a suffix `.new-`, which can be deleted.
///
/// - Isolation: no thread that runs tasks waits for a disk. An append that need not wait for one
///   (``Durability/survivesProcess``) runs in place: it copies the bytes to the operating system.
/// - Failure: `ListStoreError`, the codings' errors, or `FileError` for a system error such as
///   `ENOSPC`: then the next request stores the same elements. After a failed sync the store is
///   `poisoned`, and must be replaced by a new one.
public final class FileStore<Element: Sendable, State: Sendable>: ListStore {
  /// The file.
  public let url: URL
  @usableFromInline let element: ByteCoding<Element>
  @usableFromInline let state: ByteCoding<State>
  @usableFromInline let journal: Journal

  /// Creates a store over a file. It opens nothing, and makes no file.
  ///
  /// - Parameters:
  ///   - url: of a file that is or will be a stored list, in an existing folder; not on a network file
  ///     system.
  ///   - element: the coding of the elements.
  ///   - state: the coding of the state.
  ///   - durability: what a published element survives. Only for the writer.
  public convenience init(
    _ url: URL, element: ByteCoding<Element>, state: ByteCoding<State>,
    durability: Durability = .survivesPowerLoss
  ) {
    self.init(url, element: element, state: state, durability: durability, disk: SystemDisk())
  }

  package init(
    _ url: URL, element: ByteCoding<Element>, state: ByteCoding<State>, durability: Durability,
    disk: any Disk
  ) {
    guard url.isFileURL else { fatalError("a FileStore takes the URL of a file, not \(url)") }
    self.url = url
    self.element = element
    self.state = state
    journal = Journal(
      url.fileSystemPath, name: url.path(percentEncoded: false),
      schema: "\(element.name), state \(state.name)",
      versions: (element.versions.upperBound, state.versions.upperBound), durability, disk)
  }

  // MARK: The store

  /// Reads some elements, from a position on.
  ///
  /// - Complexity: O(log *n*) to find a position that has not been read up to.
  @_alwaysEmitIntoClient
  public nonisolated(nonsending) func read(
    from position: Int, upTo count: Int
  ) async throws -> ListPage<Element> {
    let page = try await journal.read(from: position, upTo: count)
    return try page.bytes.withUnsafeBytes { bytes in
      var elements: [Element] = []
      elements.reserveCapacity(page.items.count)
      do {
        for item in page.items {
          guard element.versions.contains(item.version) else {
            throw element.otherVersion(item.version)
          }
          elements.append(
            try element.decode(UnsafeRawBufferPointer(rebasing: bytes[item.range]), item.version))
        }
      } catch {
        // The failure belongs to its position: the read that continues there gets it.
        if elements.isEmpty { throw error }
        return ListPage(elements)
      }
      return ListPage(elements, isEnd: page.isEnd)
    }
  }

  /// Waits until there may be more elements, or the lease may be free.
  public nonisolated(nonsending) func waitForMore(than position: Int) async throws {
    try await journal.waitForMore(than: position)
  }

  /// Becomes the writer, if there is no other: makes a missing file, and cuts off the unfinished commit
  /// of a stopped writer. A list over this store can acquire it again.
  ///
  /// - Returns: where the list stands; `nil` if another store, or process, writes it.
  /// - Throws: an error of the state's coding, for example. The lease is free then.
  /// - Complexity: independent of the list's length; proportional to what was not on the disk.
  public nonisolated(nonsending) func acquireLease() async throws -> ListCheckpoint<State>? {
    try await journal.acquireLease { [coding = state] checkpoint in
      guard let state = checkpoint.state else {
        return ListCheckpoint(count: checkpoint.count, state: nil, isEnded: checkpoint.isEnded)
      }
      guard coding.versions.contains(state.version) else {
        throw coding.otherVersion(state.version)
      }
      let value = try state.bytes.withUnsafeBytes { try coding.decode($0, state.version) }
      return ListCheckpoint(
        count: checkpoint.count, state: value, stateCount: state.count, isEnded: checkpoint.isEnded)
    }
  }

  /// Stores a commit at the end of the file: of one element, of at most 256 MiB; or of several, of at most
  /// 1 MiB.
  @_alwaysEmitIntoClient
  public nonisolated(nonsending) func append(
    _ commit: ListCommit<Element, State>, at position: Int
  ) async throws {
    var draft = JournalDraft(
      count: commit.elements.count, hasState: commit.state != nil, isEnd: commit.isEnd)
    for (index, value) in commit.elements.enumerated() {
      try element.encode(value, &draft.bytes)
      // A frame is read, and lost, as a whole.
      if draft.isTooLarge, index > 0 { throw ListStoreError.tooLarge(fitting: index) }
      draft.endElement()
    }
    if let state = commit.state { try self.state.encode(state, &draft.bytes) }
    try await journal.append(draft, at: position)
  }

  /// Ends the list behind its last element, whoever of this store's lists is appending. False if it has ended.
  nonisolated(nonsending) func end() async throws -> Bool {
    try await journal.end(JournalDraft(count: 0, hasState: false, isEnd: true))
  }

  // MARK: Retention and repair

  /// Discards elements before a position, and frees their space if the file system can.
  ///
  /// Positions do not change. A read of discarded elements gets `ListStoreError.trimmed`, even a
  /// read in progress; reads after them are not affected. Whole commits are discarded, but never
  /// the last state, nor the elements after it if the state is rebuilt.
  ///
  /// - Returns: the position of the first element kept.
  /// - Throws: `ListStoreError.inUse` if another writer holds the list.
  @discardableResult
  public nonisolated(nonsending) func trim(before position: Int) async throws -> Int {
    try await journal.trim(before: position)
  }

  /// Gives up the lease, if this store has it: another store, or process, can continue.
  ///
  /// All elements are on the disk then, and the list keeps its identity after a loss of power, whatever its
  /// durability. Without this call, a list with ``Durability/survivesProcess`` gets another identity when a
  /// process writes it after a restart of the machine, even if no element is missing: the last elements, and the
  /// marks that told of them, would have been lost together.
  public nonisolated(nonsending) func release() async throws { try await journal.release() }

  /// The list's identity, first element, count and end. It opens the file only to read it.
  ///
  /// - Complexity: independent of the list's length; proportional to what was written since the last
  ///   256 KiB. The first call after a restart of the machine is proportional to what was not synced
  ///   before, and is not repeated.
  public nonisolated(nonsending) func extent() async throws -> ListExtent {
    try await journal.extent()
  }
}

/// The outcome of a repair.
public struct FileRepair: Sendable, Hashable {
  /// The position of the first element kept.
  public let first: Int
  /// The position after the last one.
  public let count: Int
  /// The damaged file; `nil` if nothing was damaged, and nothing was done.
  public let damaged: URL?
}

extension FileStore where Element == Never, State == Never {
  /// Makes a list of what is left of a damaged one.
  ///
  /// A damaged list is not repaired by itself, because others may have seen what is lost. The elements
  /// before the damage are copied into a new file, which is a list with another identity, and takes the
  /// place of the damaged one, with its rights; that is kept beside it. If nothing is left before the
  /// damage, the longest part behind it is kept, as of a list that was trimmed. What the disk cannot read
  /// is damaged; a state that cannot be read is left out if a later one is there. Elements before the damage are left out, too, if
  /// the list cannot be continued from them, because the state behind them was trimmed.
  ///
  /// Stores that have the damaged file open throw `ListStoreError.refused` from then on, in every process.
  /// An interrupted repair changes nothing. A symbolic link is followed, and stays.
  ///
  /// <!-- not run: there is no file -->
  /// ```swift
  /// let outcome = try await FileStore.repair(url)
  /// outcome.damaged   // nil; the file is whole
  /// ```
  ///
  /// - Complexity: reads the whole file.
  /// - Throws: `ListStoreError.inUse` if a writer holds the list.
  public nonisolated(nonsending) static func repair(_ url: URL) async throws -> FileRepair {
    try await repair(url.resolvingSymlinksInPath(), disk: SystemDisk())
  }

  package nonisolated(nonsending) static func repair(
    _ url: URL, disk: any Disk
  ) async throws -> FileRepair {
    let name = url.path(percentEncoded: false)
    let repair = JournalRepair(path: url.fileSystemPath, name: name, disk: disk)
    let outcome = try await Journal.blocking(name) { try repair.run() }
    let damaged = outcome.aside.map {
      URL(filePath: String(decoding: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
    return FileRepair(first: outcome.first, count: outcome.count, damaged: damaged)
  }
}

extension URL {
  /// The path, with a zero byte at its end.
  var fileSystemPath: [CChar] {
    withUnsafeFileSystemRepresentation { path in
      path.map { Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) } ?? [0]
    }
  }
}

extension ByteCoding {
  @usableFromInline
  func otherVersion(_ found: UInt8) -> ListStoreError {
    .otherSchema(
      found: "\(name), version \(found)",
      expected: versions.count == 1
        ? "\(name), version \(versions.upperBound)"
        : "\(name), version \(versions.lowerBound) to \(versions.upperBound)")
  }
}
