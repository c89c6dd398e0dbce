/// How much of what is sent a subscription keeps until it is read.
///
/// The ending is always kept: it is no element, and a failure never gets lost.
public enum SignalBufferingPolicy: Sendable, Hashable {
  /// Everything.
  case unbounded
  /// So many; what is sent while they wait is dropped. 0 or more.
  case bufferingOldest(Int)
  /// So many; the oldest makes room for what is sent while they wait. 0 or more.
  case bufferingNewest(Int)
}

/// What was sent and has not been read yet.
@usableFromInline
struct Backlog<Element: Sendable>: Sendable {
  @usableFromInline
  enum Admission {
    case kept(remaining: Int)
    case dropped(Element)
  }

  @usableFromInline let policy: SignalBufferingPolicy
  @usableFromInline var elements = FIFO<Element>()

  @inlinable
  init(_ policy: SignalBufferingPolicy) {
    switch policy {
    case .unbounded: break
    case .bufferingOldest(let bound), .bufferingNewest(let bound):
      require(
        bound >= 0, "a Signal's bufferingPolicy keeps 0 elements or more, not \(bound)")
    }
    self.policy = policy
  }

  @inlinable var count: Int { elements.count }

  @inlinable
  mutating func append(_ element: Element) -> Admission {
    if case .unbounded = policy {
      elements.append(element)
      return .kept(remaining: .max)
    }
    return appendWithinBound(element)
  }

  @inlinable
  mutating func appendWithinBound(_ element: Element) -> Admission {
    var oldest: Element?
    if remaining == 0 {
      guard case .bufferingNewest(1...) = policy else { return .dropped(element) }
      oldest = elements.popFirst()
    }
    elements.append(element)
    return oldest.map { .dropped($0) } ?? .kept(remaining: remaining)
  }

  /// How many elements there is room for.
  @inlinable var remaining: Int {
    switch policy {
    case .unbounded: .max
    case .bufferingOldest(let bound), .bufferingNewest(let bound): max(0, bound - count)
    }
  }

  /// Moves elements into a batch that is empty, the next one last: all that is there, or just one
  /// where something may still have to make room for what comes.
  @inlinable
  mutating func take(into batch: inout [Element]) -> Bool {
    if case .unbounded = policy {
      guard !elements.arrived.isEmpty else { return false }
      swap(&elements.arrived, &batch)
      return true
    }
    guard let element = elements.popFirst() else { return false }
    batch.append(element)
    return true
  }
}
