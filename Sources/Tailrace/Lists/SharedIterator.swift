/// Deals a list out: each element goes to exactly one of the tasks that ask, first come, first
/// served.
///
/// ```swift
/// let jobs = list.makeSharedIterator()
/// await withTaskGroup { group in
///   for _ in 0..<4 {
///     group.addTask { while let job = await jobs.next() { await run(job) } }
///   }
/// }
/// ```
///
/// Replaces `-objectEnumerator`.
public actor SharedIterator<Element: Sendable, Failure: Error> {
  private var reader: LazyList<Element, Failure>.Iterator
  private let lock = AsyncLock()

  init(_ list: consuming LazyList<Element, Failure>) { reader = list.makeAsyncIterator() }

  /// Returns the next element that nobody else got, `nil` at the end.
  ///
  /// - Cancellation: a task that is cancelled while it waits takes nothing: the element goes to
  ///   another. It gets `CancellationError` where `Failure` is `any Error`, else `nil`.
  /// - Complexity: O(1), however many ask.
  public func next() async throws(Failure) -> Element? {
    // Somebody of less priority may have the turn, and wait for a step.
    reader.cursor.segment?.task?.raise(to: Task.currentPriority)
    guard await lock.lock() else {
      if let cancellation = CancellationError() as? Failure { throw cancellation }
      return nil
    }
    defer { lock.unlock() }
    // A reader that got nothing is not kept: it may have been cancelled.
    var reader = reader
    guard let element = try await reader.next(isolation: self) else { return nil }
    self.reader = reader
    return element
  }
}

extension LazyList {
  /// Returns an iterator that several tasks share; each element goes to one of them.
  ///
  /// - Laziness: deferred.
  public consuming func makeSharedIterator() -> SharedIterator<Element, Failure> {
    SharedIterator(self)
  }
}
