import TailraceSupport

/// Distributes a list: each element goes to exactly one of the tasks that ask, first come, first
/// served.
///
/// `share()` of other libraries gives each element to every reader, as a list does by itself.
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
/// It is `Sendable`, unlike an iterator, so an escaping closure can take one element at a time from it.
/// A step of the list itself must not ask it: it would wait for the task that waits for the step.
///
/// Replaces `-objectEnumerator`.
public actor SharedIterator<Element: Sendable, Failure: Error> {
  /// `nil` while a task reads.
  @usableFromInline var reader: LazyList<Element, Failure>.Iterator?
  /// The list's task, while a task reads and may wait for it.
  @usableFromInline var steps: StepExecutor?
  @usableFromInline let lock = AsyncLock(for: "a shared iterator")

  @usableFromInline
  init(_ list: consuming LazyList<Element, Failure>) { reader = list.makeAsyncIterator() }

  /// Returns the next element that no other task got, or `nil` at the end.
  ///
  /// - Failure: thrown to the task that asked, and to every later one. If the list retries failures, the
  ///   next call tries the same element again.
  /// - Cancellation: a task that is cancelled while it waits takes no element; another task gets
  ///   it. The cancelled task gets `CancellationError` if `Failure` is `any Error`,
  ///   `Failure.cancelled` if it is a ``CancellableFailure``, else `nil`.
  /// - Complexity: O(1), however many tasks ask.
  @_alwaysEmitIntoClient
  public func next() async throws(Failure) -> Element? {
    // The reading task may have a lower priority, and wait for a step.
    steps?.raise(to: Task.currentPriority)
    guard await lock.lock() else {
      if let cancellation = Failure.cancellation { throw cancellation }
      return nil
    }
    // Moved out and back: a copy here would retain everything that is read.
    guard var reader = reader.take() else {
      preconditionFailure("two tasks read from a shared iterator at once")
    }
    steps = reader.cursor.segment?.evaluator?.steps?.executor
    defer {
      self.reader = reader
      steps = nil
      lock.unlock()
    }
    return try await reader.next(isolation: self)
  }
}

extension LazyList {
  /// Returns an iterator that several tasks share; each element goes to one task.
  ///
  /// - Laziness: deferred.
  @_alwaysEmitIntoClient
  public consuming func makeSharedIterator() -> SharedIterator<Element, Failure> {
    SharedIterator(self)
  }
}
