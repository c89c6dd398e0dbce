/// What every store has to keep, and `checkStore` looks at.
public enum StoreRule: String, Sendable, CaseIterable, Hashable {
  /// A new store has no elements, no state and no end.
  case beginsEmpty = "a new store has no elements, no state and no end"
  /// A read gives the elements from the position on, in order, at most as many as were asked for,
  /// and none only if there are none.
  case readsInOrder =
    "a read gives what was appended, in order, from any position, and no more than was asked for"
  /// A page says that the list has ended if it reaches the end of a list that has, and not before.
  case tellsTheEnd = "the end is told by the page that reaches it, and by no other"
  /// An end without elements is stored as any commit.
  case storesAnEmptyEnd = "a commit of no elements can end the list"
  /// A commit is stored only where exactly as many elements are stored as it says, before the end.
  case appendsAtTheEndOnly =
    "a commit is superseded unless it is appended exactly where the list ends"
  /// Of several appends at one position, one wins, and the others are superseded.
  case hasOneWinner = "of appends that race, one wins, and the others are superseded"
  /// A claim that others have gone past since is good for nothing.
  case refusesStaleClaims = "who claimed before others appended is superseded"
  /// Nobody sees a part of a commit.
  case storesCommitsWhole = "nobody sees a part of a commit"
  /// Count and state of a checkpoint are of the same moment.
  case claimsOneSnapshot = "the state of a checkpoint is the one after its last element"
  /// A commit without a state leaves the state, and the count that it came after.
  case keepsTheState =
    "a commit without a state leaves the last one valid, and says after how many elements it was"
  /// Who waits is woken by an append and by the end, and does not wait for what is there.
  case wakesThoseWhoWait = "who waits for more comes back when there is more, or the end"
  /// Who waits comes back when its task is cancelled.
  case letsCancelledOnesGo = "who waits comes back when its task is cancelled"
  /// An append that is cancelled is there as a whole, or not at all, and the list goes on.
  case survivesCancellation = "an append that is cancelled is stored whole, or not at all"
  /// Who opens the store anew finds what was appended.
  case isThereForOthers = "who opens the store anew finds what was stored"
}

/// How a store breaks a rule.
public struct StoreFault: Sendable, Hashable, CustomStringConvertible {
  /// The rule.
  public let rule: StoreRule
  /// What was seen, and what should have been.
  public let observation: String

  /// The rule, and what was seen.
  public var description: String { "\(rule.rawValue): \(observation)" }
}

/// The faults of a store, as `checkStore` throws them.
public struct StoreFaults: Error, CustomStringConvertible {
  /// One for each thing that was seen.
  public let faults: [StoreFault]

  /// The rules that are broken.
  public var rules: Set<StoreRule> { Set(faults.map(\.rule)) }

  /// All faults, one a line.
  public var description: String {
    (["the store breaks \(rules.count) of \(StoreRule.allCases.count) rules:"]
      + faults.map { "- \($0)" }).joined(separator: "\n")
  }
}
