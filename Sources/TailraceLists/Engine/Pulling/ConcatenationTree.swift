/// The lists of a concatenation, as data. A loop flattens `a + b + c` when it is evaluated, in
/// linear time for any nesting. Trees share their branches.
@usableFromInline
final class ConcatenationTree<Element: Sendable>: @unchecked Sendable {
  /// A list, or its first evaluated elements, up to a count.
  @usableFromInline
  struct Leaf {
    @usableFromInline let place: Place<Element>
    @usableFromInline let count: Int
    /// The list may be a concatenation that was being evaluated when it became a piece.
    fileprivate let isBusy: Bool

    fileprivate init(
      _ place: Place<Element>, count: Int = .max, isBusy: Bool = false
    ) {
      self.place = place
      self.count = count
      self.isBusy = isBusy
    }
  }

  enum Shape {
    case leaf(Leaf)
    case pair(ConcatenationTree, ConcatenationTree)
  }

  // Guard: changed only in `deinit`, by the last owner. May touch it: that owner, and readers.
  var shape: Shape

  private init(_ shape: Shape) { self.shape = shape }

  fileprivate convenience init(_ leaf: Leaf) { self.init(.leaf(leaf)) }

  @usableFromInline
  static func pair(_ left: ConcatenationTree, _ right: ConcatenationTree) -> ConcatenationTree {
    ConcatenationTree(.pair(left, right))
  }

  /// Returns the first piece, and the others in `rest`.
  fileprivate func taken(before rest: inout ConcatenationTree?) -> Leaf {
    var first = self
    while true {
      switch first.shape {
      case .leaf(let leaf): return leaf
      case .pair(let left, let right):
        rest = rest.map { .pair(right, $0) } ?? right
        first = left
      }
    }
  }

  // Nested pairs are released in a loop. Most trees are not nested, and need not make its array, which
  // is slow: this code is not specialised.
  deinit {
    if !isNested { return }
    var pending = detached()
    while var top = pending.popLast() {
      if isKnownUniquelyReferenced(&top) { pending += top.detached() }
    }
  }

  // Is a property because `deinit` must not retain the branches.
  private var isNested: Bool {
    guard case .pair(let left, let right) = shape else { return false }
    return left.isPair || right.isPair
  }

  private var isPair: Bool { if case .pair = shape { true } else { false } }

  /// Moves its parts out.
  private func detached() -> [ConcatenationTree] {
    guard case .pair(let left, let right) = shape else { return [] }
    shape = .leaf(Leaf(Place(segment: nil, offset: 0)))
    return [left, right]
  }
}

// MARK: The pieces of a list

extension ConcatenationTree {
  /// The pieces of a list. Those of a concatenation are its evaluated elements, and then its
  /// unevaluated pieces. So appending to a list adds nothing to the path of the elements before.
  @usableFromInline
  static func of(_ list: consuming Place<Element>) -> ConcatenationTree {
    var list = list
    var rest = list
    var evaluated = 0
    // A name, and prepended elements, may precede a concatenation.
    for _ in 0..<8 {
      guard let segment = rest.segment else { break }
      let mark = segment.mark
      let known = mark.count - rest.offset
      guard known >= 0 else { break }
      if let evaluator = segment.owner, !mark.isClosed || known > 0 {
        guard let held = evaluator.claim.take() else {
          return ConcatenationTree(Leaf(list, isBusy: true))
        }
        let unevaluated = evaluator.unevaluated(from: rest.offset, of: segment, held)
        evaluator.letGo(held)
        guard let (count, pieces) = unevaluated else { break }
        evaluated += count
        return evaluated == 0
          ? pieces : .pair(ConcatenationTree(Leaf(list, count: evaluated)), pieces)
      }
      guard mark.isClosed, case .more(let next, let start) = segment.link
      else { break }
      rest = Place(segment: next, offset: start)
      evaluated += known
      if evaluated == 0 { list = rest }
    }
    return ConcatenationTree(Leaf(list))
  }
}

extension Evaluator {
  /// The number of elements that a concatenation has given after a position, and its unevaluated
  /// pieces; `nil` if this is no concatenation, has ended, or has not got that far.
  fileprivate nonisolated func unevaluated(
    from offset: Int, of segment: Cells, _ held: borrowing Held
  ) -> (evaluated: Int, pieces: ConcatenationTree<Element>)? {
    let position = segment.start + offset
    guard let concatenation = producer?.concatenation, concatenation.given >= position,
      let pieces = concatenation.pieces()
    else { return nil }
    return (concatenation.given - position, pieces)
  }
}

// MARK: Taking them apart

/// The unevaluated rest of a concatenation: the list in front, and the pieces after it.
// Guard: only one producer reaches it, so the producer's guard is this one's.
// May touch it: that producer's closure; the holder of the claim that would run it.
@usableFromInline
package final class Concatenation<Element: Sendable>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline package var front: Cursor<Element>?
  /// The number of elements of the front list that are part of this one.
  @exclusivity(unchecked) @usableFromInline private(set) var left = Int.max
  @exclusivity(unchecked) private(set) var rest: ConcatenationTree<Element>?
  /// The number of elements given since it has had cells: the position of the next.
  @exclusivity(unchecked) @usableFromInline var given = 0

  @usableFromInline
  init(_ pieces: ConcatenationTree<Element>) { rest = pieces }

  /// The front list has given some elements; this many are left.
  @usableFromInline
  func gave(downTo left: Int) {
    given += self.left - left
    if self.left != .max { self.left = left }
  }

  /// Takes the next list out; `nil` if there is none.
  @usableFromInline
  func pop() -> Place<Element>? {
    guard let first = rest.take() else { return nil }
    var leaf = first.taken(before: &rest)
    if leaf.isBusy { leaf = ConcatenationTree.of(leaf.place).taken(before: &rest) }
    left = leaf.count
    return leaf.place
  }

  /// Whether the list taken out last is the only one left.
  @usableFromInline var isLast: Bool { rest == nil && left == .max }

  /// All that is left. From now on the front list has cells to share.
  fileprivate func pieces() -> ConcatenationTree<Element>? {
    guard let list = front?.rest, list.segment != nil else { return rest }
    let first = ConcatenationTree(ConcatenationTree.Leaf(list, count: left))
    return rest.map { .pair(first, $0) } ?? first
  }
}
