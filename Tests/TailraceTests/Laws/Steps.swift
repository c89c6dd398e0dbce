import Tailrace

/// The elements that an asynchronous closure gives for 0, 1, 2 …, whatever its list may fail with.
///
/// `Steps(3) { … }.memoized()` is the shortest list with asynchronous steps whose `Failure` is the
/// closure's. The laws of asynchronous lists are tested with it.
struct Steps<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
  let count: Int
  let step: @Sendable (Int) async throws(Failure) -> Element

  init(
    _ count: Int = .max, _ step: @escaping @Sendable (Int) async throws(Failure) -> Element
  ) {
    self.count = count
    self.step = step
  }

  func makeAsyncIterator() -> Iterator { Iterator(steps: self) }

  struct Iterator: AsyncIteratorProtocol {
    let steps: Steps
    var position = 0

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Failure) -> Element? {
      guard position < steps.count else { return nil }
      let element = try await steps.step(position)
      position += 1
      return element
    }

    mutating func next() async throws(Failure) -> Element? { try await next(isolation: nil) }
  }
}

extension LazyList {
  /// `map` with a closure that is asynchronous, in the one place that says so.
  consuming func mapAsync<Output: Sendable>(
    _ transform: @escaping @Sendable (Element) async -> Output
  ) -> LazyList<Output, Failure> {
    map { (element: Element) async -> Output in await transform(element) }
  }

  /// `filter` with a closure that is asynchronous.
  consuming func filterAsync(
    _ isIncluded: @escaping @Sendable (Element) async -> Bool
  ) -> LazyList {
    filter { (element: Element) async -> Bool in await isIncluded(element) }
  }
}
