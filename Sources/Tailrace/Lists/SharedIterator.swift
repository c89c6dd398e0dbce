/// Deals a list out: each element goes to exactly one of the tasks that ask.
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
  private var rest: LazyList<Element, Failure>
  /// How many elements have been dealt.
  private var position = 0

  init(_ list: consuming LazyList<Element, Failure>) { rest = list }

  /// The next element that nobody else got, `nil` at the end.
  ///
  /// - Cancellation: a task that is cancelled while it waits takes nothing: the element goes to
  ///   another. It gets `CancellationError` where `Failure` is `any Error`, else `nil`.
  public func next() async throws(Failure) -> Element? {
    while true {
      let asked = position
      var iterator = rest.makeAsyncIterator()
      let element = try await iterator.next(isolation: self)
      // Somebody else may have taken it while this task waited.
      guard asked == position else { continue }
      guard let element else { return nil }
      position += 1
      rest = iterator.cursor.rest
      return element
    }
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
