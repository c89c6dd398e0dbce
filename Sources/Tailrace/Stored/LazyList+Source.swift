extension LazyList {
  /// This list as a source, for those who read by position: a server, for one.
  ///
  /// ```swift
  /// let source = LazyList(1...).source
  /// try await source.waitForMore(than: 0)
  /// try await source.read(from: 0, upTo: 10).elements   // [1]
  /// ```
  ///
  /// It holds the list from its head on, and so all elements that are evaluated.
  ///
  /// - Laziness: reading evaluates nothing. Waiting for more than *i* elements demands the element
  ///   at *i*, and no other.
  /// - Failure: that of the list, where there is no element before it to be read.
  /// - Complexity: O(*segments*) for each read.
  public var source: some ListSource<Element> { HeldListSource(list: self) }
}

struct HeldListSource<Element: Sendable, Failure: Error>: ListSource {
  let list: LazyList<Element, Failure>

  nonisolated(nonsending) func read(
    from position: Int, upTo count: Int
  ) async throws -> ListPage<Element> {
    var page = ListPage<Element>([])
    var runs = EvaluatedRuns(list.dropFirst(position))
    while let run = runs.next() {
      let room = count - page.elements.count
      // There is more than was asked for.
      if room == 0 { return page }
      page.elements.append(contentsOf: run.cells.prefix(room))
      if run.count > room { return page }
    }
    switch runs.state {
    case .end: page.isEnd = true
    case .failed(let failure) where page.elements.isEmpty: throw failure
    case .failed, .unresolved, .computing: break
    }
    return page
  }

  nonisolated(nonsending) func waitForMore(than position: Int) async throws {
    for try await _ in list.dropFirst(position) { return }
  }
}
