/// What keeps a list: its elements, and the state from which the next one is computed, together.
///
/// A store has two duties. What it has taken stays, in its own sense of durability; and it takes a
/// commit whole or not at all, and only where the list ends. Then a list goes on where it stopped,
/// whoever stopped it, and two writers cannot both be right. See
/// ``LazyList/init(storedIn:from:state:atTail:file:line:next:)``.
///
/// How elements become bytes, or columns, is the store's business. `checkStore`, in
/// TailraceTesting, tells whether a store keeps what it promises.
///
/// ```swift
/// /// A list in a table: what a store comes to.
/// struct TableStore: ListStore {
///   let table: Table   // compares and appends in one transaction
///
///   func read(from position: Int, upTo count: Int) async throws -> ListPage<String> {
///     let (rows, isComplete) = await table.rows(from: position, upTo: count)
///     return ListPage(rows, isEnd: isComplete)
///   }
///   func waitForMore(than position: Int) async throws { try await table.grows(beyond: position) }
///   func claim() async throws -> ListCheckpoint<Int>? { await table.checkpoint }
///   func append(_ commit: ListCommit<String, Int>, at position: Int) async throws {
///     guard await table.append(commit, ifCountIs: position) else { throw ListStoreError.superseded }
///   }
/// }
/// ```
///
/// - Isolation: as that of ``ListSource``. A list awaits one call before it makes the next.
public protocol ListStore<Element, State>: ListSource {
  /// From what the next element is computed.
  associatedtype State: Sendable

  /// Becomes the writer, if nobody else is, and says where the list stands.
  ///
  /// A store in which appending alone decides who was first, such as a database with transactions,
  /// may let everybody write. The writer may claim again, and is told where the list stands then.
  ///
  /// - Returns: count, state and end as they are together, at one moment; `nil` if somebody else
  ///   writes.
  nonisolated(nonsending) func claim() async throws -> ListCheckpoint<State>?

  /// Stores a commit at the end of the list: all of it, or nothing.
  ///
  /// When this returns, the elements are as durable as the store makes them, and may be given out.
  /// Where it throws anything but `superseded`, the list appends the same commit again at the next
  /// demand.
  ///
  /// - Parameters:
  ///   - commit: what is stored.
  ///   - position: how many elements must be stored before it, no more and no fewer.
  /// - Throws: ``ListStoreError/superseded`` if another number of elements is stored, if the list
  ///   has ended, or if the claim was lost: then somebody else's elements are the elements.
  nonisolated(nonsending) func append(
    _ commit: ListCommit<Element, State>, at position: Int
  ) async throws
}

/// Where a stored list stands: what its next step begins with.
public struct ListCheckpoint<State: Sendable>: Sendable {
  /// How many elements are stored.
  public var count: Int
  /// The last state that was stored; `nil` if none ever was.
  public var state: State?
  /// After how many elements that state was: `count`, unless later commits had no state.
  public var stateCount: Int
  /// Whether the list has ended.
  public var isEnded: Bool

  /// Creates a checkpoint.
  ///
  /// - Parameters:
  ///   - count: how many elements are stored.
  ///   - state: the last state that was stored; `nil` if none ever was.
  ///   - stateCount: after how many elements that state was; all of them, if nothing is said.
  ///   - isEnded: whether the list has ended.
  public init(count: Int, state: State?, stateCount: Int? = nil, isEnded: Bool) {
    self.count = count
    self.state = state
    self.stateCount = stateCount ?? (state == nil ? 0 : count)
    self.isEnded = isEnded
  }
}

extension ListCheckpoint: Equatable where State: Equatable {}

/// What is stored at once, or not at all.
public struct ListCommit<Element: Sendable, State: Sendable>: Sendable {
  /// The elements, in order; none where the list only ends.
  public var elements: [Element]
  /// The state after these elements; `nil` if the last one that is stored stays valid, together
  /// with the number of elements that it came after.
  public var state: State?
  /// Whether the list ends with these elements.
  public var isEnd: Bool

  /// Creates a commit.
  public init(_ elements: [Element], state: State?, isEnd: Bool = false) {
    self.elements = elements
    self.state = state
    self.isEnd = isEnd
  }
}

extension ListCommit: Equatable where Element: Equatable, State: Equatable {}

/// Why a stored list could not be read or written.
///
/// A list does not remember it: the next demand tries again.
public enum ListStoreError: Error, Equatable, Sendable {
  /// Somebody else writes the list. What is stored can be read.
  case inUse
  /// What was to be appended lost against what somebody else has appended; a list takes that
  /// instead.
  case superseded
  /// The element at this position was stored, and cannot be read any more.
  case damaged(at: Int)
  /// What is stored there is something else.
  case otherSchema(found: String, expected: String)
  /// It is not known what an earlier failure has left on the disk: this store writes no more. A new
  /// one finds out.
  case poisoned
  /// The elements before this position are not kept any more.
  case trimmed(first: Int)
  /// A list cannot be stored there, for the reason that is given.
  case refused(String)
}

extension ListStoreError: CustomStringConvertible {
  /// What happened, and what can be done about it.
  public var description: String {
    switch self {
    case .inUse: "the list is being written by somebody else; it can be read, or followed"
    case .superseded: "somebody else has appended to the list at this position"
    case .damaged(let position): "the stored list is damaged at element \(position)"
    case .otherSchema(let found, let expected):
      "a list of \(expected) was expected, and a list of \(found) is stored there"
    case .poisoned:
      "an earlier write may or may not have reached the disk: open the list anew to go on"
    case .trimmed(let first): "the elements before \(first) are not kept any more"
    case .refused(let why): why
    }
  }
}
