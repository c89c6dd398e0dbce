import Synchronization

/// The linked list of the textbook: each cell is an actor that computes its head once and makes the
/// actor that is its tail.
struct ActorPerCell: AsyncSequence, Sendable {
  private let first: CellActor

  init(_ step: @escaping StepFunction) { first = CellActor(position: 0, step) }

  func makeAsyncIterator() -> Iterator { Iterator(first) }

  struct Iterator: AsyncIteratorProtocol {
    private var cell: CellActor

    fileprivate init(_ first: CellActor) { cell = first }

    mutating func next(isolation actor: isolated (any Actor)?) async -> Int? {
      if !cell.isEvaluated.load(ordering: .acquiring) { await cell.evaluate() }
      guard let tail = cell.tail else { return nil }
      defer { cell = tail }
      return cell.head
    }
  }
}

private actor CellActor {
  nonisolated let isEvaluated = Atomic(false)
  // Guard: both are written in isolation before `isEvaluated` is published, and read after that was
  // seen. May touch them: this actor, then readers.
  nonisolated(unsafe) private(set) var head = 0
  nonisolated(unsafe) private(set) var tail: CellActor?
  private let step: StepFunction
  private let position: Int

  init(position: Int, _ step: @escaping StepFunction) {
    self.position = position
    self.step = step
  }

  deinit {
    // A chain of any length is released on one frame.
    while isKnownUniquelyReferenced(&tail) { tail = tail.unsafelyUnwrapped.tail.take() }
  }

  func evaluate() {
    // Somebody was faster.
    if isEvaluated.load(ordering: .relaxed) { return }
    if let element = step(position) {
      head = element
      tail = CellActor(position: position + 1, step)
    }
    isEvaluated.store(true, ordering: .releasing)
  }
}
