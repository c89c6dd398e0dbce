/// Something that has the elements of a list by position, for anybody to read, as often as they
/// like.
///
/// A list is data: elements by position. Whoever can say what is there from a position on is a
/// source, be it a file, a table of a database, a list in memory (``LazyList/source``), or a
/// server. ``LazyList/init(reading:from:file:line:)`` makes a list of it.
///
/// - Isolation: the methods are called from the task of a list, several at the same time by several
///   lists. They must not block a thread.
public protocol ListSource<Element>: Sendable {
  /// What the list is a list of.
  associatedtype Element: Sendable

  /// Reads some elements, from a position on. It does not wait for those that are not there yet.
  ///
  /// An element that has been read once is the same ever after.
  ///
  /// - Parameters:
  ///   - position: 0 or more; it may be behind all elements.
  ///   - count: how many at most, 1 or more. Fewer may be given, but none only if there are none.
  /// - Returns: the elements, and whether the list has ended with them.
  /// - Throws: ``ListStoreError/trimmed(first:)`` where the elements at the position are kept no
  ///   more.
  nonisolated(nonsending) func read(
    from position: Int, upTo count: Int
  ) async throws -> ListPage<Element>

  /// Waits until there may be more than `position` elements, or until the list has ended.
  ///
  /// It may come back for nothing, now and then: who waits reads, and waits again. What has come
  /// between a read and this call must not be missed.
  ///
  /// - Cancellation: comes back, or throws `CancellationError`, when the task is cancelled.
  nonisolated(nonsending) func waitForMore(than position: Int) async throws
}

/// Some elements of a list, as they are read from a source.
public struct ListPage<Element: Sendable>: Sendable {
  /// The elements, in order; none if there are none yet at the position.
  public var elements: [Element]
  /// Whether the list has ended, and nothing comes after these elements, ever.
  public var isEnd: Bool

  /// Creates a page.
  public init(_ elements: [Element], isEnd: Bool = false) {
    self.elements = elements
    self.isEnd = isEnd
  }
}

extension ListPage: Equatable where Element: Equatable {}
extension ListPage: Codable where Element: Codable {}
