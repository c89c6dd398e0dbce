/// Segments of 64 cells that one default actor fills: a hop for each element that is not evaluated,
/// none for those that are.
struct ActorPerList: AsyncSequence, Sendable {
  private let filler: Filler
  private let first = Run()

  init(_ step: @escaping StepFunction) { filler = Filler(step) }

  func makeAsyncIterator() -> Iterator { Iterator(filler: filler, run: first) }

  struct Iterator: AsyncIteratorProtocol {
    private let filler: Filler
    private var run: Run
    private var index = 0
    private var limit = 0

    fileprivate init(filler: Filler, run: Run) {
      self.filler = filler
      self.run = run
    }

    mutating func next(isolation actor: isolated (any Actor)?) async -> Int? {
      if index < limit {
        defer { index += 1 }
        return run.cells.base[index]
      }
      return await advance(isolation: actor)
    }

    private mutating func advance(isolation actor: isolated (any Actor)?) async -> Int? {
      while true {
        let word = run.cells.published.load(ordering: .acquiring)
        limit = word >> 1
        if index < limit {
          defer { index += 1 }
          return run.cells.base[index]
        }
        if word & 1 == 0 {
          await filler.fill(run, word)
        } else if let next = run.next {
          run = next
          index = 0
          limit = 0
        } else {
          return nil
        }
      }
    }
  }
}

// Guard: `next` is written by the filler before the cells are closed, and read after that was seen.
// May touch it: the filler, then readers.
private final class Run: @unchecked Sendable {
  let cells = Cells()
  var next: Run?

  deinit {
    // A chain of any length is released on one frame.
    while isKnownUniquelyReferenced(&next) { next = next.unsafelyUnwrapped.next.take() }
  }
}

private actor Filler {
  private let step: StepFunction
  private var position = 0

  init(_ step: @escaping StepFunction) { self.step = step }

  func fill(_ run: Run, _ word: Int) {
    // Somebody was faster.
    guard run.cells.published.load(ordering: .relaxed) == word else { return }
    guard let element = step(position) else { return run.cells.close(at: word) }
    position += 1
    if word >> 1 < Cells.capacity { return run.cells.append(element, to: word) }
    let next = Run()
    next.cells.append(element, to: 0)
    run.next = next
    run.cells.close(at: word)
  }
}
