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
