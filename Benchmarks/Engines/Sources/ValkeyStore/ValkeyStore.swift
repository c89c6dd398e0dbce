import NIOCore
import Synchronization
import Tailrace
public import TailraceStored

/// A list in a stream of a Valkey or Redis server, for any number of processes and machines.
///
/// ```swift
/// let store = ValkeyStore("crawl", on: ValkeyServer("10.0.0.5"), element: .text, state: .json)
/// let list = LazyList(storedIn: store, state: 0, atTail: .computeOrFollow) { number in
///   number += 1
///   return number <= 3 ? "element \(number)" : nil
/// }
/// try await list.count()   // 3, on the server
/// ```
///
/// One store writes at a time: the one that holds the lease. It keeps the lease until it is
/// released, or its process is gone for the lease's length; then another one may acquire it. An append
/// of the former writer is superseded, however late it arrives. Any number of stores follow: each
/// waits with one connection, and does not poll.
///
/// An element is as durable as the server makes it. With `appendonly yes` and
/// `appendfsync always` it is on the server's disk before it is returned. A server that loses
/// elements that this store has seen is noticed (``ValkeyError/lost(key:seen:stored:)``).
///
/// **Failover.** Replicas get everything a moment later. If one of them takes over, elements that
/// were returned may be gone, and others be written in their place: stores that have seen the old
/// ones get `lost`, others cannot know. With `replicas: n` an element is returned only when *n*
/// replicas have it. Even then a follower may have seen an element before the replicas had it, and
/// the one that takes over must be one of those that have it: see to that with *n* of *n* replicas, or
/// by promoting the one with the highest offset. A server that has become a replica refuses to write
/// (`READONLY`): the connection is closed, and the next call connects to the same address anew. So
/// give the store an address that leads to the present primary.
///
/// It needs Valkey, or Redis 6.2 or later; not a cluster that moves the key, and no TLS. Nothing
/// connects before the first demand.
///
/// - Failure: ``ValkeyError``, `ListStoreError`, or an error of a coding. The next demand goes on.
/// - Cancellation: an append runs to its reply.
public final class ValkeyStore<Element: Sendable, State: Sendable>: ListStore {
  /// The key of the stream.
  public let key: String
  private let element: ValkeyCoding<Element>
  private let state: ValkeyCoding<State>
  private let lease: Duration
  /// What is awaited after a write.
  private let replicas: ReplicaWait?
  private let connection: Connection
  private let watch: Watch
  /// The stream, the lease, and the freed leases.
  private let keys: [ByteBuffer]
  /// Tells this store from others.
  private let name = ByteBuffer(string: StoreStanding.unique())
  private let standing = Mutex(StoreStanding())

  /// Creates a store of the list at a key. It connects to nothing.
  ///
  /// - Parameters:
  ///   - key: of a stream that is or will be a stored list.
  ///   - server: where it is.
  ///   - element: the coding of the elements.
  ///   - state: the coding of the state.
  ///   - lease: for how long the lease of a process that is gone keeps others from writing; 10
  ///     milliseconds or more, and taken for a hundred years at most. It is renewed three times in
  ///     that time.
  ///   - replicas: how many replicas must have an element before it is returned; they get half of
  ///     the lease's time for it, and the server's timeout at most. If they are fewer, the demand
  ///     throws ``ValkeyError/notReplicated(to:of:)``. The element is stored all the same, and the
  ///     next demand waits again.
  public init(
    _ key: String, on server: ValkeyServer, element: ValkeyCoding<Element>,
    state: ValkeyCoding<State>, lease: Duration = .seconds(10), replicas: Int = 0
  ) {
    precondition(replicas >= 0, "a ValkeyStore takes 0 replicas or more, not \(replicas)")
    precondition(
      lease >= .milliseconds(10),
      "a ValkeyStore takes a lease of 10 milliseconds or more, not \(lease)")
    self.key = key
    self.element = element
    self.state = state
    // The server and the clocks have no room for much more than a hundred years.
    self.lease = min(lease, .seconds(3_155_760_000))
    self.replicas =
      replicas == 0 ? nil : ReplicaWait(count: replicas, limit: min(server.timeout, self.lease / 2))
    keys = [key, "{\(key)}:lease", "{\(key)}:freed"].map { ByteBuffer(string: $0) }
    connection = Connection(server)
    watch = Watch(server, stream: keys[0], freed: keys[2], heartbeat: max(self.lease, .seconds(1)))
  }

  deinit {
    watch.close()
    let isHolder = standing.withLock { $0.letGo() }
    let (keys, name, connection) = (keys, name, connection)
    guard isHolder else { return connection.close() }
    Task.detached {
      // If it fails, the lease expires.
      _ = try? await Script.release.run(keys, [name], on: connection)
      connection.close()
    }
  }

  /// Gives up the lease, if this store has it, so that another one need not wait for the lease to
  /// expire. A store that is let go of does this by itself.
  public nonisolated(nonsending) func release() async throws {
    guard standing.withLock({ $0.letGo() }) else { return }
    _ = try await run(.release, [name], nil)
  }

  // MARK: The store

  /// Reads some elements, from a position on: up to a megabyte.
  public nonisolated(nonsending) func read(
    from position: Int, upTo count: Int
  ) async throws -> ListPage<Element> {
    let mark = standing.withLock(\.mark)
    let announced = watch.announced
    let reply = try await run(
      .read, [ByteBuffer(position), ByteBuffer(count)] + mark.arguments, mark)
    guard reply.count == 6, let last = reply[1].asNumber, let values = reply[5].asArray else {
      throw ValkeyError.unexpectedReply("to a read: \(reply)")
    }
    watch.listWasRead(last: last, isEnded: reply[2] == .number(1))
    if last < announced {
      // Waiting would end at once, and reading find nothing, again and again.
      let error = ValkeyError.disconnected(
        "it has \(last) entries of the list, and \(announced) were announced by another server")
      connection.drop(error)
      throw error
    }
    if !values.isEmpty {
      let mark = StoreMark(number: position + values.count, commit: reply[4])
      standing.withLock { $0.saw(mark) }
    }
    var elements: [Element] = []
    elements.reserveCapacity(values.count)
    for value in values {
      do {
        elements.append(try decode(value, element))
      } catch {
        // The failure belongs to its position: the read that continues there gets it.
        if elements.isEmpty { throw error }
        return ListPage(elements)
      }
    }
    return ListPage(elements, isEnd: reply[3] == .number(1))
  }

  /// Identity, first element, count and end, of one moment.
  public nonisolated(nonsending) func extent() async throws -> ListExtent {
    let mark = standing.withLock(\.mark)
    let reply = try await run(.extent, mark.arguments, mark)
    guard reply.count == 5, let identity = reply[1].asText, let first = reply[2].asNumber,
      let count = reply[3].asNumber
    else { throw ValkeyError.unexpectedReply("to a look: \(reply)") }
    return ListExtent(
      identity: identity.isEmpty ? nil : identity, first: first, count: count,
      isEnded: reply[4] == .number(1))
  }

  /// Waits until there may be more elements, or the lease may be free.
  public nonisolated(nonsending) func waitForMore(than position: Int) async throws {
    try await watch.waitForMore(than: position)
  }

  /// Becomes the writer, if no other store holds the lease. A list over this store can acquire it
  /// again.
  ///
  /// - Returns: where the list stands; `nil` if another store writes it.
  public nonisolated(nonsending) func acquireLease() async throws -> ListCheckpoint<State>? {
    let mark = standing.withLock { standing in
      standing.willAcquire()
      return standing.mark
    }
    // Waits for replicas, too: elements may be stored of which an append could not tell that.
    let reply = try await run(
      .acquire, [name, milliseconds] + mark.arguments, mark, then: replicas)
    if reply[0].asText == "held" {
      guard reply.count == 3, let number = reply[1].asNumber, let left = reply[2].asNumber else {
        throw ValkeyError.unexpectedReply("to a lease: \(reply)")
      }
      standing.withLock { $0.wasRefused() }
      watch.leaseWasRefused(by: number, for: .milliseconds(left + 1))
      return nil
    }
    guard reply.count == 8, case .bytes(let token) = reply[1], let count = reply[2].asNumber,
      let after = reply[4].asNumber, let last = reply[6].asNumber
    else { throw ValkeyError.unexpectedReply("to a lease: \(reply)") }
    // Decoded before the lease counts: an unreadable state must not be written over.
    let state = reply[5] == .null ? nil : try decode(reply[5], self.state)
    standing.withLock { standing in
      standing.saw(StoreMark(number: last, commit: reply[7]))
      if standing.wasGranted(token) { standing.renewal = renewing() }
    }
    return ListCheckpoint(
      count: count, state: state, stateCount: after, isEnded: reply[3] == .number(1))
  }

  /// Stores a commit at the end of the stream, in one step.
  ///
  /// If the reply is lost, the same commit may be appended again: the server knows it by an
  /// identifier, and does not store it twice.
  public nonisolated(nonsending) func append(
    _ commit: ListCommit<Element, State>, at position: Int
  ) async throws {
    precondition(
      !commit.elements.isEmpty || commit.isEnd,
      "ValkeyStore.append takes a commit with elements, or one that ends the list")
    var content = [ByteBuffer(commit.isEnd ? 1 : 0), ByteBuffer(commit.state == nil ? 0 : 1)]
    content.append(ByteBuffer(bytes: try commit.state.map { try state.encode($0) } ?? []))
    for value in commit.elements { content.append(ByteBuffer(bytes: try element.encode(value))) }
    let attempt = StoreAttempt(position: position, content: content)
    let sent = standing.withLock { $0.willAppend(attempt) }
    guard let (token, mark, identifier) = sent else { throw ListStoreError.superseded }
    do {
      let reply = try await run(
        .append,
        [token, milliseconds, ByteBuffer(position)] + mark.arguments + [identifier] + content, mark,
        then: replicas)
      guard reply.count == 2, let last = reply[1].asNumber else {
        throw ValkeyError.unexpectedReply("to an append: \(reply)")
      }
      standing.withLock { $0.saw(StoreMark(number: last, commit: .bytes(identifier))) }
    } catch {
      if error as? ListStoreError != .superseded {
        standing.withLock { $0.appendFailed(attempt, identifier) }
      }
      throw error
    }
  }

  /// Discards elements before a position. Positions do not change.
  ///
  /// It never discards the last state, nor the elements after it, nor the element before the
  /// position. A read of discarded elements gets `ListStoreError.trimmed`.
  ///
  /// - Returns: the position of the first element kept.
  @discardableResult
  public nonisolated(nonsending) func trim(before position: Int) async throws -> Int {
    let mark = standing.withLock(\.mark)
    let reply = try await run(.trim, [ByteBuffer(position)] + mark.arguments, mark)
    guard reply.count == 2, let first = reply[1].asNumber else {
      throw ValkeyError.unexpectedReply("to a trim: \(reply)")
    }
    return first
  }
}

extension ValkeyStore {
  private var milliseconds: ByteBuffer { ByteBuffer(Int((lease / .milliseconds(1)).rounded(.up))) }

  private func decode<Value>(_ value: RESP, _ coding: ValkeyCoding<Value>) throws -> Value {
    guard let bytes = value.asBytes else {
      throw ValkeyError.unexpectedReply("instead of a value: \(value)")
    }
    return try coding.decode(bytes)
  }

  /// Runs a script. Its reply begins with `ok` or `held`; others are thrown as errors.
  private nonisolated(nonsending) func run(
    _ script: Script, _ arguments: [ByteBuffer], _ mark: StoreMark?, then wait: ReplicaWait? = nil
  ) async throws -> [RESP] {
    let (reply, acknowledged) = try await script.run(keys, arguments, then: wait, on: connection)
    if case .error(let message) = reply { throw ValkeyError(reply: message) }
    guard let parts = reply.asArray, let word = parts.first?.asText else {
      throw ValkeyError.unexpectedReply("instead of an array: \(reply)")
    }
    let number = parts.count > 1 ? parts[1].asNumber ?? 0 : 0
    switch word {
    case "held": return parts
    case "ok":
      guard let wait else { return parts }
      if case .error(let message) = acknowledged { throw ValkeyError(reply: message) }
      guard let count = acknowledged?.asNumber else {
        throw ValkeyError.unexpectedReply("to WAIT: \(String(describing: acknowledged))")
      }
      guard count >= wait.count else {
        throw ValkeyError.notReplicated(to: count, of: wait.count)
      }
      return parts
    case "superseded": throw ListStoreError.superseded
    case "trimmed": throw ListStoreError.trimmed(first: number)
    case "damaged": throw ListStoreError.damaged(at: number)
    case "lost": throw ValkeyError.lost(key: key, seen: mark?.number ?? 0, stored: number)
    case "strange":
      throw ListStoreError.refused("the stream \(key) was not written by a ValkeyStore")
    default: throw ValkeyError.unexpectedReply("the word \(word)")
    }
  }

  /// Renews the lease until it is lost or given up, or the store is gone.
  private func renewing() -> Task<Void, Never> {
    let pause = lease / 3
    return Task.detached { [weak self] in
      while (try? await Task.sleep(for: pause)) != nil {
        guard await self?.renew() == true else { return }
      }
    }
  }

  private func renew() async -> Bool {
    guard let token = standing.withLock(\.token) else { return true }
    do {
      _ = try await run(.renew, [token, milliseconds], nil)
    } catch ListStoreError.superseded {
      return !standing.withLock { $0.lostLease(token) }
    } catch {
      // The server may be back the next time.
    }
    return true
  }
}

extension ByteBuffer {
  fileprivate init(_ number: Int) { self.init(string: "\(number)") }
}
