// Lists that closures make. Each public kind is one line over a plain or an asynchronous body.

// MARK: From the element before

extension LazyList where Failure == Never {
  /// Creates a list of an element, then of what a closure makes of each element, until it gives
  /// `nil`.
  ///
  /// ```swift
  /// await LazyList(first: 1, next: { $0 * 2 }).prefix(4).array()   // [1, 2, 4, 8]
  /// ```
  ///
  /// - Laziness: stepwise. The first element runs nothing.
  @inlinable
  public init(first: Element, next: @escaping @Sendable (Element) -> Element?) {
    self.init(unfolding: Element?.none) { (last) in
      last = if let element = last { next(element) } else { first }
      return last
    }
  }

  /// Creates a list of an element, then of what an asynchronous closure makes of each element,
  /// until it gives `nil`.
  @inlinable
  public init(first: Element, next: @escaping @Sendable (Element) async -> Element?) {
    self.init(unfoldingInTask: Element?.none) { (last) async in
      last = if let element = last { await next(element) } else { first }
      return last
    }
  }
}

extension LazyList where Failure == any Error {
  /// Creates a list of an element, then of what a throwing closure makes of each element, until it
  /// gives `nil`.
  @inlinable
  public init(first: Element, next: @escaping @Sendable (Element) throws -> Element?) {
    self.init(first: first, retryingFailures: false, next: next)
  }

  /// Creates a list of an element, then of what an asynchronous throwing closure makes of each
  /// element, until it gives `nil`.
  @inlinable
  public init(first: Element, next: @escaping @Sendable (Element) async throws -> Element?) {
    self.init(first: first, retryingFailures: false, next: next)
  }
}

// MARK: From a state

extension LazyList where Failure == Never {
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
  /// - Laziness: stepwise.
  @inlinable
  public init<State>(
    state: sending State, next: @escaping @Sendable (inout State) -> Element?
  ) {
    self.init(unfolding: state, next)
  }

  /// Creates a list of what an asynchronous closure makes of a state that it changes, until it
  /// gives `nil`.
  @inlinable
  public init<State>(
    state: sending State, next: @escaping @Sendable (inout State) async -> Element?
  ) {
    self.init(unfoldingInTask: state) { (state) async in await next(&state) }
  }
}

extension LazyList where Failure == any Error {
  /// Creates a list of what a throwing closure makes of a state that it changes, until it gives
  /// `nil`.
  ///
  /// - Failure: remembered at its position. With `retryingFailures` the next demand runs the failed
  ///   step again, with the state as it was before, and none of the steps before it.
  @inlinable
  public init<State>(
    state: sending State, retryingFailures: Bool = false,
    next: @escaping @Sendable (inout State) throws -> Element?
  ) {
    self.init(unfolding: state, retryingFailures: retryingFailures, next)
  }

  /// Creates a list of what an asynchronous throwing closure makes of a state that it changes,
  /// until it gives `nil`.
  ///
  /// ```swift
  /// let pages = LazyList(state: Cursor.first, retryingFailures: true) { cursor in
  ///   try await api.page(after: &cursor)
  /// }
  /// ```
  ///
  /// - Failure: remembered at its position. With `retryingFailures` the next demand runs the failed
  ///   step again, with the state as it was before, and none of the steps before it.
  @inlinable
  public init<State>(
    state: sending State, retryingFailures: Bool = false,
    next: @escaping @Sendable (inout State) async throws -> Element?
  ) {
    self.init(unfoldingInTask: state, retryingFailures: retryingFailures) {
      (state) async throws in try await next(&state)
    }
  }

  /// As `init(state:retryingFailures:next:)`, with the closure first.
  @inlinable
  public init<State>(
    state: sending State, next: @escaping @Sendable (inout State) throws -> Element?,
    retryingFailures: Bool
  ) {
    self.init(state: state, retryingFailures: retryingFailures, next: next)
  }

  /// As `init(state:retryingFailures:next:)`, with the closure first.
  @inlinable
  public init<State>(
    state: sending State, next: @escaping @Sendable (inout State) async throws -> Element?,
    retryingFailures: Bool
  ) {
    self.init(state: state, retryingFailures: retryingFailures, next: next)
  }
}

extension LazyList {
  @inlinable
  package init<State>(
    unfolding state: sending State, retryingFailures: Bool = false,
    _ next: @escaping @Sendable (inout State) throws(Failure) -> Element?
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

  @inlinable
  init<State>(
    unfoldingInTask state: sending State, retryingFailures: Bool = false,
    _ next: @escaping @Sendable (inout State) async throws(Failure) -> Element?
  ) {
    let owned = Owned(state)
    self.init(inTask: {
      do throws(Failure) {
        guard retryingFailures else { return Step(try await next(&owned.state)) }
        var attempt = owned.state
        let element = try await next(&attempt)
        owned.state = attempt
        return Step(element)
      } catch {
        return .nothing(.fate(error, retryingFailures))
      }
    })
  }
}
