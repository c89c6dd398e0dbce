import Synchronization

/// The lists that a concatenation consists of, as data: `a + b + c` is flattened by a loop when it
/// is evaluated, in linear time however it was nested.
@usableFromInline
final class Pieces<Element: Sendable, Failure: Error>: @unchecked Sendable {
  private enum Shape {
    case leaf(LazyList<Element, Failure>)
    case pair(Pieces, Pieces)
  }

  // Guard: changed in `deinit` only, by the last owner. May touch it: that owner, and readers.
  private var shape: Shape

  private init(_ shape: Shape) { self.shape = shape }

  /// The pieces of a list: its own if it is a concatenation that nobody has begun to evaluate.
  @usableFromInline
  static func of(_ list: consuming LazyList<Element, Failure>) -> Pieces {
    if list.offset == 0, let segment = list.segment,
      segment.published.load(ordering: .acquiring) == Published(count: 0),
      let pieces = segment.source.evaluator?.unevaluatedPieces()
    {
      return pieces
    }
    return Pieces(.leaf(list))
  }

  @usableFromInline
  static func pair(_ left: Pieces, _ right: Pieces) -> Pieces { Pieces(.pair(left, right)) }

  /// Takes a pile of pieces apart until a single list is on top; `nil` when it is empty.
  @usableFromInline
  static func popList(_ pile: inout [Pieces]) -> LazyList<Element, Failure>? {
    while let top = pile.popLast() {
      switch top.shape {
      case .leaf(let list): return list
      case .pair(let left, let right):
        pile.append(right)
        pile.append(left)
      }
    }
    return nil
  }

  // Nested pairs are released in a loop.
  deinit {
    var pile = detached()
    while var top = pile.popLast() {
      if isKnownUniquelyReferenced(&top) { pile += top.detached() }
    }
  }

  /// Gives its parts away.
  private func detached() -> [Pieces] {
    guard case .pair(let left, let right) = shape else { return [] }
    shape = .leaf(.empty)
    return [left, right]
  }
}

extension Evaluator {
  /// The pieces of a concatenation that has not been evaluated at all.
  nonisolated func unevaluatedPieces() -> Pieces<Element, Failure>? {
    guard claim.take() else { return nil }
    defer { letGo() }
    return pieces
  }
}
