public import Foundation
public import Tailrace

/// A list in a file of this machine.
///
/// ```swift
/// let store = FileStore(url, element: .text, state: .raw as ByteCoding<Int>)
/// let list = LazyList(storedIn: store, state: 0) { number in
///   number += 1
///   return number <= 3 ? "element \(number)" : nil
/// }
/// try await list.count()   // 3; in the file, and on the disk
/// try await LazyList(reading: store).last()   // "element 3"
/// ```
///
/// The file is made by the first append, and only ever grows at its end. One process writes it, any
/// number follow it. Whoever opens it goes on after the last commit that is whole, be it after a
/// crash. See *Lists that are stored*, in the documentation of Tailrace.
///
/// A claim lasts until the store is released: it is a lock of the file, which goes with the process
/// at the latest.
///
/// - Isolation: no thread that runs tasks waits for a disk. An append that does not have to wait
///   for one (``Durability/process``) is made in place: it copies the bytes to the operating
///   system.
/// - Failure: `ListStoreError`; ``FileError`` where the system says no, for one with `ENOSPC`: the
///   next demand stores the same elements. After a sync that has failed the store is `poisoned`,
///   and a new one has to be made. What the codings throw.
public final class FileStore<Element: Sendable, State: Sendable>: ListStore {
  /// The file.
  public let url: URL
  @usableFromInline let element: ByteCoding<Element>
  @usableFromInline let state: ByteCoding<State>
  @usableFromInline let journal: Journal

  /// Creates a store over a file. Nothing is opened, and no file is made.
  ///
  /// - Parameters:
  ///   - url: of a file that is, or will be, a stored list; not on a network file system.
  ///   - element: how elements become bytes.
  ///   - state: how the state becomes bytes.
  ///   - durability: what an element survives once it has been given out. For whoever writes.
  public convenience init(
    _ url: URL, element: ByteCoding<Element>, state: ByteCoding<State>,
    durability: Durability = .machine
  ) {
    self.init(url, element: element, state: state, durability: durability, disk: SystemDisk())
  }

  package init(
    _ url: URL, element: ByteCoding<Element>, state: ByteCoding<State>, durability: Durability,
    disk: any Disk
  ) {
    if case .machineEvery(let count) = durability, count < 1 {
      fatalError("Durability.machineEvery(_:) takes a count of 1 or more, not \(count)")
    }
    guard url.isFileURL else { fatalError("a FileStore takes the URL of a file, not \(url)") }
    self.url = url
    self.element = element
    self.state = state
    let path = url.withUnsafeFileSystemRepresentation { path in
      path.map { Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) } ?? [0]
    }
    journal = Journal(
      path, name: url.path(percentEncoded: false), schema: "\(element.name), state \(state.name)",
      versions: (element.versions.upperBound, state.versions.upperBound), durability, disk)
  }

  // MARK: The store

  /// Reads some elements, from a position on.
  ///
  /// - Complexity: O(log *n*) to find a position that nobody has read up to.
  @inlinable
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
        // The failure belongs to its position: whoever reads on from there gets it.
        if elements.isEmpty { throw error }
        return ListPage(elements)
      }
      return ListPage(elements, isEnd: page.isEnd)
    }
  }

  /// Waits until there may be more elements, or the claim may be free.
  public nonisolated(nonsending) func waitForMore(than position: Int) async throws {
    try await journal.waitForMore(than: position)
  }

  /// Becomes the writer, if nobody else is: makes the file if there is none, and cuts off what a
  /// writer that was stopped has left unfinished.
  ///
  /// - Complexity: independent of the length of the list; proportional to what was not on the disk.
  public nonisolated(nonsending) func claim() async throws -> ListCheckpoint<State>? {
    guard let checkpoint = try await journal.claim() else { return nil }
    guard let state = checkpoint.state else {
      return ListCheckpoint(count: checkpoint.count, state: nil, isEnded: checkpoint.isEnded)
    }
    guard self.state.versions.contains(state.version) else {
      throw self.state.otherVersion(state.version)
    }
    let value = try state.bytes.withUnsafeBytes { try self.state.decode($0, state.version) }
    return ListCheckpoint(
      count: checkpoint.count, state: value, stateCount: state.count, isEnded: checkpoint.isEnded)
  }

  /// Stores a commit at the end of the file.
  @inlinable
  public nonisolated(nonsending) func append(
    _ commit: ListCommit<Element, State>, at position: Int
  ) async throws {
    var draft = JournalDraft(
      count: commit.elements.count, hasState: commit.state != nil, isEnd: commit.isEnd)
    for value in commit.elements {
      try element.encode(value, &draft.bytes)
      draft.endElement()
    }
    if let state = commit.state { try self.state.encode(state, &draft.bytes) }
    try await journal.append(draft, at: position)
  }

  // MARK: Retention and repair

  /// Forgets elements before a position, and gives their space back, where the file system can.
  ///
  /// Positions stay what they are. Whoever reads there gets `ListStoreError.trimmed`, also in the
  /// middle of reading; whoever reads behind it notices nothing. Whole commits are forgotten, and
  /// never the last state, nor, where the state is rebuilt, the elements since.
  ///
  /// - Returns: the position of the first element that is kept.
  /// - Throws: `ListStoreError.inUse` if somebody else writes the list.
  @discardableResult
  public nonisolated(nonsending) func trim(before position: Int) async throws -> Int {
    try await journal.trim(before: position)
  }

  /// Gives up what is damaged and everything behind it, and becomes the writer: for whoever would
  /// rather go on than know what was lost.
  ///
  /// A damaged list is not repaired by itself, because others may have seen the elements that are
  /// lost. Keep a copy of the file.
  ///
  /// - Returns: how many elements are left.
  /// - Throws: `ListStoreError.inUse` if somebody else writes the list.
  @discardableResult
  public nonisolated(nonsending) func cutDamage() async throws -> Int {
    try await journal.cutDamage()
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
