import TailraceLists
import TailraceSupport

/// The unread elements of a subscription, and the gaps between them.
@usableFromInline
struct Buffer<Element: Sendable>: Sendable {
  @usableFromInline
  enum Admission {
    case kept(remaining: Int)
    case dropped(Element)
  }

  /// A number of missing elements.
  @usableFromInline
  struct Gap: Sendable {
    /// How many elements precede it, counted from the first one ever sent.
    let position: Int
    let count: Int
  }

  /// How many elements are kept; `.max` for everything.
  @usableFromInline let limit: Int
  /// Whether the oldest makes room; otherwise a new element is not kept.
  @usableFromInline let dropsOldest: Bool
  @usableFromInline var elements = FIFO<Element>()
  /// How many elements were dropped before the next one, since there is a reader.
  @usableFromInline var dropped = 0
  /// How many elements have left the front, read or dropped.
  @usableFromInline var passed = 0
  /// The gaps between the elements, and after them.
  @usableFromInline var gaps = FIFO<Gap>()

  @_alwaysEmitIntoClient
  init<Failure: Error>(_ policy: Signal<Element, Failure>.BufferingPolicy) {
    switch policy {
    case .unbounded: (limit, dropsOldest) = (.max, false)
    case .bufferingOldest(let bound), .failing(let bound, _): (limit, dropsOldest) = (bound, false)
    case .bufferingNewest(let bound): (limit, dropsOldest) = (bound, true)
    }
    if limit < 0 { misuse("a Signal's bufferingPolicy keeps 0 elements or more, not \(limit)") }
  }

  /// Keeps the newest elements, up to that count.
  init(newest count: Int) {
    (limit, dropsOldest) = (count, true)
  }

  @_alwaysEmitIntoClient var count: Int { elements.count }

  /// How many more elements fit.
  @_alwaysEmitIntoClient var remaining: Int { limit == .max ? .max : max(0, limit - count) }

  /// Whether there is room enough for a wake-up, which costs as much as many elements ("Signals").
  @_alwaysEmitIntoClient var hasMuchRoom: Bool { limit - count >= max(1, limit / 4) }

  @_alwaysEmitIntoClient
  mutating func append(_ element: Element) -> Admission {
    guard limit < .max else {
      elements.append(element)
      return .kept(remaining: .max)
    }
    return appendWithinBound(element)
  }

  @_alwaysEmitIntoClient
  mutating func appendWithinBound(_ element: Element) -> Admission {
    guard count >= limit else {
      elements.append(element)
      return .kept(remaining: remaining)
    }
    // With limit 0, an element in the buffer belongs to a reader that was already woken.
    guard dropsOldest, limit > 0, let oldest = popFirst() else {
      lose(1)
      return .dropped(element)
    }
    dropped += 1
    elements.append(element)
    return .dropped(oldest)
  }

  /// Counts elements that would have been appended now as missing.
  @usableFromInline
  mutating func lose(_ count: Int) {
    guard !elements.isEmpty else {
      dropped += count
      return
    }
    let position = passed + elements.count
    let here = gaps.removeLast { $0.position == position }
    gaps.append(Gap(position: position, count: here.reduce(count) { $0 + $1.count }))
  }

  /// Moves elements into an empty batch: all of them, or only one if a later element may still
  /// replace an older one. Returns how many were dropped before them; `nil` if there is nothing.
  @_alwaysEmitIntoClient
  mutating func take(into batch: inout [Element]) -> Int? {
    let dropped = dropped
    if limit == .max, gaps.isEmpty, elements.leaving.isEmpty {
      guard !elements.arrived.isEmpty else { return nil }
      swap(&elements.arrived, &batch)
      passed += batch.count
      return dropped
    }
    guard let element = popFirst() else { return nil }
    batch.append(element)
    return dropped
  }

  @_alwaysEmitIntoClient
  mutating func popFirst() -> Element? {
    guard let element = elements.popFirst() else { return nil }
    passed += 1
    if !gaps.isEmpty { reachGaps() }
    return element
  }

  @usableFromInline
  mutating func reachGaps() {
    while let gap = gaps.first, gap.position <= passed {
      dropped += gap.count
      _ = gaps.popFirst()
    }
  }

  /// Copies another buffer, for a reader that has missed nothing yet.
  mutating func recall(_ past: Buffer) {
    (elements, passed, gaps) = (past.elements, past.passed, past.gaps)
  }
}
