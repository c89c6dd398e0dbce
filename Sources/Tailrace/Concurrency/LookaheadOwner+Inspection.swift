// What is pulled ahead is pulled by whoever says so to the state first: as long as its lock is held and
// nobody has, nobody does.
extension LookaheadOwner: Upstream {
  func look(_ view: inout StageView) {
    let seen = lookahead.state.withLock { state in
      var seen = StageView()
      switch state.source {
      case .resting, .hesitating: lookahead.source.state.cursor.look(&seen)
      case .pulling: seen.isBusy = true
      case .over, .abandoned: break
      }
      return Seen(view: seen)
    }
    view.stages += seen.view.stages
    view.lists += seen.view.lists
    view.isBusy = view.isBusy || seen.view.isBusy
  }

  // Guard: the claim of the list that is read. May touch it: who looks, and holds it.
  private struct Seen: @unchecked Sendable {
    let view: StageView
  }
}
