/// The waiters for a count, as a value.
struct CountWaiters: Sendable {
  private struct Entry: Ordered, Sendable {
    let count: Int
    /// Orders waiters for the same count: first come, first woken.
    let number: Int
    let continuation: CheckedContinuation<Void, Never>

    func comes(before other: Entry) -> Bool { (count, number) < (other.count, other.number) }
  }

  private var entries = Heap<Entry>()
  private var arrivals = 0

  /// The smallest awaited count.
  var least: Int? { entries.first?.count }

  mutating func add(_ continuation: CheckedContinuation<Void, Never>, until count: Int) {
    entries.insert(Entry(count: count, number: arrivals, continuation: continuation))
    arrivals += 1
  }

  /// The count was reached. Returns the waiters to wake, outside the lock.
  ///
  /// - Complexity: O(log *n*) for each waiter, O(1) without waiters.
  mutating func reached(_ count: Int) -> [CheckedContinuation<Void, Never>] {
    var woken: [CheckedContinuation<Void, Never>] = []
    while let first = entries.first, first.count <= count, let entry = entries.removeFirst() {
      woken.append(entry.continuation)
    }
    return woken
  }
}
