/// An element needs itself, directly or through other lists.
///
/// Thrown where the list's `Failure` is `any Error`; a list that cannot fail traps with the same
/// text instead, because an endless wait would be worse.
///
/// ```swift
/// let list = LazyList<Int, any Error>.recursive { list in list.map { $0 + 1 } }.named("naturals")
/// try await list.head()
/// // throws: element 0 of a LazyList needs itself: "naturals" → "naturals"; give its definition …
/// ```
public struct CyclicEvaluationError: Error, Equatable, CustomStringConvertible {
  /// The names of the lists, each waiting for the next, the last for the first.
  public let lists: [String]
  /// The position in the first list, counted from its first element, of the element that needs
  /// itself.
  public let position: Int

  @usableFromInline
  init(lists: [String], position: Int) {
    self.lists = lists
    self.position = position
  }

  /// An element of a list that waits for the next one in a cycle.
  @usableFromInline typealias Place = (list: String, position: Int)

  /// The cycle, told from the first list that has a name; where none has, from the one that has given
  /// most elements. That is the list that its reader knows: the position in another one, such as the
  /// `map` of its tail, would be taken for an element that is there.
  init(through places: [Place]) {
    let most = places.indices.max { places[$0].position < places[$1].position } ?? 0
    let first = places.firstIndex { !$0.list.hasPrefix(Self.unnamed) } ?? most
    let cycle = places[first...] + places[..<first]
    self.init(lists: cycle.map(\.list), position: places[first].position)
  }

  /// With this begins what a list without a name is called.
  private static let unnamed = "LazyList"

  /// The lists and the position, in a sentence.
  public var description: String {
    let path = (lists + lists.prefix(1)).map { "\"\($0)\"" }.joined(separator: " → ")
    return "element \(position) of a LazyList needs itself: \(path); give its definition a first "
      + "element that does not depend on the rest"
  }
}
