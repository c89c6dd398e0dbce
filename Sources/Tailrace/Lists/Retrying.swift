// Lists and memos whose closures may fail for now: with `retryingFailures` the next demand runs the
// failed one again.

extension Memo where Failure == any Error {
  /// Creates a memo of a value that a throwing closure computes, again after a failure.
  ///
  /// ```swift
  /// let settings = Memo(retryingFailures: true) { try await load() }
  /// ```
  ///
  /// - Failure: given to all who wait for the attempt. If `retryingFailures`, the next demand computes
  ///   anew; a value is remembered in any case.
  @inlinable
  public init(retryingFailures: Bool, _ compute: @escaping @Sendable () throws -> Value) {
    self.init(
      list: LazyList(producer: { (_, sink) in
        do { _ = sink(try compute()) } catch { return .nothing(.fate(error, retryingFailures)) }
        return .nothing(.end)
      }))
  }

  /// Creates a memo of a value that an asynchronous throwing closure computes, again after a
  /// failure, in a task that belongs to the memo.
  @inlinable
  public init(retryingFailures: Bool, _ compute: @escaping @Sendable () async throws -> Value) {
    self.init(
      list: LazyList(inTask: {
        do { return .last(try await compute()) } catch {
          return .nothing(.fate(error, retryingFailures))
        }
      }))
  }
}

extension LazyList where Failure == any Error {
  /// Returns the list that a throwing closure makes at the first demand, or, after a failure, at a
  /// later one.
  ///
  /// ```swift
  /// let rows = LazyList.deferred(retryingFailures: true) { try open(file).rows }
  /// ```
  ///
  /// - Laziness: deferred.
  @inlinable
  public static func deferred(
    retryingFailures: Bool, _ make: @escaping @Sendable () throws -> LazyList
  ) -> LazyList {
    LazyList(stepping: { _ in
      do { return .become(try make()) } catch { return .nothing(.fate(error, retryingFailures)) }
    })
  }

  /// Returns the list that an asynchronous throwing closure makes at the first demand, or, after a
  /// failure, at a later one.
  @inlinable
  public static func deferred(
    retryingFailures: Bool, _ make: @escaping @Sendable () async throws -> LazyList
  ) -> LazyList {
    LazyList(inTask: {
      do { return .become(try await make()) } catch {
        return .nothing(.fate(error, retryingFailures))
      }
    })
  }

  /// Creates a list of an element, then of what a throwing closure makes of each element, until it
  /// gives `nil`; a failed call is made again.
  ///
  /// - Laziness: stepwise. The first element runs nothing.
  @inlinable
  public init(
    first: Element, retryingFailures: Bool,
    next: @escaping @Sendable (Element) throws -> Element?
  ) {
    self.init(state: Element?.none, retryingFailures: retryingFailures) { (last) throws in
      last = if let element = last { try next(element) } else { first }
      return last
    }
  }

  /// Creates a list of an element, then of what an asynchronous throwing closure makes of each
  /// element, until it gives `nil`; a failed call is made again.
  @inlinable
  public init(
    first: Element, retryingFailures: Bool,
    next: @escaping @Sendable (Element) async throws -> Element?
  ) {
    self.init(state: Element?.none, retryingFailures: retryingFailures) { (last) async throws in
      last = if let element = last { try await next(element) } else { first }
      return last
    }
  }

  /// Creates a list of an element and what comes after it, each made by a throwing closure when it
  /// is demanded, again after a failure.
  ///
  /// - Laziness: stepwise. The tail is not made to give the head.
  @inlinable
  public init(
    retryingFailures: Bool, head: @escaping @Sendable () throws -> Element,
    tail: @escaping @Sendable () throws -> LazyList
  ) {
    self.init(headThen: head, tail, retryingFailures: retryingFailures)
  }

  /// Creates a list of an element and what comes after it, each made by an asynchronous throwing
  /// closure when it is demanded, again after a failure.
  @inlinable
  public init(
    retryingFailures: Bool, head: @escaping @Sendable () async throws -> Element,
    tail: @escaping @Sendable () async throws -> LazyList
  ) {
    self.init(
      headThenInTask: { () async throws in try await head() },
      { () async throws in try await tail() }, retryingFailures: retryingFailures)
  }
}
