import Synchronization

/// One asynchronous step of one list: a node of the graph of who waits for whom.
@usableFromInline
final class Flight: Sendable {
  /// The flight whose step the running code belongs to. Tasks that a step starts inherit the value;
  /// `ofThisTask` tells them from the step itself.
  @TaskLocal private static var inherited: Flight?

  private let label: ListName?
  private let element: any Any.Type
  private let position: Int
  /// How many flights that started on one another's stack this one is on.
  private let depth: Int
  private let state = Locked(FlightState<Task<Void, Never>, UnsafeContinuation<Void, Never>>())
  /// Set a moment after `state` has landed, for those who only want to know whether to look.
  private let isOver = Atomic(false)
  /// Identifies the task, also after it is gone; 0 until it runs.
  private let task = Atomic(0)

  @usableFromInline
  init(label: ListName?, element: any Any.Type, position: Int) {
    self.label = label
    self.element = element
    self.position = position
    depth = (Self.inherited?.depth ?? 0) + 1
  }

  /// The list's name, or what it is. Made up only when somebody asks: a flight is a hot thing.
  private var name: String { label?.text ?? "LazyList<\(element)>" }

  /// Starts the task that runs the step, as the step of this flight.
  ///
  /// The task inherits the flight from here. Bound inside of the task it would cost three switches
  /// of executors more ("Async steps").
  @usableFromInline
  func carry(_ step: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Self.$inherited.withValue(self) { launch(step) }
  }

  private func launch(_ step: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    // Flights that start one another right here share a stack: some of them start elsewhere.
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), depth % 32 != 0 {
      // A loop that runs once: in a loop the optimizer inlines `immediate`, and sees that no
      // executor is preferred. Otherwise the runtime keeps a record of preferring none, and every
      // switch of executors takes a lock to read it: 250 ns a step ("Async steps").
      var next: Flight? = self
      var task: Task<Void, Never>?
      while next.take() != nil { task = Task.immediate { await step() } }
      return task.unsafelyUnwrapped
    }
    return Task(operation: step)
  }

  /// The task has begun to run the step.
  @usableFromInline
  func board() { task.store(Self.currentTask, ordering: .relaxed) }

  private static var currentTask: Int { withUnsafeCurrentTask { $0?.hashValue ?? 0 } }

  /// The flight that waits when the current task waits.
  ///
  /// A task that a step started and did not wait for is free to read the list later: its flight is
  /// not this one's.
  @usableFromInline static var ofThisTask: Flight? {
    guard let inherited else { return nil }
    return inherited.task.load(ordering: .relaxed) == currentTask ? inherited : nil
  }

  // MARK: The task, and the reader in the front seat

  /// The reader that started the flight waits for it.
  @usableFromInline
  func park(_ reader: UnsafeContinuation<Void, Never>, _ task: Task<Void, Never>) {
    switch state.withLock({ $0.park(reader, task) }) {
    case .seated(let orders): tell(task, orders)
    case .dismissed(let orders):
      tell(task, orders)
      reader.resume()
    }
  }

  /// What the reader in the front seat is told when it goes on.
  @usableFromInline
  var answer: Wake { landed ?? .cancelled }

  /// The reader in the front seat was cancelled. It goes; the flight goes on.
  @usableFromInline
  func leave() { state.withLock { $0.leave() }?.resume() }

  @usableFromInline
  func attach(_ task: Task<Void, Never>) { tell(task, state.withLock { $0.attach(task) }) }

  private func tell(
    _ task: Task<Void, Never>,
    _ orders: FlightState<Task<Void, Never>, UnsafeContinuation<Void, Never>>.Orders
  ) {
    if orders.isUnwanted { task.cancel() }
    if let priority = orders.priority { task.raise(to: priority) }
  }

  @usableFromInline
  func cancel() { state.withLock { $0.cancel() }?.cancel() }

  @usableFromInline
  func raise(to priority: TaskPriority) {
    state.withLock { $0.raise(to: priority) }?.raise(to: priority)
  }

  /// From here on, whoever still seems to wait for this step does not. Returns who waits in the
  /// front seat, to be woken when nothing is held.
  @usableFromInline
  func land(_ wake: Wake) -> Landing {
    let (reader, task) = state.withLock { $0.land(wake) }
    isOver.store(true, ordering: .releasing)
    return Landing(reader: reader, task: task)
  }

  /// What whoever waits for the step is told; `nil` before it is over.
  @usableFromInline
  var landed: Wake? { isOver.load(ordering: .acquiring) ? state.withLock { $0.landed } : nil }

  /// What is left to be done when a flight is over, where nothing is held.
  @usableFromInline
  struct Landing: Sendable {
    let reader: UnsafeContinuation<Void, Never>?
    // Let go of with the landing.
    let task: Task<Void, Never>?

    @usableFromInline
    func complete() { reader?.resume() }
  }

  // Guard: `waits`. May touch it: the functions below.
  private nonisolated(unsafe) var awaited: Flight?
  private static let waits = Locked(())

  /// This flight is about to wait for another. Returns the error if it would wait for ever.
  ///
  /// The waiter may have been woken before it is known whom it waits for.
  @usableFromInline
  func wait(for other: Flight, _ waiter: Waiter) -> CyclicEvaluationError? {
    Self.waits.withLock { _ in
      if waiter.isOver { return nil }
      awaited = other
      var path = [self]
      var next: Flight? = other
      while let flight = next, flight.landed == nil {
        if flight === self {
          return CyclicEvaluationError(lists: path.map(\.name), position: position)
        }
        path.append(flight)
        next = flight.awaited
      }
      return nil
    }
  }

  @usableFromInline
  func stopWaiting(_ waiter: Waiter) {
    // Released outside of the lock: it may be the last reference.
    let former = Self.waits.withLock { _ in
      waiter.isOver = true
      let former = awaited
      awaited = nil
      return former
    }
    _ = former
  }
}

/// An element needs itself, directly or through other lists.
///
/// Thrown where the list's `Failure` is `any Error`; a list that cannot fail traps with the same
/// text instead, because an endless wait would be worse.
///
/// ```swift
/// let list = LazyList<Int, any Error>.recursive { list in list.map { $0 + 1 } }.named("naturals")
/// try await list.head()   // throws: element 0 needs itself, "naturals" → … → "naturals"
/// ```
public struct CyclicEvaluationError: Error, Equatable, CustomStringConvertible {
  /// The names of the lists, each waiting for the next, the last for the first.
  public let lists: [String]
  /// The position in the first list, counted from its first element, of the element that needs
  /// itself.
  public let position: Int

  /// The lists and the position, in a sentence.
  public var description: String {
    let path = (lists + lists.prefix(1)).map { "\"\($0)\"" }.joined(separator: " → ")
    return "element \(position) of a LazyList needs itself: \(path); give its definition a first "
      + "element that does not depend on the rest"
  }
}
