// Properties of a list that evaluate nothing.
extension LazyList {
  /// The number of elements, from the head on, that are computed.
  ///
  /// ```swift
  /// let list = LazyList(1...)
  /// _ = await list.element(at: 2)
  /// list.evaluatedCount   // 3
  /// ```
  ///
  /// They are in memory for as long as this list is retained.
  ///
  /// - Complexity: O(*segments*).
  public var evaluatedCount: Int {
    var count = 0
    for run in EvaluatedRuns(self) { count += run.count }
    return count
  }

  /// The elements, from the head on, that are computed.
  ///
  /// ```swift
  /// let list = LazyList(1...)
  /// _ = await list.element(at: 2)
  /// list.evaluatedPrefix   // [1, 2, 3]
  /// ```
  public var evaluatedPrefix: [Element] {
    var elements: [Element] = []
    for run in EvaluatedRuns(self) { elements.append(contentsOf: run.cells) }
    return elements
  }

  /// The head, if it is evaluated where the list points to.
  @_alwaysEmitIntoClient @inline(__always)
  var evaluatedHead: Element? {
    guard segment != nil else { return nil }
    // This list retains it: counting references would be three quarters of the time.
    return Unmanaged.passUnretained(segment.unsafelyUnwrapped)._withUnsafeGuaranteedRef {
      $0.mark.count > offset ? $0[offset] : nil
    }
  }

  /// The name given with ``named(_:)`` to a list that starts at this head.
  public var name: String? { segment?.label?.text }

  /// Returns this list with a name, for descriptions and errors.
  ///
  /// ```swift
  /// print(LazyList(1...3).named("numbers").debugDescription)
  /// // "numbers": [… unresolved]
  /// ```
  ///
  /// - Laziness: deferred.
  /// - Complexity: O(1). The cells are shared; their evaluator keeps the first name that it gets.
  ///
  /// Replaces `-setNameWithFormat:`.
  public consuming func named(_ name: String) -> LazyList {
    let label = ListName(Title(name))
    segment?.evaluator?.name(label)
    let link: Link<Element> = segment.map { .more($0, offset) } ?? .end
    return LazyList(
      segment: Segment(evaluated: EmptyCollection(), link: link, label: label), offset: 0)
  }
}

extension LazyList: CustomStringConvertible, CustomDebugStringConvertible {
  /// The computed elements, with `…` for a rest that is not computed yet: `[1, 2, …]`. It computes nothing.
  ///
  /// ```swift
  /// let list = LazyList(1...)
  /// _ = await list.element(at: 1)
  /// print(list)   // [1, 2, …]
  /// ```
  public var description: String {
    var (items, rest) = evaluatedItems
    if case .end = rest {} else { items.append("…") }
    return "[\(items.joined(separator: ", "))]"
  }

  /// As `description`, with the name and the state of the rest: `unresolved`, `computing`, or the
  /// error that it failed with.
  public var debugDescription: String {
    var (items, rest) = evaluatedItems
    switch rest {
    case .end: break
    case .unresolved: items.append("… unresolved")
    case .computing: items.append("… computing")
    case .failed(let failure): items.append("… failed: \(failure)")
    }
    let name = name.map { "\"\($0)\": " } ?? ""
    return "\(name)[\(items.joined(separator: ", "))]"
  }

  /// The evaluated elements, and the state after the last of them. From one walk: the list may go on
  /// meanwhile.
  private var evaluatedItems: (items: [String], rest: EvaluatedRuns<Element, Failure>.Rest) {
    var runs = EvaluatedRuns(self)
    var items: [String] = []
    while let run = runs.next() { items += run.cells.map { String(reflecting: $0) } }
    return (items, runs.state)
  }
}

/// The evaluated elements, one run per segment.
package struct EvaluatedRuns<Element: Sendable, Failure: Error>: Sequence, IteratorProtocol {
  package enum Rest {
    case end
    case unresolved
    case computing
    case failed(any Error)
  }

  private var segment: Segment<Element>?
  private var offset: Int
  /// A list may continue with itself; its evaluated elements then have no end.
  private var seen: Set<ObjectIdentifier> = []
  /// The state after the last run, once that has been returned.
  package private(set) var state = Rest.end

  package init(_ list: LazyList<Element, Failure>) {
    segment = list.segment
    offset = list.offset
  }

  /// Some cells of a segment, which it retains.
  package struct Run {
    let segment: Segment<Element>
    let range: Range<Int>

    package var count: Int { range.count }
    package var cells: [Element] { segment.withCells(range) { Array($0) } }
  }

  package mutating func next() -> Run? {
    while let current = segment {
      var mark = current.mark
      if !mark.isClosed, current.takeDone() { mark = current.mark }
      let count = mark.count
      let run = Run(segment: current, range: Swift.min(offset, count)..<count)
      segment = nil
      if !seen.insert(ObjectIdentifier(current)).inserted {
        state = .unresolved
        return nil
      }
      if !mark.isClosed {
        state = current.isComputing ? .computing : .unresolved
      } else {
        switch current.link {
        case .end: state = .end
        case .failed(let failure): state = .failed(failure)
        case .more(let next, let start):
          segment = next
          offset = start + Swift.max(0, offset - count)
        }
      }
      if run.count > 0 { return run }
    }
    return nil
  }
}

extension Segment {
  /// Whether a task computes the next cell.
  var isComputing: Bool {
    guard let evaluator else { return false }
    return (evaluator.claim.isHeld || evaluator.steps?.isComputing == true)
      && !evaluator.isAbandoned
  }
}
