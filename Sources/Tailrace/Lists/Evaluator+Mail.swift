internal import Dispatch
public import Synchronization

/// What somebody who must not wait tells an evaluator.
@usableFromInline
enum Message<Element: Sendable, Failure: Error>: Sendable {
  case wait(Waiter)
  case leave(Waiter)
  /// The flight is over. Without an outcome it failed in a way that the next demand may repeat.
  case land(Evaluator<Element, Failure>.Outcome?, Producer<Element, Failure>, Wake, Flight)
  case abandon
  case run(UnownedJob)
}

/// A message left for the holder of a claim: a link of a lock-free stack.
// Guard: written before it is pushed, read after it is popped, by one thread each.
// May touch it: the sender, then the holder of the claim.
@usableFromInline
final class Letter<Element: Sendable, Failure: Error>: @unchecked Sendable {
  @usableFromInline let message: Message<Element, Failure>
  @usableFromInline var next: UInt = 0

  @inlinable
  init(_ message: Message<Element, Failure>) { self.message = message }
}

/// What is left to be done once the claim is free: nothing is resumed, cancelled or released while
/// the state is being changed.
@usableFromInline
enum Effect<Element: Sendable, Failure: Error>: Sendable {
  case wake(Waiter, Wake)
  case watch(Waiter, Flight)
  case land(Flight.Landing)
  case raise(Flight, TaskPriority)
  case cancel(Flight)
  case drop(Leftover)
  case run(UnownedJob)
}

/// In the order in which they came up. There is one, mostly, and then it allocates nothing ("Async
/// steps").
@usableFromInline
struct Effects<Element: Sendable, Failure: Error> {
  @usableFromInline var first: Effect<Element, Failure>?
  @usableFromInline var others: [Effect<Element, Failure>] = []

  @inlinable
  init() {}

  @inlinable
  mutating func add(_ effect: consuming Effect<Element, Failure>) {
    if first == nil { first = .some(effect) } else { others.append(effect) }
  }
}

extension Evaluator {
  @usableFromInline typealias Effects = Tailrace.Effects<Element, Failure>

  /// Tells the evaluator something: at once if its claim is free, else as soon as it is.
  @inlinable
  nonisolated func post(_ message: Message<Element, Failure>) {
    if tryClaim() { return hold(message) }
    let letter = Letter(message)
    // The mailbox owns a reference from the moment that it can be seen there.
    let sent = Unmanaged.passRetained(letter)
    var word = claim.load(ordering: .relaxed)
    while true {
      if word == 0 {
        if tryClaim() {
          sent.release()
          return hold(message)
        }
        word = claim.load(ordering: .relaxed)
        continue
      }
      letter.next = word
      let pushed = claim.compareExchange(
        expected: word, desired: UInt(bitPattern: sent.toOpaque()),
        ordering: .acquiringAndReleasing)
      if pushed.exchanged { return }
      word = pushed.original
    }
  }

  @inlinable
  nonisolated func hold(_ message: Message<Element, Failure>) {
    var effects = Effects()
    take(message, &effects)
    answerLetters(&effects)
    act(effects)
  }

  /// Lets go of a claim that was not free of letters.
  @inlinable
  nonisolated func answerLetters() {
    var effects = Effects()
    answerLetters(&effects)
    act(effects)
  }

  @inlinable
  nonisolated func answerLetters(_ effects: inout Effects) {
    while !claim.compareExchange(expected: Self.claimed, desired: 0, ordering: .releasing).exchanged
    {
      var word = claim.exchange(Self.claimed, ordering: .acquiringAndReleasing)
      var letters: [Letter<Element, Failure>] = []
      while let address = UnsafeRawPointer(bitPattern: word), word != Self.claimed {
        let letter = Unmanaged<Letter<Element, Failure>>.fromOpaque(address).takeRetainedValue()
        word = letter.next
        letters.append(letter)
      }
      for letter in letters.reversed() { take(letter.message, &effects) }
    }
  }

  /// Takes a message in, for the holder of the claim. See `isolated`.
  @inlinable
  nonisolated func take(_ message: Message<Element, Failure>, _ effects: inout Effects) {
    typealias Isolated = (isolated Evaluator, Message<Element, Failure>, inout Effects) -> Void
    typealias Claimed = (Evaluator, Message<Element, Failure>, inout Effects) -> Void
    let apply: Isolated = { (evaluator, message, effects) in evaluator.apply(message, &effects) }
    unsafeBitCast(apply, to: Claimed.self)(self, message, &effects)
  }

  @inlinable
  func apply(_ message: Message<Element, Failure>, _ effects: inout Effects) {
    switch message {
    case .wait(let waiter):
      guard case .parked(let flight) = state.wait(waiter) else {
        return effects.add(.wake(waiter, .retry))
      }
      effects.add(.raise(flight, waiter.priority))
      if waiter.flight != nil { effects.add(.watch(waiter, flight)) }
    case .leave(let waiter):
      state.leave(waiter)
    case .land(let outcome, let producer, let wake, let flight):
      let (waiters, leftover) = settleFlight(outcome, producer)
      effects.add(.land(flight.land(wake)))
      for waiter in waiters { effects.add(.wake(waiter, wake)) }
      if let leftover { effects.add(.drop(Leftover(leftover))) }
    case .abandon:
      if let flight = state.abandon() { effects.add(.cancel(flight)) }
      if let producer = producer.take() { effects.add(.drop(Leftover(producer))) }
    case .run(let job):
      effects.add(.run(job))
    }
  }

  @inlinable
  nonisolated func act(_ effects: Effects) {
    guard let first = effects.first else { return }
    act(first)
    for effect in effects.others { act(effect) }
  }

  @inlinable
  nonisolated func act(_ effect: Effect<Element, Failure>) {
    switch effect {
    case .wake(let waiter, let wake): waiter.wake(wake)
    case .watch(let waiter, let flight):
      if let cycle = waiter.flight?.wait(for: flight, waiter) { waiter.wake(.cycle(cycle)) }
    case .land(let landing): landing.complete()
    case .raise(let flight, let priority): flight.raise(to: priority)
    case .cancel(let flight): flight.cancel()
    case .drop(let leftover): Reclaimer.release(leftover)
    case .run(let job): enqueue(job)
    }
  }

  /// The last open segment is gone: nobody can read what a step would give.
  @inlinable
  nonisolated func abandon() { post(.abandon) }
}

// MARK: An executor as any other

extension Evaluator {
  /// Ordinary calls from outside hop here, as onto any actor, by way of a global queue.
  @usableFromInline
  nonisolated func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

  @usableFromInline
  nonisolated func enqueue(_ job: UnownedJob) {
    DispatchQueue.global().async { [self] in
      guard tryClaim() else { return post(.run(job)) }
      job.runSynchronously(on: asUnownedSerialExecutor())
      unclaim()
    }
  }
}

extension Result {
  /// No step follows this one.
  @inlinable
  func isFinal<Element, ListFailure>() -> Bool
  where Success == Step<Element, ListFailure> {
    if case .success(.element) = self { false } else { true }
  }
}

extension Task where Success == Void, Failure == Never {
  /// Raises the priority, where the platform can.
  @usableFromInline
  func raise(to priority: TaskPriority) {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      escalatePriority(to: priority)
    }
  }
}
