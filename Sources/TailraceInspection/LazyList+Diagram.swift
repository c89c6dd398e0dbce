public import TailraceLists

extension LazyList {
  /// Returns a picture of how this list is computed, as the text of a Mermaid flowchart.
  ///
  /// ```swift
  /// let list = LazyList(1...).map { $0 * $0 }.filter { $0 % 2 == 1 }.named("odd squares")
  /// _ = await list.prefix(2).array()
  /// print(list.diagram())
  /// // flowchart TD
  /// //   subgraph list0["odd squares<br/>2 evaluated, unresolved"]
  /// //     stage0["filter"]
  /// //     stage1["map"]
  /// //     stage2["LazyList"]
  /// //   end
  /// //   stage1 --> stage0
  /// //   stage2 --> stage1
  /// ```
  ///
  /// A frame is a memoized list, with its name, its number of computed elements, and whether it
  /// has ended, has failed, or is being computed. It contains the stages that an element passes. A
  /// list with several readers is drawn once. See <doc:LookingAtAList>.
  ///
  /// - Laziness: requests nothing, and runs no closure except the `description` of a failure. A
  ///   list that is being computed cannot be inspected: it is drawn as `computing`, without its
  ///   upstream.
  /// - Complexity: O(*segments*) for each list in the picture. At most 400 stages are drawn.
  public func diagram() -> String { Sketch(of: self).mermaid }
}

extension LazyList: LookedList {
  func draw(_ sketch: inout Sketch, _ place: Sketch.Place) {
    var walk = Walk(self, place)
    walk.draw(&sketch)
  }

  /// Walks the segments of a list, part by part: known values, and elements from evaluators.
  private struct Walk {
    private var segment: Segment<Element>?
    private var offset: Int
    private var place: Sketch.Place
    /// The previous part, which continues as the next one.
    private var former: Int?
    private var isFirst = true

    init(_ list: LazyList, _ place: Sketch.Place) {
      segment = list.segment
      offset = list.offset
      self.place = place
    }

    mutating func draw(_ sketch: inout Sketch) {
      while let first = nextPart(), !sketch.isCut {
        guard isFirst || place.layer == nil, let node = draw(first, &sketch) else { return }
        isFirst = false
        former = node
        place.layer = nil
      }
    }

    /// Skips closed segments without elements.
    private mutating func nextPart() -> Segment<Element>? {
      while let current = segment {
        let (name, _, count, following) = current.drawn
        if let name { place.name = name }
        if offset < count { return current }
        switch following {
        case .unresolved: return current
        case .more(let next, let start):
          let (position, overflows) = start.addingReportingOverflow(offset - count)
          (segment, offset) = (next, overflows ? .max : position)
        case .end: segment = nil
        // A failure gets its own part.
        case .failed: return former == nil || count == 0 ? current : nil
        }
      }
      return nil
    }

    /// Draws the part that begins with a segment. `nil` if it has been drawn before.
    private mutating func draw(
      _ first: Segment<Element>, _ sketch: inout Sketch
    ) -> Int? {
      let evaluator = first.evaluator
      let identity: AnyObject = evaluator ?? first
      if let known = sketch.node(of: identity) {
        connect(known, &sketch)
        return nil
      }
      let part = evaluator.map { drawEvaluator($0, first, &sketch) } ?? drawValues(first, &sketch)
      if let part { sketch.meet(identity, part) }
      return part
    }

    private func connect(_ node: Int, _ sketch: inout Sketch) {
      if let former {
        sketch.connect(node, former, "rest")
      } else {
        sketch.connect(node, place.consumer)
      }
    }

    /// Elements that nothing computes.
    private mutating func drawValues(
      _ first: Segment<Element>, _ sketch: inout Sketch
    ) -> Int? {
      guard let node = sketch.node("", isStage: false) else { return nil }
      connect(node, &sketch)
      let (count, end) = pass(first, nil)
      let name = place.name.take()
      sketch.describe(node: node, [name, Self.text(count, "value", end)].joined)
      return node
    }

    private mutating func drawEvaluator(
      _ evaluator: Evaluator<Element>, _ first: Segment<Element>,
      _ sketch: inout Sketch
    ) -> Int? {
      let name = place.name.take() ?? evaluator.drawnName
      let layer = place.layer ?? sketch.layer("")
      let stage = evaluator.drawnStage ?? "failures"
      // A stage that only converts failures is not drawn between other stages.
      let isDrawn = evaluator.drawnStage != nil || place.layer == nil
      var node = place.consumer
      if isDrawn {
        node = sketch.node(place.layer == nil ? stage : [stage, name].joined, in: layer)
        if let node { connect(node, &sketch) }
      }
      // Passes the existing elements without the claim, and new ones with it.
      _ = pass(first, evaluator)
      var passed = (count: 0, end: End.open)
      var isComputing = false
      let isLent = evaluator.lendProducer { producer in
        passed = pass(first, evaluator)
        isComputing = evaluator.isInStep
        if let producer { sketch.draw(producer, as: node, in: layer) }
      }
      if !isLent {
        passed = pass(first, evaluator)
        isComputing = !evaluator.isOver
        if case .open = passed.end, isComputing { sketch.drawCut(node, in: layer) }
      }
      if place.layer == nil {
        let text = Self.text(
          passed.count, nil, isComputing ? passed.end.whileComputing : passed.end)
        sketch.describe(layer, [name, text].joined)
      }
      return node
    }

    private enum End {
      case open
      case computing
      /// The list continues with another source.
      case rest
      case ended
      case failed(any Error)

      var whileComputing: End { if case .open = self { .computing } else { self } }
    }

    /// Goes to the end of a part. Returns its number of elements, and how it ends.
    private mutating func pass(
      _ first: Segment<Element>, _ evaluator: Evaluator<Element>?
    ) -> (count: Int, end: End) {
      var current = first
      // Elements that the evaluator gave before are not visible any more.
      var count = evaluator == nil ? 0 : first.drawn.start
      var skipped = evaluator == nil ? offset : 0
      while true {
        let (_, position, cells, following) = current.drawn
        count += Swift.max(0, cells - skipped)
        skipped = 0
        switch following {
        case .unresolved:
          segment = nil
          return (count, .open)
        case .end:
          segment = nil
          return (count, .ended)
        case .failed(let failure):
          segment = nil
          return (count, .failed(failure))
        case .more(let next, let start):
          // Values after computed elements belong to them: the last element often is one.
          let owner = next.evaluator
          let isSame =
            owner == nil
            ? next.drawn.name == nil : owner === evaluator && next.drawn.start > position
          guard isSame else {
            (segment, offset) = (next, start)
            return (count, .rest)
          }
          skipped = start
          current = next
        }
      }
    }

    private static func text(_ count: Int, _ noun: String?, _ end: End) -> String {
      let evaluated = noun.map { "\(count) \($0)\(count == 1 ? "" : "s")" } ?? "\(count) evaluated"
      return switch end {
      case .open: "\(evaluated), unresolved"
      case .computing: "\(evaluated), computing"
      case .rest: evaluated
      case .ended: noun == nil ? "\(evaluated), ended" : evaluated
      case .failed(let failure): "\(evaluated), failed: \(failure)"
      }
    }
  }
}

extension [String?] {
  /// The texts that are not `nil`, one per line.
  fileprivate var joined: String { compactMap { $0 }.joined(separator: "\n") }
}
