/// The straightforward version: an actor around an array, a task per step.
///
/// The task is what makes it correct: an actor lets others in while it awaits a step, and they must
/// find that the step is under way.
struct TaskPerStep: AsyncSequence, Sendable {
  private let memo: MemoArray

  init(_ step: @escaping StepFunction) { memo = MemoArray(step) }

  func makeAsyncIterator() -> Iterator { Iterator(memo: memo) }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate let memo: MemoArray
    private var index = 0

    fileprivate init(memo: MemoArray) { self.memo = memo }

    mutating func next(isolation actor: isolated (any Actor)?) async -> Int? {
      guard let element = await memo.element(at: index) else { return nil }
      index += 1
      return element
    }
  }
}

private actor MemoArray {
  private let step: StepFunction
  private var elements: [Int] = []
  private var running: Task<Void, Never>?
  private var isComplete = false

  init(_ step: @escaping StepFunction) { self.step = step }

  func element(at index: Int) async -> Int? {
    while index >= elements.count {
      if isComplete { return nil }
      await run().value
    }
    return elements[index]
  }

  /// The step that runs, or a new one.
  private func run() -> Task<Void, Never> {
    if let running { return running }
    let task = Task {
      if let element = step(elements.count) { elements.append(element) } else { isComplete = true }
      running = nil
    }
    running = task
    return task
  }
}
