import TailraceLists
import TailraceSupport

/// Computes the values of many keys with one call of a closure.
///
/// Each batch is a memo of its values, and each key waits for the memo of its batch, so whoever waits
/// for whom is known as elsewhere: a batch that needs one of the keys that wait for it is an error.
final class Batcher<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  typealias Compute = @Sendable (_ keys: [Key]) async throws -> [Key: Value]

  final class Batch: Sendable {
    let values: Memo<[Key: Value], any Error>

    init(_ values: Memo<[Key: Value], any Error>) { self.values = values }
  }

  /// A batch, known to its own closure, which must not retain it.
  // Guard: the runtime's, for a weak reference; it is set once, before it is shared.
  // May touch it: the maker, then the closure.
  private final class Reference: @unchecked Sendable {
    weak var batch: Batch?
  }

  private let queue: Locked<BatchQueue<Key, Batch>>
  private let report: (@Sendable (Int) -> Void)?
  private let compute: Compute

  init(limit: Int, report: (@Sendable (Int) -> Void)?, _ compute: @escaping Compute) {
    queue = Locked(BatchQueue(limit: limit))
    (self.report, self.compute) = (report, compute)
  }

  /// How many batches have left.
  var departures: Int { queue.withLock { $0.departures } }

  nonisolated(nonsending) func value(for key: Key) async throws -> Value {
    let batch = queue.withLock { $0.join(key) { makeBatch(after: $0) } }
    guard let value = try await batch.values.value()[key] else { throw MissingValueError(key) }
    return value
  }

  /// A batch that leaves when the one before it is back.
  private func makeBatch(after last: Batch?) -> Batch {
    let reference = Reference()
    let values = Memo<[Key: Value], any Error> { [self] in
      if let last { _ = try? await last.values.value() }
      let (keys, number) = depart(reference)
      defer { queue.withLock { $0.comeBack(number) } }
      try Task.checkCancellation()
      report?(keys.count)
      return try await compute(keys)
    }
    let batch = Batch(values)
    reference.batch = batch
    return batch
  }

  /// A batch leaves. From here on only those retain it who wait for it.
  private func depart(_ reference: Reference) -> (keys: [Key], number: Int) {
    // It has gathered keys until here, so the queue retains it.
    guard let batch = reference.batch, let departure = queue.withLock({ $0.leave(batch) }) else {
      preconditionFailure("a batch left twice")
    }
    return departure
  }
}

/// A batch of keys came back without the value of one of them.
///
/// ```swift
/// let users = Memos(batches: 100) { (ids: [Int]) in
///   Dictionary(uniqueKeysWithValues: ids.filter { $0 < 3 }.map { ($0, "user \($0)") })
/// }
/// try await users.value(for: 7)   // throws: the batch came back without a value for the key 7
/// ```
public struct MissingValueError: Error, CustomStringConvertible {
  /// The key.
  public let key: any Sendable

  init(_ key: any Sendable) { self.key = key }

  public var description: String {
    "the batch came back without a value for the key \(String(reflecting: key))"
  }
}
