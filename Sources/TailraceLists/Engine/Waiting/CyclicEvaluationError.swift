/// An element, or the value of a key, needs itself, directly or through others.
///
/// Thrown if the list's `Failure` is `any Error`. A list that cannot fail traps with the same text,
/// because an endless wait would be worse.
///
/// ```swift
/// let list = LazyList<Int, any Error>.recursive { list in list.map { $0 + 1 } }
///   .named("naturals")
/// try await list.head()
/// // throws: element 0 of a LazyList needs itself: "naturals" → "naturals"; give its definition …
///
/// let ranks = Memos<Int, Int, any Error>.recursive { ranks, key in
///   try await ranks.value(for: 3 - key) + 1
/// }
/// try await ranks.value(for: 1)
/// // throws: the value of Memos[1] needs itself: Memos[1] → Memos[2] → Memos[1]; give …
/// ```
public struct CyclicEvaluationError: Error, Equatable, CustomStringConvertible {
  /// The names of the lists. Each waits for the next, the last for the first. A key of memos has a
  /// name such as `Memos[3]`.
  public var lists: [String] { titles.map(\.text) }
  /// The position of the element that needs itself, counted from the first element of the first
  /// list; 0 for a key.
  public let position: Int

  private let titles: [Title]

  @usableFromInline
  init(lists: [Title], position: Int) {
    titles = lists
    self.position = position
  }

  /// An element of a list that waits for the next one in a cycle.
  @usableFromInline typealias Place = (list: Title, position: Int)

  /// The cycle, from the first named list on; without one, from the list that has given most
  /// elements. Its reader knows that list. A position in another one, such as the `map` of its
  /// tail, would look like an element that exists.
  init(through places: [Place]) {
    var most = 0
    var named: Int?
    for (index, place) in places.enumerated() {
      if place.position > places[most].position { most = index }
      if named == nil, !place.list.text.hasPrefix(Self.unnamed) { named = index }
    }
    let first = named ?? most
    // Not of slices: each of their functions would be in every program once more.
    var cycle: [Title] = []
    for step in places.indices { cycle.append(places[(first + step) % places.count].list) }
    self.init(lists: cycle, position: places[first].position)
  }

  /// The prefix of the title of an unnamed list.
  private static let unnamed = "LazyList"

  /// The lists and the position, or the keys, in a sentence.
  public var description: String {
    let path = (titles + titles.prefix(1)).map { $0.remedy == nil ? "\"\($0)\"" : $0.text }
      .joined(separator: " → ")
    guard let first = titles.first, let remedy = first.remedy else {
      return "element \(position) of a LazyList needs itself: \(path); give its definition a first "
        + "element that does not depend on the rest"
    }
    return "the value of \(first) needs itself: \(path); \(remedy)"
  }
}
