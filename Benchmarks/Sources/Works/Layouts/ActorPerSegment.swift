/// Segments of 64 cells, each an actor that fills itself and makes the next one.
struct ActorPerSegment: AsyncSequence, Sendable {
  private let first: SegmentActor

  init(_ step: @escaping StepFunction) { first = SegmentActor(start: 0, step) }

  func makeAsyncIterator() -> Iterator { Iterator(first) }

  struct Iterator: AsyncIteratorProtocol {
    private var segment: SegmentActor
    private var index = 0
    private var limit = 0

    fileprivate init(_ first: SegmentActor) { segment = first }

    mutating func next(isolation actor: isolated (any Actor)?) async -> Int? {
      if index < limit {
        defer { index += 1 }
        return segment.cells.base[index]
      }
      return await advance(isolation: actor)
    }

    private mutating func advance(isolation actor: isolated (any Actor)?) async -> Int? {
      while true {
        let word = segment.cells.published.load(ordering: .acquiring)
        limit = word >> 1
        if index < limit {
          defer { index += 1 }
          return segment.cells.base[index]
        }
        if word & 1 == 0 {
          await segment.fill(word)
        } else if let next = segment.next {
          segment = next
          index = 0
          limit = 0
        } else {
          return nil
        }
      }
    }
  }
}

private actor SegmentActor {
  nonisolated let cells = Cells()
  // Guard: written in isolation before the cells are closed, and read after that was seen.
  // May touch it: this actor, then readers.
  nonisolated(unsafe) private(set) var next: SegmentActor?
  private let step: StepFunction
  private let start: Int

  init(start: Int, _ step: @escaping StepFunction) {
    self.start = start
    self.step = step
  }

  deinit {
    // A chain of any length is released on one frame.
    while isKnownUniquelyReferenced(&next) { next = next.unsafelyUnwrapped.next.take() }
  }

  func fill(_ word: Int) {
    // Somebody was faster.
    guard cells.published.load(ordering: .relaxed) == word else { return }
    guard let element = step(start + word >> 1) else { return cells.close(at: word) }
    if word >> 1 < Cells.capacity { return cells.append(element, to: word) }
    let next = SegmentActor(start: start + Cells.capacity, step)
    next.cells.append(element, to: 0)
    self.next = next
    cells.close(at: word)
  }
}
