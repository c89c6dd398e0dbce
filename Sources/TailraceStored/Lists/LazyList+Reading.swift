import TailraceLists
import TailraceSupport

extension LazyList where Failure == any Error {
  /// Creates a list of a source's elements, which waits for elements that do not exist yet.
  ///
  /// ```swift
  /// let store = MemoryStore<String, Int>(["one", "two"])
  /// let list = LazyList(reading: store)
  /// try await list.prefix(2).array()   // ["one", "two"]
  /// ```
  ///
  /// - Parameters:
  ///   - source: the source of the elements.
  ///   - position: of the list's first element, 0 or more; a negative position is a programmer's
  ///     error and traps. Beyond the last element the list waits for it.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  /// - Laziness: stepwise, in pages. The first request is the first call of the source.
  /// - Failure: the source's, at its position. It is not kept: the next request asks again.
  /// - Cancellation: a waiting reader leaves; the source's call is cancelled when no reader can
  ///   continue.
  @_alwaysEmitIntoClient
  public init<Source: ListSource<Element>>(
    reading source: Source, from position: Int = 0, file: StaticString = #fileID,
    line: UInt = #line
  ) {
    require(
      position >= 0,
      "LazyList(reading:from:) takes a position of 0 or more, not \(position); "
        + "positions count from the first element of the source", file: file, line: line)
    self.init(paging: Owned(Follower(source, from: position)), stage: "reading")
  }
}

/// Reads a source from a position on, and waits at its end.
@usableFromInline
struct Follower<Source: ListSource>: ListPager {
  @usableFromInline let source: Source
  @usableFromInline var position: Int
  @usableFromInline var size = PageSize()

  @_alwaysEmitIntoClient
  init(_ source: Source, from position: Int) {
    self.source = source
    self.position = position
  }

  @_alwaysEmitIntoClient
  nonisolated(nonsending) mutating func page(
    _ demand: PageDemand<Source.Element>
  ) async throws -> ListPage<Source.Element> {
    while true {
      let page = try await source.read(from: position, upTo: size.count)
      if !page.elements.isEmpty || page.isEnd {
        position += page.elements.count
        if page.elements.count == size.count { size.grow() }
        return page
      }
      try await source.waitForMore(than: position)
      try Task.checkCancellation()
    }
  }
}
