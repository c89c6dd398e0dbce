// Only a pull that first marks the state uses the source. While the lock is held and the state
// unmarked, no pull runs.
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

  // Guard: the claim of the list that is read. May touch it: the inspector that holds it.
  private struct Seen: @unchecked Sendable {
    let view: StageView
  }
}
