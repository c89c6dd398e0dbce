/// Those who wait until something has been counted up to a number, as a value.
struct CountWaiters: Sendable {
  private struct Entry: Ordered, Sendable {
    let count: Int
    /// Tells those apart who wait for the same count: first come, first woken.
    let number: Int
    let continuation: CheckedContinuation<Void, Never>

    func comes(before other: Entry) -> Bool { (count, number) < (other.count, other.number) }
  }

  private var entries = Heap<Entry>()
  private var arrivals = 0

  /// The smallest count that is waited for.
  var least: Int? { entries.first?.count }

  mutating func add(_ continuation: CheckedContinuation<Void, Never>, until count: Int) {
    entries.insert(Entry(count: count, number: arrivals, continuation: continuation))
    arrivals += 1
  }

  /// That much has been counted. Returns those who are to be woken, outside of the lock.
  ///
  /// - Complexity: O(log *n*) for each of them, O(1) if there are none.
  mutating func reached(_ count: Int) -> [CheckedContinuation<Void, Never>] {
    var woken: [CheckedContinuation<Void, Never>] = []
    while let first = entries.first, first.count <= count, let entry = entries.removeFirst() {
      woken.append(entry.continuation)
    }
    return woken
  }
}
