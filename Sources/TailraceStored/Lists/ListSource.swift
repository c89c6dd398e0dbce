import TailraceLists

/// The elements of a list by position, for any number of readers, as often as they like.
///
/// A list is data: elements by position. A source can read the elements from a position on: a
/// file, a database table, a list in memory (`list.source`) or a server.
/// `LazyList(reading:)` makes a list of it.
///
/// - Isolation: tasks of lists call the methods, several at the same time for several lists. They
///   must not block a thread.
public protocol ListSource<Element>: Sendable {
  /// The type of the list's elements.
  associatedtype Element: Sendable

  /// Reads some elements, from a position on. It does not wait for elements that do not exist yet.
  ///
  /// An element that was read once never changes.
  ///
  /// - Parameters:
  ///   - position: 0 or more; it may be beyond all elements.
  ///   - count: how many at most, 1 or more. Fewer may be returned, but none only if there are
  ///     none.
  /// - Returns: the elements, and whether the list ends with them.
  /// - Throws: ``ListStoreError/trimmed(first:)`` if the elements at the position were
  ///   discarded.
  nonisolated(nonsending) func read(
    from position: Int, upTo count: Int
  ) async throws -> ListPage<Element>

  /// Waits until there may be more than `position` elements, or until the list has ended.
  ///
  /// It may sometimes return without reason: the reader then reads and waits again. It must not
  /// miss elements added between a read and this call.
  ///
  /// - Cancellation: returns, or throws `CancellationError`, when the task is cancelled.
  nonisolated(nonsending) func waitForMore(than position: Int) async throws

  /// The list's identity, first element, count and end, of one moment.
  ///
  /// It acquires nothing, makes nothing and computes nothing: it is how to count stored elements.
  nonisolated(nonsending) func extent() async throws -> ListExtent
}

/// Which list a source has, and how far it goes.
public struct ListExtent: Sendable, Hashable, Codable {
  /// A short string of letters, digits and `-`, which is another one whenever the list is begun again;
  /// `nil` if there is no list yet, or if the source cannot tell its lists apart.
  public var identity: String?
  /// The position of the first element that can be read: 0, unless elements were discarded.
  public var first: Int
  /// The position after the last element.
  public var count: Int
  /// Whether the list has ended.
  public var isEnded: Bool

  /// Creates an extent.
  public init(identity: String?, first: Int = 0, count: Int, isEnded: Bool) {
    self.identity = identity
    self.first = first
    self.count = count
    self.isEnded = isEnded
  }
}

/// Some elements of a list, read from a source.
public struct ListPage<Element: Sendable>: Sendable {
  /// The elements, in order; none if the position has none yet.
  public var elements: [Element]
  /// Whether the list has ended, so that nothing ever follows these elements.
  public var isEnd: Bool

  /// Creates a page.
  public init(_ elements: [Element], isEnd: Bool = false) {
    self.elements = elements
    self.isEnd = isEnd
  }
}

extension ListPage: Equatable where Element: Equatable {}
extension ListPage: Codable where Element: Codable {}
