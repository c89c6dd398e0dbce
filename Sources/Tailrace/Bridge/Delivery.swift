/// What came of sending one element to many.
@usableFromInline
struct Delivery<Element: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias SendResult = Signal<Element, Failure>.SendResult

  @usableFromInline var result: SendResult
  @usableFromInline var isFirst = true
  /// Nearly always there is one at most; an array would have to be allocated.
  @usableFromInline var reader: UnsafeContinuation<Void, Never>?
  @usableFromInline var otherReaders: [UnsafeContinuation<Void, Never>] = []
  /// Those for whom this was one too many.
  @usableFromInline var overflowed: [Inbox<Element, Failure>] = []
  /// Released with this value, outside of every lock.
  @usableFromInline var dropped: [Element] = []
  @usableFromInline var forgotten: Element?

  @inlinable
  init(_ result: SendResult) { self.result = result }

  /// The result for all is the worst one: a drop, or the smallest room.
  @inlinable
  mutating func add(
    _ sent: (result: SendResult, reader: UnsafeContinuation<Void, Never>?)
  ) {
    if let reader = sent.reader {
      if self.reader == nil { self.reader = reader } else { otherReaders.append(reader) }
    }
    switch sent.result {
    // It has left, and is about to say so.
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

  /// Does what is to be done without a lock.
  @inlinable
  func finish() -> SendResult {
    reader?.resume()
    for reader in otherReaders { reader.resume() }
    for listener in overflowed { listener.settle() }
    return result
  }
}
