import TailraceSupport

/// The waiters of one place, each with its mark, as a value. Entering and leaving take constant
/// time, and one waiter costs no allocation.
@usableFromInline
struct WaiterSet<Waiter: AnyObject & Sendable, Mark: Sendable>: Sendable {
  @usableFromInline
  struct Entry: Sendable {
    @usableFromInline let waiter: Waiter
    @usableFromInline let mark: Mark
    /// Counts entries: the first to arrive are woken first.
    @usableFromInline let number: Int

    @inlinable
    init(waiter: Waiter, mark: Mark, number: Int) {
      (self.waiter, self.mark, self.number) = (waiter, mark, number)
    }
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
  mutating func enter(_ waiter: Waiter, _ mark: Mark) {
    entered &+= 1
    let entry = Entry(waiter: waiter, mark: mark, number: entered)
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

  /// Removes the waiters with certain marks, in order of arrival.
  @inlinable
  mutating func remove(where isWanted: (Mark) -> Bool) -> [Waiter] {
    guard !others.isEmpty else {
      guard let only = first, isWanted(only.mark) else { return [] }
      first = nil
      return [only.waiter]
    }
    let removed = entries.filter { isWanted($0.mark) }
    for entry in removed { leave(entry.waiter) }
    return removed.map(\.waiter)
  }

  @inlinable
  func reduce<Result>(_ initial: Result, _ combine: (Result, Mark) -> Result) -> Result {
    let result = first.map { combine(initial, $0.mark) } ?? initial
    return others.values.reduce(result) { combine($0, $1.mark) }
  }

  @inlinable var entries: [Entry] {
    (others.values + (first.map { [$0] } ?? [])).sorted { $0.number < $1.number }
  }
}

extension WaiterSet where Mark == Void {
  @inlinable
  mutating func enter(_ waiter: Waiter) { enter(waiter, ()) }
}

extension WaiterSet: CustomStringConvertible {
  /// The waiters, in order of arrival.
  @usableFromInline var description: String {
    "[" + entries.map { "\($0.waiter): \($0.mark)" }.joined(separator: ", ") + "]"
  }
}
