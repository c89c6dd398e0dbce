extension RecursiveTable {
  // MARK: The end of a computation

  /// Whether a computation runs again, and as whom; as nobody if its key was forgotten.
  @usableFromInline
  enum Verdict: Sendable {
    case hasEnded
    case again(Asker?)
  }

  /// A computation has ended. It begins again if what it asked for was forgotten, or has changed.
  @_alwaysEmitIntoClient
  mutating func finish(
    _ key: Key, _ load: Table.Load, as asker: Asker?, _ outcome: Table.Outcome, in task: UInt32,
    at now: Int64, _ leavings: inout Table.Leavings
  ) -> Verdict {
    let place = base.place(of: load)
    base.noteFailure(place, outcome, &leavings)
    guard let place else {
      guard let asker, graph.endForgotten(asker.number) else { return .hasEnded }
      base.noteLoad(key, &leavings)
      return .again(nil)
    }
    if graph.isOverturned(place) {
      base.noteLoad(key, &leavings)
      return .again(begin(place, in: task))
    }
    var isRenewed = false
    if case .renewing = base.slots[place] { isRenewed = true }
    let (isWithdrawn, date) = (base.ages.isWithdrawn(place), base.ages.date(of: place))
    switch base.end(place, outcome, at: now, &leavings) {
    case .settled:
      // A value that was evicted cannot be compared, and nothing says that it has changed.
      var isChanged = graph.freshness(of: place) != .fresh
      if isRenewed {
        isChanged = true
        if case .value(_, _, _, isEqual: true) = outcome { isChanged = graph.isUncompared(place) }
      }
      settle(
        place, load.number, isChanged: isChanged, isCompared: isRenewed,
        wasServed: isRenewed && !isWithdrawn, since: date)
    case .restored where isWithdrawn:
      graph.fail(place)
      if !isCompared(place) { base.remove(place, &leavings) }
    case .restored: graph.cancel(place)
    case .removed: graph.fail(place)
    }
    sweep(at: now, &leavings)
    return .hasEnded
  }

  /// There is a new result.
  @_alwaysEmitIntoClient
  mutating func settle(
    _ place: Int, _ load: UInt32, isChanged: Bool, isCompared: Bool, wasServed: Bool,
    since former: Int64
  ) {
    graph.settle(
      place, load: load, isChanged: isChanged, isCompared: isCompared, wasServed: wasServed)
    setDoubts(place, since: former)
    // It is late.
    if graph.freshness(of: place) != .fresh {
      graph.marked.append(place)
    } else {
      announcing = place
    }
  }

  /// The former value of a key, which the result of a computation is compared with.
  @_alwaysEmitIntoClient
  func former(of load: Table.Load) -> Value? {
    guard let place = base.place(of: load), isCompared(place),
      case .renewing(let renewal) = base.slots[place]
    else { return nil }
    return renewal.old
  }

  /// Whether the next value of a key is compared with the one that there is, because others were computed from
  /// that, and may still be right.
  @_alwaysEmitIntoClient
  func isCompared(_ place: Int) -> Bool { canCompare && graph.hasDependents(place) }

  // MARK: Expiry

  /// Tells those that were computed from a result whose lifetime has ended, or that of its inputs.
  @_alwaysEmitIntoClient
  mutating func expire(_ place: Int, at now: Int64, _ leavings: inout Table.Leavings) {
    let hasExpired = base.ages.hasExpired(place, at: now)
    guard hasExpired || base.ages.isDoubtful(place, at: now),
      graph.freshness(of: place) != .outdated
    else { return }
    switch base.slots[place] {
    case .value where !base.ages.isWithdrawn(place):
      if hasExpired {
        let isKept = canCompare && !graph.isUncompared(place)
        graph.outdate(place, isKept: isKept, hasExpired: true)
      } else {
        graph.doubt(place)
      }
      base.withdraw(place)
    case .none: graph.outdate(place, isKept: false, hasExpired: true)
    case .failure:
      graph.outdate(place, isKept: false, hasExpired: true)
      base.remove(place, &leavings)
    // It is not served, or is being computed.
    case .computing, .value, .renewing: break
    }
  }

  @_alwaysEmitIntoClient
  mutating func expireInputs(of place: Int, at now: Int64, _ leavings: inout Table.Leavings) {
    guard base.ages.isTimed else { return }
    for input in graph.inputs(of: place) where !input.sawNothing {
      expire(Int(input.place), at: now, &leavings)
    }
  }

  /// Notes from when on the inputs of a new result may have expired.
  @_alwaysEmitIntoClient
  mutating func setDoubts(_ place: Int, since former: Int64) {
    guard base.ages.isTimed else { return }
    var date = Int64.max
    for input in graph.inputs(of: place) where !input.sawNothing {
      date = min(date, base.ages.date(of: Int(input.place)))
    }
    base.ages.setDoubts(place, date)
    // Its dependents would notice too late.
    if base.ages.date(of: place) < former { graph.doubtDependents(of: place) }
  }

  /// Looks for two expired results, as the plain table does.
  @_alwaysEmitIntoClient
  mutating func sweep(at now: Int64, _ leavings: inout Table.Leavings) {
    guard base.ages.isTimed else { return }
    for _ in 0..<2 {
      guard let place = base.nextExpired(at: now) else { continue }
      expire(place, at: now, &leavings)
      if !isCompared(place) { base.remove(place, &leavings) }
    }
  }
}
