// Lists that closures make. Each public kind is one line over a plain or an asynchronous body.

// MARK: From the element before

extension LazyList where Failure == Never {
  /// An element, then what a closure makes of each element, until it gives `nil`.
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

  /// An element, then what an asynchronous closure makes of each element, until it gives `nil`.
  @inlinable
  public init(first: Element, next: @escaping @Sendable (Element) async -> Element?) {
    self.init(unfoldingInFlight: Element?.none) { (last) async in
      last = if let element = last { await next(element) } else { first }
      return last
    }
  }
}

extension LazyList where Failure == any Error {
  /// An element, then what a throwing closure makes of each element, until it gives `nil`.
  @inlinable
  public init(first: Element, next: @escaping @Sendable (Element) throws -> Element?) {
    self.init(unfolding: Element?.none) { (last) in
      last = if let element = last { try next(element) } else { first }
      return last
    }
  }

  /// An element, then what an asynchronous throwing closure makes of each element, until it gives
  /// `nil`.
  @inlinable
  public init(first: Element, next: @escaping @Sendable (Element) async throws -> Element?) {
    self.init(unfoldingInFlight: Element?.none) { (last) async throws in
      last = if let element = last { try await next(element) } else { first }
      return last
    }
  }
}

// MARK: From a state

extension LazyList where Failure == Never {
  /// What a closure makes of a state that it changes, until it gives `nil`.
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

  /// What an asynchronous closure makes of a state that it changes, until it gives `nil`.
  @inlinable
  public init<State>(
    state: sending State, next: @escaping @Sendable (inout State) async -> Element?
  ) {
    self.init(unfoldingInFlight: state) { (state) async in await next(&state) }
  }
}

extension LazyList where Failure == any Error {
  /// What a throwing closure makes of a state that it changes, until it gives `nil`.
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

  /// What an asynchronous throwing closure makes of a state that it changes, until it gives `nil`.
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
    self.init(unfoldingInFlight: state, retryingFailures: retryingFailures) {
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
  init<State>(
    unfolding state: sending State, retryingFailures: Bool = false,
    _ next: @escaping @Sendable (inout State) throws(Failure) -> Element?
  ) {
    let owned = Owned(state)
    self.init(producer: { (_) throws(Interruption<Failure>) in
      do throws(Failure) {
        guard retryingFailures else { return Step(try next(&owned.state)) }
        // Changed only if the step succeeds.
        var attempt = owned.state
        let element = try next(&attempt)
        owned.state = attempt
        return Step(element)
      } catch {
        throw retryingFailures ? .failedTransiently(error) : .failed(error)
      }
    })
  }

  @inlinable
  init<State>(
    unfoldingInFlight state: sending State, retryingFailures: Bool = false,
    _ next: @escaping @Sendable (inout State) async throws(Failure) -> Element?
  ) {
    let owned = Owned(state)
    self = .suspending { () throws(Interruption<Failure>) in
      do throws(Failure) {
        guard retryingFailures else { return Step(try await next(&owned.state)) }
        var attempt = owned.state
        let element = try await next(&attempt)
        owned.state = attempt
        return Step(element)
      } catch {
        throw retryingFailures ? .failedTransiently(error) : .failed(error)
      }
    }
  }
}

extension Step {
  @inlinable
  init(_ element: Element?) {
    self = if let element { .element(element) } else { .end }
  }
}

// MARK: From a head and a tail

extension LazyList where Failure == Never {
  /// An element and the list behind it, each made by a closure when it is demanded, once.
  ///
  /// ```swift
  /// let list = LazyList(head: { 1 }, tail: { [2, 3] })
  /// await list.array()   // [1, 2, 3]
  /// ```
  ///
  /// - Laziness: stepwise. The tail is not made to give the head.
  ///
  /// Replaces `+sequenceWithHeadBlock:tailBlock:`.
  @inlinable
  public init(
    head: @escaping @Sendable () -> Element, tail: @escaping @Sendable () -> LazyList
  ) {
    self.init(headThen: head, tail)
  }

  /// An element and the list behind it, each made by an asynchronous closure when it is demanded.
  @inlinable
  public init(
    head: @escaping @Sendable () async -> Element,
    tail: @escaping @Sendable () async -> LazyList
  ) {
    self.init(headThenInFlight: { () async in await head() }, { () async in await tail() })
  }
}

extension LazyList where Failure == any Error {
  /// An element and the list behind it, each made by a throwing closure when it is demanded.
  @inlinable
  public init(
    head: @escaping @Sendable () throws -> Element,
    tail: @escaping @Sendable () throws -> LazyList
  ) {
    self.init(headThen: head, tail)
  }

  /// An element and the list behind it, each made by an asynchronous throwing closure when it is
  /// demanded.
  @inlinable
  public init(
    head: @escaping @Sendable () async throws -> Element,
    tail: @escaping @Sendable () async throws -> LazyList
  ) {
    self.init(
      headThenInFlight: { () async throws in try await head() },
      { () async throws in try await tail() })
  }
}

extension LazyList {
  @inlinable
  init(
    headThen head: @escaping @Sendable () throws(Failure) -> Element,
    _ tail: @escaping @Sendable () throws(Failure) -> LazyList
  ) {
    // The head's closure is released once it has run.
    let owned = Owned(Optional(head))
    self.init(producer: { (_) throws(Interruption<Failure>) in
      do throws(Failure) {
        if let head = owned.state.take() { return .element(try head()) }
        return .become(try tail())
      } catch {
        throw .failed(error)
      }
    })
  }

  @inlinable
  init(
    headThenInFlight head: @escaping @Sendable () async throws(Failure) -> Element,
    _ tail: @escaping @Sendable () async throws(Failure) -> LazyList
  ) {
    let owned = Owned(Optional(head))
    self = .suspending { () throws(Interruption<Failure>) in
      do throws(Failure) {
        if let head = owned.state.take() { return .element(try await head()) }
        return .become(try await tail())
      } catch {
        throw .failed(error)
      }
    }
  }
}

// MARK: From a list that is made later

extension LazyList where Failure == Never {
  /// The list that a closure makes at the first demand.
  ///
  /// ```swift
  /// let entries = LazyList.deferred { LazyList(readDirectory()) }
  /// ```
  @inlinable
  public static func deferred(_ make: @escaping @Sendable () -> LazyList) -> LazyList {
    LazyList(producer: { (_) throws(Interruption<Never>) in .become(make()) })
  }

  /// The list that an asynchronous closure makes at the first demand.
  @inlinable
  public static func deferred(_ make: @escaping @Sendable () async -> LazyList) -> LazyList {
    suspending { () async throws(Interruption<Never>) in .become(await make()) }
  }
}

extension LazyList where Failure == any Error {
  /// The list that a throwing closure makes at the first demand. An error is its only fate.
  @inlinable
  public static func deferred(_ make: @escaping @Sendable () throws -> LazyList) -> LazyList {
    LazyList(producer: { (_) throws(Interruption<any Error>) in
      do { return .become(try make()) } catch { throw .failed(error) }
    })
  }

  /// The list that an asynchronous throwing closure makes at the first demand.
  @inlinable
  public static func deferred(_ make: @escaping @Sendable () async throws -> LazyList) -> LazyList {
    suspending { () throws(Interruption<any Error>) in
      do { return .become(try await make()) } catch { throw .failed(error) }
    }
  }
}

// MARK: From itself

extension LazyList {
  /// The list that is defined by itself.
  ///
  /// ```swift
  /// let fibs = LazyList<Int, Never>.recursive { fibs in
  ///   [0, 1] + zip(fibs, fibs.tail).map { $0 + $1 }
  /// }
  /// await fibs.prefix(6).array()   // [0, 1, 1, 2, 3, 5]
  /// ```
  ///
  /// The definition reads cells of its own, as far back as it needs, and does not keep the list
  /// alive; the list that is returned has cells for its readers.
  ///
  /// - Laziness: deferred; the closure runs at the first demand.
  /// - Failure: an element that needs itself is a ``CyclicEvaluationError``; where the list cannot
  ///   fail it traps with the same text.
  public static func recursive(
    _ define: @escaping @Sendable (LazyList) -> LazyList
  ) -> LazyList {
    let definition = Owned(Definition(define))
    let inner = Evaluator<Element, Failure>(
      Producer { (budget) throws(Interruption<Failure>) in
        definition.state.begin()
        definition.state.source?.budget = budget
        guard let element = try definition.state.source?.next() else { return .end }
        return .element(element)
      })
    let list = LazyList(
      segment: Segment(
        source: .anchored(Anchor(inner)), start: 0, capacity: Capacity<Element>.first), offset: 0)
    definition.state.list = list
    let lifetime = Lifetime(inner)
    let readers = Owned(Cursor(list, takesOver: false))
    return LazyList(producer: { (budget) throws(Interruption<Failure>) in
      readers.state.budget = budget
      return try withExtendedLifetime(lifetime) { () throws(Interruption<Failure>) in
        Step(try readers.state.next())
      }
    })
  }

  private struct Definition {
    var define: (@Sendable (LazyList) -> LazyList)?
    var list: LazyList?
    var source: Cursor<Element, Failure>?

    init(_ define: @escaping @Sendable (LazyList) -> LazyList) { self.define = define }

    mutating func begin() {
      guard let define = define.take(), let list = list.take() else { return }
      source = Cursor(define(list))
    }
  }
}

/// Keeps the evaluator of a recursive definition, and gives its step in flight up at the end.
private final class Lifetime<Element: Sendable, Failure: Error>: Sendable {
  private let evaluator: Evaluator<Element, Failure>

  init(_ evaluator: Evaluator<Element, Failure>) { self.evaluator = evaluator }

  deinit { evaluator.abandon() }
}
