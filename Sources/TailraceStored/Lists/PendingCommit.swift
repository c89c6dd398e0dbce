import TailraceLists

/// Elements that are computed and not stored yet, each with the state after it.
///
/// They are stored as one commit; in parts if that is too large; or, if it fails, one by one.
@usableFromInline
struct PendingCommit<Element: Sendable, State: Sendable>: Sendable {
  /// All elements, with the state after the last one.
  @usableFromInline var commit: ListCommit<Element, State>
  /// The states after the elements before the last one: none, and no memory, for one element.
  @usableFromInline var earlierStates: [State?] = []
  /// Why the first element could not be stored, if no reader has been told yet.
  @usableFromInline var failure: (any Error)?

  @_alwaysEmitIntoClient
  init(_ commit: ListCommit<Element, State>) { self.commit = commit }

  @_alwaysEmitIntoClient
  mutating func append(_ step: StoredStep<Element, State>) {
    earlierStates.append(commit.state)
    commit.elements.append(step.element)
    commit.state = step.state
  }

  /// Some of the elements, as a commit of their own.
  @usableFromInline
  func part(_ range: Range<Int>) -> ListCommit<Element, State> {
    let isLast = range.upperBound == commit.elements.count
    return ListCommit(
      Array(commit.elements[range]),
      state: isLast ? commit.state : earlierStates[range.upperBound - 1],
      isEnd: isLast && commit.isEnd)
  }

  /// The first elements were stored, but not the last one.
  @usableFromInline
  mutating func didStore(_ count: Int) {
    commit.elements.removeFirst(count)
    earlierStates.removeFirst(count)
  }
}
