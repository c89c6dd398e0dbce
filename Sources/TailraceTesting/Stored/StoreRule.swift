/// The rules for every store, which `checkStore` checks.
public enum StoreRule: String, Sendable, CaseIterable, Hashable {
  /// A new store has no elements, no state and no end.
  case beginsEmpty = "a new store has no elements, no state and no end"
  /// A read gives the elements from the position on, in order, at most as many as requested, and
  /// none only if there are none.
  case readsInOrder =
    "a read gives what was appended, in order, from any position, and no more than was asked for"
  /// An element never changes, whoever acquires the lease, appends or ends the list.
  case keepsElements = "an element that was read once is the same at each later read"
  /// A page reports the end if it reaches the end of an ended list, and not before.
  case tellsTheEnd = "the end is told by the page that reaches it, and by no other"
  /// An end without elements is stored like any commit.
  case storesAnEmptyEnd = "a commit of no elements can end the list"
  /// A commit is stored only if exactly as many elements are stored as it states, before the end.
  case appendsAtTheEndOnly =
    "a commit is superseded unless it is appended exactly where the list ends"
  /// Of several appends at one position, one wins, and the others are superseded.
  case hasOneWinner = "of appends that race, one wins, and the others are superseded"
  /// A lease is void once others have appended.
  case refusesStaleLeases = "whose lease is older than what others have appended is superseded"
  /// Who was superseded finds the other's element at that position, and can append after a lease.
  case goesOnWhenSuperseded =
    "who was superseded finds another's element there, and can append behind its next lease"
  /// No reader sees a part of a commit.
  case storesCommitsWhole = "nobody sees a part of a commit"
  /// Count and state of a checkpoint belong to the same moment.
  case leaseIsOneSnapshot = "the state of a checkpoint is the one after its last element"
  /// A commit without a state keeps the last state and its element count.
  case keepsTheState =
    "a commit without a state leaves the last one valid, and says after how many elements it was"
  /// A waiting call is woken by an append and by the end, and does not wait for existing elements.
  case wakesThoseWhoWait = "who waits for more comes back when there is more, or the end"
  /// A waiting call returns when its task is cancelled.
  case letsCancelledOnesGo = "who waits comes back when its task is cancelled"
  /// A cancelled append is stored whole or not at all, and the list continues.
  case survivesCancellation = "an append that is cancelled is stored whole, or not at all"
  /// A store that is opened again has everything that was appended.
  case isThereForOthers = "who opens the store anew finds what was stored"
  /// An extent counts what is stored, and each list has an identity that stays. A store that gives none
  /// promises nothing about it.
  case tellsItsExtent =
    "an extent has the first element, the count and the end of the list, and an identity of its own"
  /// Discarded elements are told to those who read them, and all others keep their positions.
  case trimsTheBeginning =
    "a read of discarded elements names the first one kept, and no position changes"
}

/// A broken rule.
public struct StoreFault: Sendable, Hashable, CustomStringConvertible {
  /// The rule.
  public let rule: StoreRule
  /// The observation, and what was expected.
  public let observation: String

  /// The rule and the observation.
  public var description: String { "\(rule.rawValue): \(observation)" }
}

/// The faults of a store; `checkStore` throws them.
public struct StoreFaults: Error, CustomStringConvertible {
  /// One for each observation.
  public let faults: [StoreFault]

  /// The broken rules.
  public var rules: Set<StoreRule> { Set(faults.map(\.rule)) }

  /// All faults, one per line.
  public var description: String {
    (["the store breaks \(rules.count) of \(StoreRule.allCases.count) rules:"]
      + faults.map { "- \($0)" }).joined(separator: "\n")
  }
}
