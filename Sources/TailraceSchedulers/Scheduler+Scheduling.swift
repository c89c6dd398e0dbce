extension Scheduler {
  /// Runs a closure in its turn.
  ///
  /// ```swift
  /// let work = scheduler.schedule { print("later") }
  /// await work.value
  /// // later
  /// ```
  ///
  /// It makes no task. A queue never runs the closure before this call has returned to code on the
  /// queue; ``ImmediateScheduler`` runs it before the call returns.
  ///
  /// - Isolation: on the scheduler.
  /// - Cancellation: `cancel()` before its turn prevents it from running.
  ///
  /// Replaces `-[RACScheduler schedule:]`.
  @discardableResult @_disfavoredOverload
  public func schedule(_ action: consuming @escaping @Sendable () -> Void) -> ScheduledWork {
    enqueue(action)
  }

  @discardableResult @_disfavoredOverload
  public func schedule(_ action: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: self, operation: action)
  }

  /// Runs a closure after a delay.
  ///
  /// <!-- not run: it takes a second -->
  /// ```swift
  /// let work = scheduler.schedule(after: .seconds(1)) { print("a second later") }
  /// ```
  ///
  /// A zero or negative delay means as soon as possible; a delay too long for the clock means
  /// never.
  ///
  /// - Parameters:
  ///   - delay: the time from now.
  ///   - tolerance: how much later it may run, to save wake-ups.
  ///   - action: the closure, released once it has run or will never run.
  /// - Isolation: on the scheduler.
  /// - Cancellation: `cancel()` before its turn releases the closure at once.
  ///
  /// Replaces `-[RACScheduler afterDelay:schedule:]`.
  @discardableResult @_disfavoredOverload
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
  /// A past time means as soon as possible. The clock of a ``QueueScheduler`` is the
  /// `ContinuousClock`, which ignores changes of the wall clock.
  ///
  /// - Isolation: on the scheduler.
  /// - Cancellation: `cancel()` before its turn releases the closure at once.
  ///
  /// Replaces `-[RACScheduler after:schedule:]`.
  @discardableResult @_disfavoredOverload
  public func schedule(
    at instant: Instant, tolerance: Duration? = nil, _ action: @escaping @Sendable () -> Void
  ) -> ScheduledWork {
    let work = ScheduledWork(WorkCell(action))
    enqueue(work, at: instant, tolerance: tolerance)
    return work
  }

  /// Runs an asynchronous closure after a delay, in a task that prefers this scheduler.
  ///
  /// - Cancellation: a task cancelled before its time ends without running the closure.
  @discardableResult @_disfavoredOverload
  public func schedule(
    after delay: Duration, tolerance: Duration? = nil,
    _ action: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never> {
    schedule(at: date(after: delay), tolerance: tolerance, action)
  }

  /// Runs an asynchronous closure at a point in time, in a task that prefers this scheduler.
  ///
  /// - Cancellation: a task cancelled before its time ends without running the closure.
  @discardableResult @_disfavoredOverload
  public func schedule(
    at instant: Instant, tolerance: Duration? = nil, _ action: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never> {
    schedule { () async in
      guard await self.waits(until: instant, tolerance: tolerance) else { return }
      await action()
    }
  }

  /// Runs a closure at a point in time, on a scheduler of which only `any Scheduler` is known.
  ///
  /// ```swift
  /// func later(on scheduler: any Scheduler) {
  ///   scheduler.schedule(at: scheduler.now.advanced(by: .seconds(1))) { print("later") }
  /// }
  /// ```
  ///
  /// The instant is of this scheduler's clock. An instant of another clock is a programmer's error,
  /// and traps.
  @discardableResult @_disfavoredOverload
  public func schedule(
    at instant: any InstantProtocol<Duration>, tolerance: Duration? = nil,
    file: StaticString = #fileID, line: UInt = #line, _ action: @escaping @Sendable () -> Void
  ) -> ScheduledWork {
    schedule(at: own(instant, file, line), tolerance: tolerance, action)
  }

  /// Runs an asynchronous closure at a point in time, on a scheduler of which only `any Scheduler` is
  /// known.
  @discardableResult @_disfavoredOverload
  public func schedule(
    at instant: any InstantProtocol<Duration>, tolerance: Duration? = nil,
    file: StaticString = #fileID, line: UInt = #line,
    _ action: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never> {
    schedule(at: own(instant, file, line), tolerance: tolerance, action)
  }

  /// An instant of this scheduler's clock.
  func own(
    _ instant: any InstantProtocol<Duration>, _ file: StaticString, _ line: UInt
  ) -> Instant {
    guard let own = instant as? Instant else {
      fatalError(
        "\(Self.self).schedule(at:): \(instant) is an instant of another clock; begin with the "
          + "scheduler's `now`", file: file, line: line)
    }
    return own
  }

  /// The end of a delay. As soon as possible is now; for ever is some billion years.
  func date(after delay: Duration) -> Instant {
    now.advanced(by: min(max(delay, .zero), .farthest))
  }
}

extension Duration {
  /// Longer than any real delay, and small enough to add to any instant.
  package static let farthest = Duration.seconds(1 << 60)
}
