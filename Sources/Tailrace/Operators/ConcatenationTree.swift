import Synchronization

/// The lists that a concatenation consists of, as data: `a + b + c` is flattened by a loop when it
/// is evaluated, in linear time however it was nested. Trees share their branches.
@usableFromInline
final class ConcatenationTree<Element: Sendable>: @unchecked Sendable {
  /// A list, or as many of its first elements, all of them evaluated.
  @usableFromInline
  struct Leaf {
    @usableFromInline let list: LazyList<Element, any Error>
    @usableFromInline let count: Int
    /// The list may be a concatenation: when it became a piece somebody was just evaluating it.
    fileprivate let isBusy: Bool

    fileprivate init(
      _ list: LazyList<Element, any Error>, count: Int = .max, isBusy: Bool = false
    ) {
      self.list = list
      self.count = count
      self.isBusy = isBusy
    }
  }

  fileprivate enum Shape {
    case leaf(Leaf)
    case pair(ConcatenationTree, ConcatenationTree)
  }

  // Guard: changed in `deinit` only, by the last owner. May touch it: that owner, and readers.
  fileprivate var shape: Shape

  private init(_ shape: Shape) { self.shape = shape }

  fileprivate convenience init(_ leaf: Leaf) { self.init(.leaf(leaf)) }

  @usableFromInline
  static func pair(_ left: ConcatenationTree, _ right: ConcatenationTree) -> ConcatenationTree {
    ConcatenationTree(.pair(left, right))
  }

  /// The first piece, apart from the others.
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

  // Nested pairs are released in a loop.
  deinit {
    var pile = detached()
    while var top = pile.popLast() {
      if isKnownUniquelyReferenced(&top) { pile += top.detached() }
    }
  }

  /// Gives its parts away.
  private func detached() -> [ConcatenationTree] {
    guard case .pair(let left, let right) = shape else { return [] }
    shape = .leaf(Leaf(.empty))
    return [left, right]
  }
}

// MARK: The pieces of a list

extension ConcatenationTree {
  /// The pieces of a list. Those of a concatenation are the evaluated elements, as the list has them,
  /// and then what it has still to give: who appends to a list adds nothing to the way that the
  /// elements before it go.
  @usableFromInline
  static func of(_ list: consuming LazyList<Element, any Error>) -> ConcatenationTree {
    var list = list
    var rest = list
    var evaluated = 0
    // In front of a concatenation there may be a name, and prepended elements.
    for _ in 0..<8 {
      guard let segment = rest.segment else { break }
      let mark = segment.published.load(ordering: .acquiring)
      let known = mark.count - rest.offset
      guard known >= 0 else { break }
      if let evaluator = segment.owner, evaluator.task == nil, !mark.isClosed || known > 0 {
        guard evaluator.claim.take() else { return ConcatenationTree(Leaf(list, isBusy: true)) }
        defer { evaluator.letGo() }
        guard let (count, pieces) = evaluator.unevaluated(from: segment.start + rest.offset) else {
          break
        }
        evaluated += count
        return evaluated == 0
          ? pieces : .pair(ConcatenationTree(Leaf(list, count: evaluated)), pieces)
      }
      guard mark.isClosed, case .more(let next, let start) = segment.link else { break }
      rest = LazyList(segment: next, offset: start)
      evaluated += known
      if evaluated == 0 { list = rest }
    }
    return ConcatenationTree(Leaf(list))
  }
}

extension Evaluator {
  /// How many elements behind a position a concatenation has given, and the pieces of the others;
  /// `nil` if this is none, is over, or has not come that far. For the holder of the claim.
  fileprivate nonisolated func unevaluated(
    from position: Int
  ) -> (evaluated: Int, pieces: ConcatenationTree<Element>)? {
    guard let concatenation = producer?.concatenation, concatenation.given >= position,
      let pieces = concatenation.pieces()
    else { return nil }
    return (concatenation.given - position, pieces)
  }
}

// MARK: Taking them apart

/// What a concatenation has still to give: the list in front, and the pieces behind it.
// Guard: reached through one producer only, so the producer's guard is this one's.
// May touch it: that producer's closure; the holder of the claim under which that would run.
@usableFromInline
final class Concatenation<Element: Sendable>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline var front: Cursor<Element>?
  /// How many elements of the list in front are part of this one.
  @exclusivity(unchecked) @usableFromInline private(set) var left = Int.max
  @exclusivity(unchecked) private var rest: ConcatenationTree<Element>?
  /// How many elements it has given since it has had cells of its own: the position of its next.
  @exclusivity(unchecked) @usableFromInline var given = 0

  @usableFromInline
  init(_ pieces: ConcatenationTree<Element>) { rest = pieces }

  /// The list in front has given some, and this many are left.
  @usableFromInline
  func gave(downTo left: Int) {
    given += self.left - left
    if self.left != .max { self.left = left }
  }

  /// Takes the next list out; `nil` when there is none.
  @usableFromInline
  func pop() -> LazyList<Element, any Error>? {
    guard let first = rest.take() else { return nil }
    var leaf = first.taken(before: &rest)
    if leaf.isBusy { leaf = ConcatenationTree.of(leaf.list).taken(before: &rest) }
    left = leaf.count
    return leaf.list
  }

  /// Whether the list that was taken out last is all that there is.
  @usableFromInline var isLast: Bool { rest == nil && left == .max }

  /// All that is left. The list in front has cells from now on, to share.
  fileprivate func pieces() -> ConcatenationTree<Element>? {
    guard let list = front?.rest, list.segment != nil else { return rest }
    let first = ConcatenationTree(ConcatenationTree.Leaf(list, count: left))
    return rest.map { .pair(first, $0) } ?? first
  }
}

// MARK: Looking

extension Concatenation: Upstream {
  func look(_ view: inout StageView) {
    front?.look(&view)
    guard let rest else { return }
    var pile = [rest]
    while let pieces = pile.popLast(), view.lists.count < Sketch.limit {
      switch pieces.shape {
      case .leaf(let leaf): view.lists.append((leaf.list, false))
      case .pair(let left, let right): pile += [right, left]
      }
    }
  }
}
