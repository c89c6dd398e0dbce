// Lists that closures make one element at a time. A list cannot fail if its closure throws nothing;
// it fails with the type that its closure throws.

// MARK: From the element before

extension LazyList {
  /// Creates a list from a first element. A closure makes each next one from the element before,
  /// until it returns `nil`.
  ///
  /// ```swift
  /// await LazyList(first: 1, next: { $0 * 2 }).prefix(4).array()   // [1, 2, 4, 8]
  /// ```
  ///
  /// - Laziness: stepwise. The first element runs nothing.
  /// - Failure: the closure's, kept at its position. With `retryingFailures` the next request
  ///   calls the closure again.
  @_alwaysEmitIntoClient
  public init(
    first: Element, retryingFailures: Bool = false,
    next: @escaping @Sendable (Element) throws(Failure) -> Element?
  ) {
    self.init(state: Element?.none, retryingFailures: retryingFailures) { (last) throws(Failure) in
      last = if let element = last { try next(element) } else { first }
      return last
    }
  }

  /// Creates a list from a first element. An asynchronous closure makes each next one, until it
  /// returns `nil`.
  ///
  /// As ``init(state:retryingFailures:cancelsUnobservedSteps:next:)``.
  @_alwaysEmitIntoClient @inline(__always)
  public init(
    first: Element, retryingFailures: Bool = false, cancelsUnobservedSteps: Bool = false,
    next: @escaping @Sendable (Element) async throws(Failure) -> Element?
  ) {
    self.init(
      state: Element?.none, retryingFailures: retryingFailures,
      cancelsUnobservedSteps: cancelsUnobservedSteps
    ) { (last) async throws(Failure) in
      last = if let element = last { try await next(element) } else { first }
      return last
    }
  }
}

// MARK: From a state

extension LazyList {
  /// Creates a list of the elements that a closure makes from a mutable state, until it returns
  /// `nil`.
  ///
  /// ```swift
  /// let fibs = LazyList(state: (0, 1)) { pair in
  ///   defer { pair = (pair.1, pair.0 + pair.1) }
  ///   return pair.0
  /// }
  /// await fibs.prefix(5).array()   // [0, 1, 1, 2, 3]
  /// ```
  ///
  /// If the closure's first `return` is a bare `nil`, state its type: `{ state -> Int? in … }`.
  ///
  /// - Laziness: stepwise.
  /// - Failure: the closure's, kept at its position. With `retryingFailures` the next request
  ///   repeats only the failed step, with the state as it was before it.
  @_alwaysEmitIntoClient
  public init<State>(
    state: sending State, retryingFailures: Bool = false,
    next: @escaping @Sendable (inout State) throws(Failure) -> Element?
  ) {
    let owned = Owned(state)
    self.init(producer: { (_, sink) in
      do throws(Failure) {
        guard retryingFailures else {
          while let element = try next(&owned.state) {
            if !sink(element) { return .stopped }
          }
          return .nothing(.end)
        }
        while true {
          // Changed only if the step succeeds.
          var attempt = owned.state
          let element = try next(&attempt)
          owned.state = attempt
          guard let element else { return .nothing(.end) }
          if !sink(element) { return .stopped }
        }
      } catch {
        return .nothing(.fate(error, retryingFailures))
      }
    })
  }

  /// Creates a list of the elements that an asynchronous closure makes from a mutable state, until
  /// `nil`.
  ///
  /// ```swift
  /// let pages = LazyList(state: Cursor.first, retryingFailures: true) { cursor in
  ///   try await api.page(after: &cursor)
  /// }
  /// ```
  ///
  /// With `cancelsUnobservedSteps` a step that nobody waits for any more is cancelled:
  ///
  /// ```swift
  /// let asked = Probe<Int>()
  /// let pages = LazyList(state: 1, cancelsUnobservedSteps: true) {
  ///   number async throws -> Int? in
  ///   asked.record(number)
  ///   number += 1
  ///   if asked.count == 1 { try await Task.sleep(for: .seconds(60)) }
  ///   return number <= 3 ? number * 100 : nil
  /// }
  /// let impatient = Task { try await pages.head() }
  /// await asked.waitForCount(1)
  /// impatient.cancel()
  /// _ = await impatient.result
  /// print(try await pages.array(), asked.values)   // [200, 300] [1, 1, 2, 3]
  /// ```
  ///
  /// For requests that are not worth finishing when the one who asked has gone. When the last reader that
  /// waits for a step is cancelled, the step is cancelled, too, and its result is dropped, whatever it is.
  /// The state is as before the step, and the next request runs it again. A state that is an object is not
  /// copied: then the step has to undo its changes.
  ///
  /// - Laziness: stepwise.
  /// - Isolation: each step runs in the list's task; with `cancelsUnobservedSteps`, in a child of it.
  /// - Failure: the closure's, kept at its position. With `retryingFailures` the next request
  ///   repeats only the failed step, with the state as it was before it.
  /// - Cancellation: a step in flight continues for other readers; with `cancelsUnobservedSteps` see above.
  ///   Readers of lists made of this one wait for this step, and count. Look-ahead is not such a reader, and
  ///   continues for its readers to come; nor is a closure that reads this list itself.
  @_alwaysEmitIntoClient @inline(__always)
  public init<State>(
    state: sending State, retryingFailures: Bool = false, cancelsUnobservedSteps: Bool = false,
    next: @escaping @Sendable (inout State) async throws(Failure) -> Element?
  ) {
    if cancelsUnobservedSteps {
      self.init(cancelling: state, retryingFailures, next)
    } else {
      self.init(finishing: state, retryingFailures, next)
    }
  }

  /// Every step that has begun runs to its end.
  @_alwaysEmitIntoClient
  init<State>(
    finishing state: sending State, _ retryingFailures: Bool,
    _ next: @escaping @Sendable (inout State) async throws(Failure) -> Element?
  ) {
    let owned = Owned(state)
    self.init(inTask: { steps in
      while steps.begin() {
        let step: Step<Element>
        do throws(Failure) {
          if retryingFailures {
            var attempt = owned.state
            step = Step(try await next(&attempt))
            owned.state = attempt
          } else {
            step = Step(try await next(&owned.state))
          }
        } catch {
          step = .nothing(.fate(error, retryingFailures))
        }
        if steps.finish(consume step) { await steps.executor.park() }
      }
    })
  }

  /// A step that nobody waits for any more is cancelled.
  @_alwaysEmitIntoClient
  init<State>(
    cancelling state: sending State, _ retryingFailures: Bool,
    _ next: @escaping @Sendable (inout State) async throws(Failure) -> Element?
  ) {
    let owned = Owned(state)
    self.init(inTaskWhileAwaited: { steps in
      while steps.begin() {
        // It takes the state's place only if the step counts.
        let attempt = Owned(owned.state)
        let result = await steps.whileAwaited { () async -> Result<Element?, Failure> in
          do throws(Failure) { return .success(try await next(&attempt.state)) } catch {
            return .failure(error)
          }
        }
        let step: Step<Element>
        switch result {
        case .success(let element)?:
          owned.state = attempt.state
          step = Step(element)
        case .failure(let error)?: step = .nothing(.fate(error, retryingFailures))
        case nil: step = .skip
        }
        if steps.finish(consume step) { await steps.executor.park() }
      }
    })
  }
}
