import TailraceLists

extension LazyList {
  /// This list as a source, for readers by position such as a server.
  ///
  /// ```swift
  /// let source = LazyList(1...).source
  /// try await source.waitForMore(than: 0)
  /// try await source.read(from: 0, upTo: 10).elements   // [1]
  /// ```
  ///
  /// It retains the list from its head on, with all computed elements. Each access makes a source with an
  /// identity of its own, and an endpoint refuses the offsets of another identity: make one source of a list,
  /// and one endpoint of that, for all requests.
  ///
  /// - Laziness: reading computes nothing. Waiting for more than *i* elements requests the element
  ///   at *i*, and no other.
  /// - Failure: the list's, where no element before it can be read.
  /// - Complexity: O(*segments*) for each read.
  public var source: some ListSource<Element> { HeldListSource(list: self, identity: .ofNewList) }
}

struct HeldListSource<Element: Sendable, Failure: Error>: ListSource {
  let list: LazyList<Element, Failure>
  let identity: String

  nonisolated(nonsending) func read(
    from position: Int, upTo count: Int
  ) async throws -> ListPage<Element> {
    var page = ListPage<Element>([])
    var runs = EvaluatedRuns(list.dropFirst(position))
    while let run = runs.next() {
      let room = count - page.elements.count
      // More was available than requested.
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

  nonisolated(nonsending) func extent() async throws -> ListExtent {
    var extent = ListExtent(identity: identity, count: 0, isEnded: false)
    var runs = EvaluatedRuns(list)
    while let run = runs.next() { extent.count += run.count }
    if case .end = runs.state { extent.isEnded = true }
    return extent
  }
}

extension String {
  /// A random identity of a list.
  package static var ofNewList: String {
    String(UInt64.random(in: 0...(.max)), radix: 36) + "-"
      + String(UInt64.random(in: 0...(.max)), radix: 36)
  }
}
