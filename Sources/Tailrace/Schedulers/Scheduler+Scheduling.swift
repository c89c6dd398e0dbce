extension Scheduler {
  /// Runs a closure when its turn comes.
  ///
  /// ```swift
  /// let work = scheduler.schedule { print("later") }
  /// await work.value
  /// // later
  /// ```
  ///
  /// No task is made for it. On a queue it never runs before this call has returned to code that is
  /// on the queue; ``ImmediateScheduler`` runs it before the call returns.
  ///
  /// - Isolation: on the scheduler.
  /// - Cancellation: `cancel()` before its turn means that it never runs.
  ///
  /// Replaces `-[RACScheduler schedule:]`.
  @discardableResult
  public func schedule(_ action: consuming @escaping @Sendable () -> Void) -> ScheduledWork {
    enqueue(action)
  }

  @discardableResult
  public func schedule(_ action: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: self, operation: action)
  }

  /// Runs a closure once a delay is over.
  ///
  /// <!-- not run: it takes a second -->
  /// ```swift
  /// let work = scheduler.schedule(after: .seconds(1)) { print("a second later") }
  /// ```
  ///
  /// A delay of zero and a negative one mean as soon as possible; one that is longer than the clock
  /// can count means never.
  ///
  /// - Parameters:
  ///   - delay: the time from now.
  ///   - tolerance: how much later it may be, for the sake of fewer wake-ups.
  ///   - action: the closure, which is released when it has run or never will.
  /// - Isolation: on the scheduler.
  /// - Cancellation: `cancel()` before its turn releases the closure at once.
  ///
  /// Replaces `-[RACScheduler afterDelay:schedule:]`.
  @discardableResult
  public func schedule(
    after delay: Duration, tolerance: Duration? = nil, _ action: @escaping @Sendable () -> Void
  ) -> ScheduledWork {
    schedule(at: date(after: delay), tolerance: tolerance, action)
  }

  /// Runs a closure at a point in time on the scheduler's clock.
  ///
  /// <!-- not run: it takes a second -->
  /// ```swift
  /// scheduler.schedule(at: .now + .seconds(1)) { print("a second later") }
  /// ```
  ///
  /// A time in the past means as soon as possible. The clock of a ``QueueScheduler`` is the
  /// `ContinuousClock`, which a step of the wall clock does not touch.
  ///
  /// - Isolation: on the scheduler.
  /// - Cancellation: `cancel()` before its turn releases the closure at once.
  ///
  /// Replaces `-[RACScheduler after:schedule:]`.
  @discardableResult
  public func schedule(
    at instant: Instant, tolerance: Duration? = nil, _ action: @escaping @Sendable () -> Void
  ) -> ScheduledWork {
    let work = ScheduledWork(WorkCell(action))
    enqueue(work, at: instant, tolerance: tolerance)
    return work
  }

  /// Runs an asynchronous closure once a delay is over, in a task that prefers this scheduler.
  ///
  /// - Cancellation: a task that is cancelled before its time ends without running the closure.
  @discardableResult
  public func schedule(
    after delay: Duration, tolerance: Duration? = nil,
    _ action: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never> {
    schedule(at: date(after: delay), tolerance: tolerance, action)
  }

  /// Runs an asynchronous closure at a point in time, in a task that prefers this scheduler.
  ///
  /// - Cancellation: a task that is cancelled before its time ends without running the closure.
  @discardableResult
  public func schedule(
    at instant: Instant, tolerance: Duration? = nil, _ action: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never> {
    schedule { () async in
      guard await self.waits(until: instant, tolerance: tolerance) else { return }
      await action()
    }
  }

  /// When a delay is over. As soon as possible is now, and for ever is some billions of years.
  func date(after delay: Duration) -> Instant {
    now.advanced(by: min(max(delay, .zero), .farthest))
  }
}

extension Duration {
  /// Far beyond what anybody waits for, and small enough to be added to any instant.
  package static let farthest = Duration.seconds(1 << 60)
}
