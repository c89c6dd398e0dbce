// Lists that closures make, one element after the other. A closure that throws nothing makes a list
// that cannot fail; one that throws a type of its own, a list of failures of that type.

// MARK: From the element before

extension LazyList {
  /// Creates a list of an element, then of what a closure makes of each element, until it gives
  /// `nil`.
  ///
  /// ```swift
  /// await LazyList(first: 1, next: { $0 * 2 }).prefix(4).array()   // [1, 2, 4, 8]
  /// ```
  ///
  /// - Laziness: stepwise. The first element runs nothing.
  /// - Failure: the closure's, remembered at its position. With `retryingFailures` the next demand
  ///   calls the closure again.
  @inlinable
  public init(
    first: Element, retryingFailures: Bool = false,
    next: @escaping @Sendable (Element) throws(Failure) -> Element?
  ) {
    self.init(state: Element?.none, retryingFailures: retryingFailures) { (last) throws(Failure) in
      last = if let element = last { try next(element) } else { first }
      return last
    }
  }

  /// Creates a list of an element, then of what an asynchronous closure makes of each element,
  /// until it gives `nil`.
  @inlinable
  public init(
    first: Element, retryingFailures: Bool = false,
    next: @escaping @Sendable (Element) async throws(Failure) -> Element?
  ) {
    self.init(
      state: Element?.none, retryingFailures: retryingFailures
    ) { (last) async throws(Failure) in
      last = if let element = last { try await next(element) } else { first }
      return last
    }
  }
}

// MARK: From a state

extension LazyList {
  /// Creates a list of what a closure makes of a state that it changes, until it gives `nil`.
  ///
  /// ```swift
  /// let fibs = LazyList(state: (0, 1)) { pair in
  ///   defer { pair = (pair.1, pair.0 + pair.1) }
  ///   return pair.0
  /// }
  /// await fibs.prefix(5).array()   // [0, 1, 1, 2, 3]
  /// ```
  ///
  /// A closure whose first `return` is a bare `nil` says what it gives: `{ state -> Int? in … }`.
  ///
  /// - Laziness: stepwise.
  /// - Failure: the closure's, remembered at its position. With `retryingFailures` the next demand runs
  ///   the failed step again, with the state as it was before, and none of the steps before it.
  @inlinable
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

  /// What an asynchronous closure makes of a state that it changes, until it gives `nil`.
  ///
  /// ```swift
  /// let pages = LazyList(state: Cursor.first, retryingFailures: true) { cursor in
  ///   try await api.page(after: &cursor)
  /// }
  /// ```
  ///
  /// - Failure: the closure's, remembered at its position. With `retryingFailures` the next demand runs
  ///   the failed step again, with the state as it was before, and none of the steps before it.
  @inlinable
  public init<State>(
    state: sending State, retryingFailures: Bool = false,
    next: @escaping @Sendable (inout State) async throws(Failure) -> Element?
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
        if steps.finish(consume step) { await steps.task.park() }
      }
    })
  }
}
