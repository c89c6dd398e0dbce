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

  /// Creates a list from a first element. An asynchronous closure makes each next one, until it
  /// returns `nil`.
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
  /// - Failure: the closure's, remembered at its position. With `retryingFailures` the next demand
  ///   repeats only the failed step, with the state as it was before it.
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

  /// Creates a list of the elements that an asynchronous closure makes from a mutable state, until
  /// `nil`.
  ///
  /// ```swift
  /// let pages = LazyList(state: Cursor.first, retryingFailures: true) { cursor in
  ///   try await api.page(after: &cursor)
  /// }
  /// ```
  ///
  /// - Failure: the closure's, remembered at its position. With `retryingFailures` the next demand
  ///   repeats only the failed step, with the state as it was before it.
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
        if steps.finish(consume step) { await steps.executor.park() }
      }
    })
  }
}
