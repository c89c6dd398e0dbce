import TailraceSupport

/// The waiters of one place, as a value. Entering and leaving take constant time, and one waiter costs no
/// allocation.
@usableFromInline
struct WaiterSet<Waiter: AnyObject & Sendable>: Sendable {
  @usableFromInline
  struct Entry: Sendable {
    @usableFromInline let waiter: Waiter
    /// Counts entries: the first to arrive are woken first.
    @usableFromInline let number: Int

    @inlinable
    init(waiter: Waiter, number: Int) { (self.waiter, self.number) = (waiter, number) }
  }

  @usableFromInline var first: Entry?
  /// Mostly empty.
  @usableFromInline var others: [ObjectIdentifier: Entry] = [:]
  @usableFromInline var entered = 0

  @inlinable
  init() {}

  @inlinable var isEmpty: Bool { first == nil && others.isEmpty }
  @inlinable var count: Int { others.count + (first == nil ? 0 : 1) }

  /// A waiter arrives.
  @inlinable
  mutating func enter(_ waiter: Waiter) {
    entered &+= 1
    let entry = Entry(waiter: waiter, number: entered)
    if first == nil { first = entry } else { others[ObjectIdentifier(waiter)] = entry }
  }

  /// A waiter leaves. False if it is unknown: it was removed meanwhile.
  @inlinable @discardableResult
  mutating func leave(_ waiter: Waiter) -> Bool {
    if first?.waiter === waiter {
      first = nil
      return true
    }
    return !others.isEmpty && others.removeValue(forKey: ObjectIdentifier(waiter)) != nil
  }

  /// Removes all waiters, in order of arrival.
  @inlinable
  mutating func removeAll() -> [Waiter] {
    guard !others.isEmpty else {
      defer { first = nil }
      return first.map { [$0.waiter] } ?? []
    }
    let all = entries
    (first, others) = (nil, [:])
    return all.map(\.waiter)
  }

  @inlinable var entries: [Entry] {
    (others.values + (first.map { [$0] } ?? [])).sorted { $0.number < $1.number }
  }
}

extension WaiterSet: CustomStringConvertible {
  /// The waiters, in order of arrival.
  @usableFromInline var description: String {
    "[" + entries.map { "\($0.waiter)" }.joined(separator: ", ") + "]"
  }
}
