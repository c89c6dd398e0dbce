import TailraceLists

/// The result of sending one element to many listeners.
@usableFromInline
struct Delivery<Element: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias SendResult = Signal<Element, Failure>.SendResult

  @usableFromInline var result: SendResult
  @usableFromInline var isFirst = true
  /// Almost always at most one; an array would need an allocation.
  @usableFromInline var reader: UnsafeContinuation<Void, Never>?
  @usableFromInline var otherReaders: [UnsafeContinuation<Void, Never>] = []
  /// The listeners that had no room for it.
  @usableFromInline var overflowed: [Inbox<Element, Failure>] = []
  /// Released with this value, outside all locks.
  @usableFromInline var dropped: [Element] = []
  @usableFromInline var forgotten: Element?

  @_alwaysEmitIntoClient
  init(_ result: SendResult) { self.result = result }

  /// The result for all listeners is the worst one: a drop, or the least room.
  @_alwaysEmitIntoClient
  mutating func add(
    _ sent: (result: SendResult, reader: UnsafeContinuation<Void, Never>?)
  ) {
    if let reader = sent.reader {
      if self.reader == nil { self.reader = reader } else { otherReaders.append(reader) }
    }
    switch sent.result {
    // It has left, and is about to unsubscribe.
    case .terminated: return
    case .dropped(let element):
      if case .dropped = result, !isFirst {
        dropped.append(element)
      } else {
        result = .dropped(element)
      }
    case .enqueued(let remaining):
      if isFirst {
        result = sent.result
      } else if case .enqueued(let least) = result {
        result = .enqueued(remaining: min(least, remaining))
      }
    }
    isFirst = false
  }

  /// Does the work that needs no lock.
  @_alwaysEmitIntoClient
  func finish() -> SendResult {
    reader?.resume()
    for reader in otherReaders { reader.resume() }
    for listener in overflowed { listener.settle() }
    return result
  }
}
