// What a diagram sees of the engine: all of it is read, and nothing is computed.

extension Segment {
  /// What follows the cells of a segment.
  package enum Following {
    /// Cells that are not computed yet.
    case unresolved
    case end
    case failed(any Error)
    case more(Segment, Int)
  }

  /// The name of the list that begins here, the position of the first cell, the number of cells, and what
  /// follows them.
  package var drawn: (name: String?, start: Int, count: Int, following: Following) {
    let mark = mark
    guard mark.isClosed else { return (label?.text, start, mark.count, .unresolved) }
    let following: Following =
      switch link {
      case .end: .end
      case .failed(let failure): .failed(failure)
      case .more(let next, let index): .more(next, index)
      }
    return (label?.text, start, mark.count, following)
  }
}

extension Evaluator {
  package nonisolated var drawnName: String? { name.load()?.text }
  package nonisolated var drawnStage: String? { stage?.text }
  /// Whether an asynchronous step runs, or is suspended.
  package nonisolated var isInStep: Bool { steps?.isComputing == true }

  /// Whether nothing can read further elements.
  package nonisolated var isOver: Bool { isAbandoned }

  /// Lends the producer, which does not run meanwhile. False if it runs.
  package nonisolated func lendProducer(_ body: (Producer<Element>?) -> Void) -> Bool {
    guard let held = claim.take() else { return false }
    body(producer)
    letGo(held)
    return true
  }
}

extension Producer {
  /// Whether an asynchronous step runs, or is suspended.
  package var isComputing: Bool { steps?.isComputing == true }
}

extension Cursor {
  /// What the next pull reads.
  package enum Drawn {
    case producer(Producer<Element>)
    /// A list, and whether its producer would be taken over: its elements are not visible elsewhere.
    case list(Place<Element>, isTakenOver: Bool)
  }

  /// `nil` at the end. It is `mutating` to see other references to the list; nothing is changed.
  package var drawn: Drawn? {
    mutating get {
      if let producer { return .producer(producer) }
      guard var segment = segment.take() else { return nil }
      let mark = segment.mark
      let isTakenOver =
        takesOver && isKnownUniquelyReferenced(&segment) && !mark.isClosed
        && segment.owner != nil && index == mark.count
      let place = Place(segment: segment, offset: index)
      self.segment = segment
      return .list(place, isTakenOver: isTakenOver)
    }
  }
}

extension Concatenation {
  /// The lists after the one in front: at most about that many.
  package func places(atMost limit: Int) -> [Place<Element>] {
    var places: [Place<Element>] = []
    var pile = rest.map { [$0] } ?? []
    while let pieces = pile.popLast(), places.count < limit {
      switch pieces.shape {
      case .leaf(let leaf): places.append(leaf.place)
      case .pair(let left, let right): pile += [right, left]
      }
    }
    return places
  }
}
