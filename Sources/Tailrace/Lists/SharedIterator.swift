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
  /// Whether it is somebody's turn: one task reads at a time, and the others stand in line.
  private var isRead = false
  private var line = FIFO<Waiter>()
  /// How many of those in the line have left it.
  private var leavers = 0

  init(_ list: consuming LazyList<Element, Failure>) { reader = list.makeAsyncIterator() }

  /// The next element that nobody else got, `nil` at the end.
  ///
  /// - Cancellation: a task that is cancelled while it waits takes nothing: the element goes to
  ///   another. It gets `CancellationError` where `Failure` is `any Error`, else `nil`.
  /// - Complexity: O(1), however many ask.
  public func next() async throws(Failure) -> Element? {
    guard await begins() else {
      if let cancellation = CancellationError() as? Failure { throw cancellation }
      return nil
    }
    defer { end() }
    // A reader that got nothing is not kept: it may have been cancelled.
    var reader = reader
    guard let element = try await reader.next(isolation: self) else { return nil }
    self.reader = reader
    return element
  }

  /// Waits for a turn. False if the task is cancelled before.
  private func begins() async -> Bool {
    guard isRead else {
      isRead = true
      return true
    }
    let waiter = Waiter()
    line.append(waiter)
    reader.cursor.segment?.task?.raise(to: Task.currentPriority)
    guard case .cancelled = await waiter.wait(cancellable: true) else { return true }
    leave()
    return false
  }

  /// The turn is over, and somebody else's.
  private func end() {
    while let next = line.popFirst() {
      if next.wake(.retry) { return }
      leavers -= 1
    }
    isRead = false
  }

  /// Somebody in the line was cancelled. The line is cleared when half of it has left.
  private func leave() {
    leavers += 1
    guard leavers * 2 > line.count else { return }
    line.removeAll { !$0.isWaiting }
    leavers = 0
  }
}

extension FIFO {
  mutating func removeAll(where isUnwanted: (Element) -> Bool) {
    arrived.removeAll(where: isUnwanted)
    leaving.removeAll(where: isUnwanted)
  }
}

extension LazyList {
  /// An iterator that several tasks share; each element goes to one of them.
  ///
  /// - Laziness: deferred.
  public consuming func makeSharedIterator() -> SharedIterator<Element, Failure> {
    SharedIterator(self)
  }
}
