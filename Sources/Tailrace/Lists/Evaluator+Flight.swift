public import Synchronization

extension Evaluator {
  /// Starts the step behind `segment` in a task of its own, unless one runs already.
  ///
  /// The task inherits the priority and the task-locals of the one that demands. It starts right
  /// here, so that a step which does not suspend has landed when this returns the flight. The
  /// flight does not know its task yet: whoever starts it parks there, or attaches the task.
  @inlinable
  nonisolated func takeOff(
    _ segment: Cells, mark: Int
  ) -> (flight: Flight, task: Task<Void, Never>)? {
    // Whoever holds the claim computes the step, and wakes those who wait for it.
    guard tryClaim() else { return nil }
    let flight = Flight(
      label: name.load(), element: Element.self, position: segment.start + mark >> 1)
    // As `isolated`, with a closure that captures nothing and so allocates nothing.
    typealias Isolated = (isolated Evaluator, Flight, Cells, Int) -> Producer<Element, Failure>?
    typealias Claimed = (Evaluator, Flight, Cells, Int) -> Producer<Element, Failure>?
    let begin: Isolated = { (evaluator, flight, segment, mark) in
      evaluator.beginFlight(flight, segment, mark)
    }
    let producer = unsafeBitCast(begin, to: Claimed.self)(self, flight, segment, mark)
    unclaim()
    guard let producer else { return nil }
    return (flight, flight.carry { await self.fly(producer, flight) })
  }

  @inlinable
  func beginFlight(
    _ flight: Flight, _ segment: Cells, _ mark: Int
  ) -> Producer<Element, Failure>? {
    guard segment.published.load(ordering: .relaxed) == mark, state.begin(flight) else {
      return nil
    }
    pieces = nil
    return producer.take()
  }

  /// Runs a step to its end, through all that it waits for. The flight owns the producer.
  @inlinable
  nonisolated(nonsending) func fly(_ producer: Producer<Element, Failure>, _ flight: Flight) async {
    flight.board()
    // Straight into the closure, mostly: every frame on the way costs switches of executors, there
    // and back ("Async steps").
    if let suspension = producer.suspension, suspension.outcome == nil, !Task.isCancelled {
      do throws(Interruption<Failure>) {
        let step = try await suspension.body()
        return land(.success(step), producer, .retry, flight)
      } catch {
        suspension.outcome = .failure(error)
      }
    }
    let landing = await step(of: producer)
    land(landing.outcome, producer, landing.wake, flight)
  }

  /// The flight is over.
  @inlinable
  nonisolated func land(
    _ outcome: Outcome?, _ producer: Producer<Element, Failure>, _ wake: Wake, _ flight: Flight
  ) {
    guard tryClaim() else { return post(.land(outcome, producer, wake, flight)) }
    typealias Back = (waiters: [Waiter], leftover: Producer<Element, Failure>?)
    typealias Isolated = (isolated Evaluator, Outcome?, Producer<Element, Failure>) -> Back
    typealias Claimed = (Evaluator, Outcome?, Producer<Element, Failure>) -> Back
    let settle: Isolated = { (evaluator, outcome, producer) in
      evaluator.settleFlight(outcome, producer)
    }
    let (waiters, leftover) = unsafeBitCast(settle, to: Claimed.self)(self, outcome, producer)
    let landing = flight.land(wake)
    unclaim()
    landing.complete()
    for waiter in waiters { waiter.wake(wake) }
    if let leftover { Reclaimer.release(Leftover(leftover)) }
  }

  /// Takes the producer back from a flight. Returns who waits, and the producer if it has done.
  @inlinable
  func settleFlight(
    _ outcome: Outcome?, _ producer: Producer<Element, Failure>
  ) -> (waiters: [Waiter], leftover: Producer<Element, Failure>?) {
    if case .abandoned = state { return ([], producer) }
    let waiters = state.finish(outcome)
    if let outcome, outcome.isFinal() { return (waiters, producer) }
    self.producer = producer
    return (waiters, nil)
  }

  @inlinable
  nonisolated(nonsending) func step(
    of producer: Producer<Element, Failure>
  ) async -> (outcome: Outcome?, wake: Wake) {
    var budget = fullBudget
    while !Task.isCancelled {
      do throws(Interruption<Failure>) {
        return (.success(try producer.step(budget)), .retry)
      } catch {
        switch error {
        case .failed(let failure): return (.failure(failure), .retry)
        case .failedTransiently(let failure): return (nil, .failedTransiently(failure))
        case .cancelled: return (nil, .retry)
        case .waiting(let obstacle):
          switch obstacle.settleNow() {
          case .settled: continue
          case .failedTransiently(let failure): return (nil, .failedTransiently(failure))
          case .mustSuspend, .blocked: break
          }
          // Waiting for itself by way of lists that were evaluated inline: goes there once more in
          // small steps, so that each of them takes off and can be named.
          if (obstacle.blocker as? Cells)?.source.evaluator === self, budget == fullBudget {
            budget = 1
            continue
          }
          switch await obstacle.blocker.settle(obstacle.mark) {
          case .retry, .cancelled: break
          case .failedTransiently(let failure): return (nil, .failedTransiently(failure))
          case .cycle(let cycle): return (.failure(cycle.thrown()), .retry)
          }
        }
      }
    }
    // Cancelled: the last reference is gone, and nobody will see this.
    return (nil, .retry)
  }
}

extension CyclicEvaluationError {
  /// As a failure of a list, or a trap where that list cannot fail.
  @inlinable
  func thrown<Failure: Error>(as _: Failure.Type = Failure.self) -> Failure {
    guard let failure = self as? Failure else { fatalError(description) }
    return failure
  }
}

extension Segment: Blocker {
  @usableFromInline var isPartOfProducer: Bool { false }

  @inlinable
  func attempt(_ mark: Int) -> Attempt {
    guard published.load(ordering: .acquiring) == mark, let evaluator = source.evaluator else {
      return .settled
    }
    do throws(Interruption<Failure>) {
      try evaluator.demand(self, mark: mark, budget: fullBudget)
    } catch {
      switch error {
      case .waiting(let obstacle) where obstacle.blocker === self: return .mustSuspend
      case .waiting(let obstacle): return .blocked(obstacle)
      case .failedTransiently(let failure): return .failedTransiently(failure)
      case .failed, .cancelled: return .settled
      }
    }
    return .settled
  }

  @inlinable
  nonisolated(nonsending) func settle(_ mark: Int) async -> Wake {
    await wait(mark, cancellable: true)
  }

  /// Waits until the cell behind `mark` is evaluated, or something else has changed.
  @inlinable @inline(__always)
  nonisolated(nonsending) func wait(_ mark: Int, cancellable: Bool) async -> Wake {
    guard published.load(ordering: .acquiring) == mark, let evaluator = source.evaluator else {
      return .retry
    }
    let own = Flight.ofThisTask
    if let (flight, task) = evaluator.takeOff(self, mark: mark) {
      if let landed = flight.landed { return landed }
      if own == nil {
        guard cancellable else {
          await withUnsafeContinuation { flight.park($0, task) }
          return flight.answer
        }
        await withTaskCancellationHandler {
          await withUnsafeContinuation { flight.park($0, task) }
        } onCancel: {
          flight.leave()
        }
        return flight.answer
      }
      flight.attach(task)
      let wake = await evaluator.wait(as: Waiter(flight: own), cancellable: cancellable)
      // The step may have been over before the waiter was known: its failure is this demand's.
      if case .retry = wake, let landed = flight.landed { return landed }
      return wake
    }
    return await evaluator.wait(as: Waiter(flight: own), cancellable: cancellable)
  }
}

extension Evaluator {
  /// Waits for a flight that others have started, or that a flight waits for.
  @inlinable @inline(never)
  nonisolated(nonsending) func wait(as waiter: Waiter, cancellable: Bool) async -> Wake {
    post(.wait(waiter))
    defer { waiter.flight?.stopWaiting(waiter) }
    guard cancellable else { return await waiter.park() }
    return await withTaskCancellationHandler {
      await waiter.park()
    } onCancel: {
      waiter.wake(.cancelled)
      post(.leave(waiter))
    }
  }
}
