public import Synchronization

extension Evaluator {
  /// Starts the step behind `segment` in a task of its own, unless one runs already.
  ///
  /// The task inherits the priority and the task-locals of the one that demands. It starts right
  /// here, so that a step which does not suspend has landed when this returns the flight.
  @inlinable
  nonisolated func takeOff(_ segment: Cells, mark: Int) -> Flight? {
    // Whoever holds the claim computes the step, and wakes those who wait for it.
    guard tryClaim() else { return nil }
    let flight = Flight(
      label: name.load(), element: Element.self, position: segment.start + mark >> 1)
    let producer = isolated { $0.beginFlight(flight, segment, mark) }
    unclaim()
    guard let producer else { return nil }
    let task = flight.carry {
      // Flights that start one another right here share a stack: some of them start elsewhere.
      if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), flight.depth % 32 != 0 {
        Task.immediate { await self.fly(producer, flight) }
      } else {
        Task { await self.fly(producer, flight) }
      }
    }
    if flight.landed == nil { post(.attach(task, flight)) }
    return flight
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
    let landing = await step(of: producer)
    post(.land(landing.outcome, producer, landing.wake, flight))
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
  @inlinable
  nonisolated(nonsending) func wait(_ mark: Int, cancellable: Bool) async -> Wake {
    guard published.load(ordering: .acquiring) == mark, let evaluator = source.evaluator else {
      return .retry
    }
    let flight = evaluator.takeOff(self, mark: mark)
    if let landed = flight?.landed { return landed }
    let waiter = Waiter(flight: .ofThisTask)
    evaluator.post(.wait(waiter))
    defer { waiter.flight?.stopWaiting(waiter) }
    let wake =
      if cancellable { await waiter.park(leaving: evaluator) } else { await waiter.park() }
    // The step may have been over before the waiter was known: its failure is this demand's.
    if case .retry = wake, let landed = flight?.landed { return landed }
    return wake
  }
}

extension Waiter {
  /// Parks until it is woken, or until the task is cancelled: then it leaves the evaluator.
  @inlinable
  nonisolated(nonsending) func park<Element, Failure>(
    leaving evaluator: Evaluator<Element, Failure>
  ) async -> Wake {
    await withTaskCancellationHandler {
      await park()
    } onCancel: {
      wake(.cancelled)
      evaluator.post(.leave(self))
    }
  }
}
