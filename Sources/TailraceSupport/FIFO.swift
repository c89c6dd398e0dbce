/// First in, first out. Both ends are cheap, and removed elements are not retained.
@usableFromInline
package struct FIFO<Element> {
  @usableFromInline package var arrived: [Element] = []
  /// Earlier arrivals, the oldest last.
  @usableFromInline package var leaving: [Element] = []

  @inlinable
  package init() {}

  @inlinable package var count: Int { arrived.count + leaving.count }
  @inlinable package var isEmpty: Bool { arrived.isEmpty && leaving.isEmpty }

  @inlinable
  package mutating func append(_ element: Element) { arrived.append(element) }

  @inlinable package var first: Element? { leaving.last ?? arrived.first }

  /// Removes the oldest one.
  @inlinable
  package mutating func popFirst() -> Element? {
    if leaving.isEmpty {
      swap(&arrived, &leaving)
      leaving.reverse()
    }
    return leaving.popLast()
  }

  /// Removes the newest ones, while they satisfy a condition.
  @inlinable
  package mutating func removeLast(while isWanted: (Element) -> Bool) -> [Element] {
    var removed: [Element] = []
    while let last = arrived.last, isWanted(last) {
      removed.append(last)
      arrived.removeLast()
    }
    guard arrived.isEmpty else { return removed }
    // All at once: the newest are in front.
    let older = leaving.prefix(while: isWanted)
    removed += older
    leaving.removeFirst(older.count)
    return removed
  }

  @inlinable
  package mutating func removeAll(where isUnwanted: (Element) -> Bool) {
    arrived.removeAll(where: isUnwanted)
    leaving.removeAll(where: isUnwanted)
  }
}

extension FIFO: Sendable where Element: Sendable {}
