import TailraceLists

/// Stores a list: its elements, together with the state from which the next one is computed.
///
/// A store has two duties. It keeps everything it has taken, within its durability. It takes a
/// commit whole or not at all, and only at the end of the list. So a stopped list continues where
/// it stopped, whoever stopped it, and of two writers only one succeeds. See
/// `LazyList(storedIn:state:next:)`.
///
/// The store decides how elements become bytes or columns. `checkStore`, in TailraceTesting,
/// checks whether a store keeps its promises.
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
///   func waitForMore(than position: Int) async throws {
///     try await table.grows(beyond: position)
///   }
///   func extent() async throws -> ListExtent { await table.extent }
///   func acquireLease() async throws -> ListCheckpoint<Int>? { await table.checkpoint }
///   func append(_ commit: ListCommit<String, Int>, at position: Int) async throws {
///     guard await table.append(commit, ifCountIs: position)
///     else { throw ListStoreError.superseded }
///   }
/// }
/// ```
///
/// - Isolation: as of ``ListSource``. A list awaits one call before it makes the next.
public protocol ListStore<Element, State>: ListSource {
  /// The state from which the next element is computed.
  associatedtype State: Sendable

  /// Becomes the writer, if there is no other, and returns where the list stands.
  ///
  /// A store whose appends alone decide the winner, such as a database with transactions, may let
  /// everyone write. The writer may acquire it again, and then gets the list's present checkpoint.
  ///
  /// - Returns: count, state and end, all of the same moment; `nil` if there is another writer.
  nonisolated(nonsending) func acquireLease() async throws -> ListCheckpoint<State>?

  /// Stores a commit at the end of the list: all of it, or nothing.
  ///
  /// When this returns, the elements are as durable as the store makes them, and may be read.
  ///
  /// If it throws any error but `superseded`, the list keeps the commit. Several elements are then
  /// appended one by one, each with the state after it, up to the first that fails. That one is
  /// appended again at the next demand, together with those after it. A commit that is
  /// ``ListStoreError/tooLarge(fitting:)`` is appended in parts.
  ///
  /// - Parameters:
  ///   - commit: the elements, state and end to store.
  ///   - position: how many elements must be stored before it, exactly.
  /// - Throws: ``ListStoreError/superseded`` if another number of elements is stored, the list
  ///   has ended, or the lease was lost: then the other writer's elements count.
  nonisolated(nonsending) func append(
    _ commit: ListCommit<Element, State>, at position: Int
  ) async throws
}

/// Where a stored list stands; its next step begins here.
public struct ListCheckpoint<State: Sendable>: Sendable {
  /// How many elements are stored.
  public var count: Int
  /// The last stored state; `nil` if there is none.
  public var state: State?
  /// After how many elements that state was stored: `count`, unless later commits had no state.
  public var stateCount: Int
  /// Whether the list has ended.
  public var isEnded: Bool

  /// Creates a checkpoint.
  ///
  /// - Parameters:
  ///   - count: how many elements are stored.
  ///   - state: the last stored state; `nil` if there is none.
  ///   - stateCount: after how many elements that state was stored; by default all.
  ///   - isEnded: whether the list has ended.
  public init(count: Int, state: State?, stateCount: Int? = nil, isEnded: Bool) {
    self.count = count
    self.state = state
    self.stateCount = stateCount ?? (state == nil ? 0 : count)
    self.isEnded = isEnded
  }
}

extension ListCheckpoint: Equatable where State: Equatable {}

/// Elements and state that are stored together or not at all.
public struct ListCommit<Element: Sendable, State: Sendable>: Sendable {
  /// The elements, in order; none if the list only ends.
  public var elements: [Element]
  /// The state after these elements; `nil` if the last stored state stays valid, together with its
  /// element count.
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

/// A reason why a stored list could not be read or written.
///
/// A list does not keep the error: the next request tries again.
public enum ListStoreError: Error, Equatable, Sendable {
  /// Another writer holds the list. Stored elements can be read.
  case inUse
  /// An append lost against another writer's. The list takes the other elements instead. It throws
  /// this if it loses again at the same position, and there is no element to take.
  case superseded
  /// A commit of several elements has too many bytes for this store: it can have so many of the first
  /// ones. The list appends those, and then the others.
  case tooLarge(fitting: Int)
  /// The stored element at this position cannot be read any more.
  case damaged(at: Int)
  /// The store contains another schema.
  case otherSchema(found: String, expected: String)
  /// An earlier failure left the disk in an unknown state: this store writes no more. Open a new
  /// one to find out.
  case poisoned
  /// The elements before this position were discarded.
  case trimmed(first: Int)
  /// A list cannot be stored there, or cannot be continued, for the given reason.
  case refused(String)
}

extension ListStoreError: CustomStringConvertible {
  /// The error, and the remedy.
  public var description: String {
    switch self {
    case .inUse: "the list is being written by somebody else; it can be read, or followed"
    case .superseded: "somebody else has appended to the list at this position"
    case .tooLarge(let count):
      "a commit has too many bytes for this store, which takes the first \(count) of its elements at once"
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
