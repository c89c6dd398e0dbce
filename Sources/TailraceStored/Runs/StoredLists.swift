public import Foundation
import TailraceLists
import TailraceSupport

/// Lists by key in a directory, each with one producer: runs that belong to no connection and to no process.
///
/// ```swift
/// let runs = StoredLists<String, Int>(
///   in: directory, element: .text, state: .raw
/// ) { key, number in
///   number += 1
///   return number <= 3 ? "\(key) \(number)" : nil
/// }
/// try await runs.start("a", state: 0)   // true; a new one
/// try await runs.list("a")?.array()   // ["a 1", "a 2", "a 3"]
/// try await runs.stop("a")   // false; it has ended
/// await runs.close()
/// ```
///
/// A list that `start` has acknowledged is produced until it ends or is stopped, also when its readers
/// leave, and after the process has been killed, before or after its first element: the next
/// `StoredLists` over the directory continues with it, at its first call or with ``open()``. One that was
/// stopped has its end stored, and never continues.
///
/// One process produces the lists of a directory. What has ended goes when it is too old, or when all
/// lists together have too many bytes, the oldest first; what has not ended stays.
///
/// - Isolation: a task for each list calls the closure. Any number of calls at a time.
/// - Failure: an error of the closure or of the disk ends the attempt, not the list: the next ``start(_:state:)``
///   with its key continues with it, and so does the next process. Readers wait.
/// - Cancellation: a reader that leaves ends nothing. The closure's task is cancelled by ``stop(_:)`` and
///   ``close()``.
public final class StoredLists<Element: Sendable, State: Sendable>: Sendable {
  /// The store of one list.
  public typealias Store = FileStore<Element, State>
  /// Makes the next element of a list, and changes the state; `nil` at the end.
  public typealias Next =
    @Sendable (_ key: String, _ state: inout State) async throws -> Element?

  private struct Contents: Sendable {
    var table: ProducerTable
    /// The stores of the lists that have not ended.
    var stores: [String: Store] = [:]
    var tasks: [String: (run: Int, task: Task<Void, Never>)] = [:]
    var opening: Task<Void, any Error>?

    /// A store that has failed may be poisoned, or its file is not at its path any more: the next attempt has
    /// another one.
    mutating func replace(_ store: Store, of key: String, by another: Store) {
      if stores[key] === store { stores[key] = another }
    }
  }

  private let element: ByteCoding<Element>
  private let state: ByteCoding<State>
  private let durability: Durability
  private let limits: StoredListLimits
  /// Of the lists' own files.
  private let disk: any Disk
  private let date: @Sendable () -> Date
  private let next: Next
  private let files: ListFiles
  private let contents: Locked<Contents>
  /// For those who make or remove files.
  private let turn = AsyncLock(for: "a directory of lists")

  /// Creates the lists of a directory. It opens nothing, and makes nothing.
  ///
  /// - Parameters:
  ///   - directory: on a file system of this machine. It is made if it is missing.
  ///   - element: the coding of the elements.
  ///   - state: the coding of the states.
  ///   - durability: what elements survive. What `start` and `stop` acknowledge survives a loss of power with
  ///     ``Durability/survivesPowerLoss``.
  ///   - limits: how many lists are produced at a time, and which of those that have ended are kept.
  ///   - next: makes the next element of a list, and changes the state; `nil` at the end.
  public convenience init(
    in directory: URL, element: ByteCoding<Element>, state: ByteCoding<State>,
    durability: Durability = .survivesPowerLoss, limits: StoredListLimits = StoredListLimits(),
    next: @escaping Next
  ) {
    self.init(
      in: directory, element: element, state: state, durability: durability, limits: limits,
      disk: SystemDisk(), date: { Date() }, next: next)
  }

  init(
    in directory: URL, element: ByteCoding<Element>, state: ByteCoding<State>,
    durability: Durability, limits: StoredListLimits, disk: any Disk = SystemDisk(),
    date: @escaping @Sendable () -> Date, next: @escaping Next
  ) {
    guard limits.producing > 0 else {
      fatalError("StoredListLimits takes a number of lists of 1 or more, not \(limits.producing)")
    }
    self.element = element
    self.state = state
    self.durability = durability
    self.limits = limits
    self.disk = disk
    self.date = date
    self.next = next
    files = ListFiles(in: directory)
    contents = Locked(Contents(table: ProducerTable(limit: limits.producing)))
  }

  // MARK: Producing

  /// Goes on with the lists that have not ended. Each other call does so, too, if it is the first.
  public nonisolated(nonsending) func open() async throws {
    let opening = contents.withLock { contents in
      let opening = contents.opening ?? Task { try await self.findLists() }
      contents.opening = opening
      return opening
    }
    do { try await opening.value } catch {
      // The next call tries again.
      contents.withLock { if $0.opening == opening { $0.opening = nil } }
      throw error
    }
  }

  private func findLists() async throws {
    for key in try await files.keys() {
      let store = contents.withLock { $0.stores[key] } ?? makeStore(key)
      // One that cannot be read keeps no other from going on: its producer fails.
      let isEnded = (try? await store.extent().isEnded) ?? false
      let run = contents.withLock { contents -> Int? in
        let run = contents.table.found(key, isEnded: isEnded)
        if run != nil { contents.stores[key] = store }
        return run
      }
      if let run { produce(key, run, store) }
    }
    _ = try? await removeSurplus()
  }

  /// Begins a list, if there is none with this key, or continues with one whose producer has failed.
  ///
  /// When this returns, the list is stored: it is produced, also if the process is killed before the first
  /// element.
  ///
  /// - Parameters:
  ///   - key: of any letters; at most about 60 to 200 of them, since it is the name of a file.
  ///   - state: the first step's state. Without effect if the list exists.
  /// - Returns: whether the list is a new one.
  /// - Throws: ``TooManyListsError`` if as many lists are produced as the limits allow;
  ///   `ListStoreError.refused` if the key cannot be the name of a file, or after ``close()``;
  ///   `ListStoreError.inUse` if another process produces the list.
  @discardableResult
  public nonisolated(nonsending) func start(_ key: String, state: State) async throws -> Bool {
    try ListFiles.check(key)
    try await open()
    guard await turn.lock() else { throw CancellationError() }
    defer { turn.unlock() }
    switch contents.withLock({ $0.table.start(key) }) {
    case .isThere: return false
    case .isBusy: throw TooManyListsError(limit: limits.producing)
    case .isRefused:
      throw ListStoreError.refused("the list \(key) is being removed, or the lists are closed")
    case .goesOn(let run):
      // Not with a store that has read the file since: it may have been repaired, and be another one.
      let store = makeStore(key)
      contents.withLock { $0.stores[key] = store }
      produce(key, run, store)
      return false
    case .store:
      var bytes = [self.state.versions.upperBound]
      try self.state.encode(state, &bytes)
      try await files.store(bytes, of: key)
      let store = openStore(key)
      // It makes the file of the list, so that the first element, or a stop, need not; and brings the names
      // of both files on the disk.
      guard try await store.acquireLease() != nil else { throw ListStoreError.inUse }
      if let run = contents.withLock({ $0.table.didStore(key) }) {
        produce(key, run, store)
      } else {
        // Closed meanwhile: the next process goes on.
        try await store.release()
      }
      return true
    }
  }

  private func produce(_ key: String, _ run: Int, _ store: Store) {
    let task = Task { [self] in
      var failure: String?
      do {
        let first = try await firstState(of: key)
        // From its end on: what is there need not be read. No variable retains the list, since that would
        // retain its elements.
        let count = try await store.extent().count
        for try await _ in list(in: store, key, from: count, first) {}
        try Task.checkCancellation()
      } catch {
        failure = "\(error)"
      }
      // Another process may go on, too.
      if failure != nil { try? await store.release() }
      let another = makeStore(key)
      contents.withLock { contents in
        let isPresent = contents.table.isProducing(key, run)
        contents.table.isOver(key, run, failure: failure)
        if contents.table.phases[key] == .ended { contents.stores[key] = nil }
        if isPresent, failure != nil { contents.replace(store, of: key, by: another) }
        if contents.tasks[key]?.run == run { contents.tasks[key] = nil }
      }
      if failure == nil { _ = try? await removeSurplus() }
    }
    let isOver = contents.withLock { contents in
      guard contents.table.isProducing(key, run), !contents.table.isClosed else { return true }
      contents.tasks[key] = (run, task)
      return false
    }
    // It was stopped, or was over, before it could be kept.
    if isOver { task.cancel() }
  }

  private func list(
    in store: Store, _ key: String, from count: Int, _ first: State
  ) -> LazyList<Element, any Error> {
    LazyList(storedIn: store, from: count, state: first) { [next] state in
      try await next(key, &state)
    }
  }

  private func firstState(of key: String) async throws -> State {
    let bytes = try await files.firstState(of: key)
    guard let version = bytes.first, state.versions.contains(version) else {
      throw state.otherVersion(bytes.first ?? 0)
    }
    return try bytes.withUnsafeBytes {
      try state.decode(UnsafeRawBufferPointer(rebasing: $0.dropFirst()), version)
    }
  }

  /// Ends a list at the element that it has reached, and its producer.
  ///
  /// When this returns, the end is stored: readers get it, and the list never continues. The producer may
  /// still be on its way to notice that it is cancelled; what it makes is not stored.
  ///
  /// - Returns: whether the list had not ended before.
  /// - Throws: an error of the disk; the list continues with the next ``start(_:state:)`` then, or in the next
  ///   process. `ListStoreError.inUse` if another process produces it.
  @discardableResult
  public nonisolated(nonsending) func stop(_ key: String) async throws -> Bool {
    try await open()
    let (stops, task) = contents.withLock { contents in
      (contents.table.stop(key), contents.tasks.removeValue(forKey: key)?.task)
    }
    guard stops else { return false }
    task?.cancel()
    let store = openStore(key)
    do {
      let isNew = try await store.end()
      contents.withLock { contents in
        contents.table.didStop(key, failure: nil)
        contents.stores[key] = nil
      }
      return isNew
    } catch {
      try? await store.release()
      let another = makeStore(key)
      contents.withLock { contents in
        contents.table.didStop(key, failure: "\(error)")
        contents.replace(store, of: key, by: another)
      }
      throw error
    }
  }

  /// Cancels all producers, and waits until they have noticed it. The lists continue when the directory is
  /// opened again.
  public nonisolated(nonsending) func close() async {
    let (tasks, stores) = contents.withLock { contents in
      contents.table.close()
      defer { (contents.tasks, contents.stores) = ([:], [:]) }
      return (contents.tasks.values.map { $0.task }, Array(contents.stores.values))
    }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    for store in stores { try? await store.release() }
  }

  // MARK: Reading

  /// A list for readers, which wait for what is not produced yet; `nil` if there is none with this key.
  public nonisolated(nonsending) func list(
    _ key: String
  ) async throws -> LazyList<Element, any Error>? {
    try await store(key).map { LazyList(reading: $0) }
  }

  /// The store of a list, to be read; `nil` if there is none with this key.
  public nonisolated(nonsending) func store(_ key: String) async throws -> Store? {
    try await open()
    let isThere = contents.withLock { contents in
      contents.table.phases[key].map { $0 != .removing } ?? false
    }
    return isThere ? contents.withLock { $0.stores[key] } ?? makeStore(key) : nil
  }

  /// All lists, by their keys. Of one that cannot be read the count is 0.
  public nonisolated(nonsending) func all() async throws -> [StoredListEntry] {
    try await open()
    var entries: [StoredListEntry] = []
    for (key, phase) in contents.withLock({ $0.table.phases }).sorted(by: { $0.key < $1.key })
    where phase != .removing {
      // It may have been removed meanwhile.
      guard let size = try? await files.size(of: key), let store = try await self.store(key) else {
        continue
      }
      let (count, status): (Int, StoredListEntry.Status)
      do {
        let extent = try await store.extent()
        (count, status) = (extent.count, StoredListEntry.Status(phase, extent))
      } catch {
        let unknown = ListExtent(identity: nil, count: 0, isEnded: false)
        let isOver = phase == .ended
        (count, status) = (
          0, isOver ? .failed("\(error)") : StoredListEntry.Status(phase, unknown)
        )
      }
      entries.append(
        StoredListEntry(
          key: key, count: count, status: status, bytes: size.bytes, lastChange: size.date))
    }
    return entries
  }

  /// Whether a list has not ended, as far as is known here.
  func isOpen(_ key: String) -> Bool { contents.withLock { $0.stores[key] != nil } }

  /// The store of a list that has not ended.
  private func openStore(_ key: String) -> Store {
    let new = makeStore(key)
    return contents.withLock { contents in
      let store = contents.stores[key] ?? new
      contents.stores[key] = store
      return store
    }
  }

  private func makeStore(_ key: String) -> Store {
    Store(
      files.url(key, ListFiles.list), element: element, state: state, durability: durability,
      disk: disk)
  }

  // MARK: Retention

  /// Removes the lists that have ended and are too old, or too many. It happens by itself when a list begins
  /// or ends; a service that rests for long calls it now and then.
  ///
  /// - Returns: the keys of the removed lists.
  @discardableResult
  public nonisolated(nonsending) func removeExpired() async throws -> [String] {
    try await open()
    return try await removeSurplus()
  }

  /// Removes a list that has ended. False if there is none, or if it has not ended.
  @discardableResult
  public nonisolated(nonsending) func remove(_ key: String) async throws -> Bool {
    try await open()
    guard await turn.lock() else { throw CancellationError() }
    defer { turn.unlock() }
    return try await removeFiles(key)
  }

  private nonisolated(nonsending) func removeSurplus() async throws -> [String] {
    guard limits.age != nil || limits.bytes != nil else { return [] }
    guard await turn.lock() else { throw CancellationError() }
    defer { turn.unlock() }
    var sizes: [(key: String, bytes: Int, date: Date)] = []
    for key in contents.withLock({ Array($0.table.phases.keys) }) {
      guard let size = try? await files.size(of: key) else { continue }
      sizes.append((key, size.bytes, size.date))
    }
    var total = sizes.reduce(0) { $0 + $1.bytes }
    var removed: [String] = []
    var failure: (any Error)?
    for (key, bytes, changed) in sizes.sorted(by: { $0.date < $1.date }) {
      let isOld = limits.age.map { date().timeIntervalSince(changed) > $0.inSeconds } ?? false
      guard isOld || limits.bytes.map({ total > $0 }) ?? false else { continue }
      do {
        guard try await removeFiles(key) else { continue }
      } catch {
        // The others go.
        failure = failure ?? error
        continue
      }
      total -= bytes
      removed.append(key)
    }
    if let failure { throw failure }
    return removed
  }

  /// The caller has the turn.
  private nonisolated(nonsending) func removeFiles(_ key: String) async throws -> Bool {
    guard contents.withLock({ $0.table.remove(key) }) else { return false }
    do {
      try await files.remove(key)
      contents.withLock { $0.table.didRemove(key, isGone: true) }
      return true
    } catch {
      contents.withLock { $0.table.didRemove(key, isGone: false) }
      throw error
    }
  }
}

extension Duration {
  fileprivate var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
