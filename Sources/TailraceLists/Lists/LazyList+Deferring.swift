// Lists whose parts closures make on demand.

// MARK: From a head and a tail

extension LazyList {
  /// Creates a list from closures for its head and its tail, each called once, on demand.
  ///
  /// ```swift
  /// let list = LazyList(head: { 1 }, tail: { [2, 3] })
  /// await list.array()   // [1, 2, 3]
  /// ```
  ///
  /// - Laziness: stepwise. Requesting the head does not make the tail.
  /// - Failure: the closures', each at its position. With `retryingFailures` the next request calls
  ///   the failed closure again.
  ///
  /// Replaces `+sequenceWithHeadBlock:tailBlock:`.
  @_alwaysEmitIntoClient
  public init(
    retryingFailures: Bool = false, head: @escaping @Sendable () throws(Failure) -> Element,
    tail: @escaping @Sendable () throws(Failure) -> LazyList
  ) {
    // The head's closure is released once it has returned the head.
    let owned = Owned(Optional(head))
    self.init(stepping: { _ in
      do throws(Failure) {
        guard let head = owned.state else { return .become(try tail().place) }
        let element = try head()
        owned.state = nil
        return .element(element)
      } catch {
        return .nothing(.fate(error, retryingFailures))
      }
    })
  }

  /// An element and the list after it, each made by an asynchronous closure on demand.
  @_alwaysEmitIntoClient
  public init(
    retryingFailures: Bool = false, head: @escaping @Sendable () async throws(Failure) -> Element,
    tail: @escaping @Sendable () async throws(Failure) -> LazyList
  ) {
    let owned = Owned(Optional(head))
    self.init(inTask: { steps in
      await steps.take {
        do throws(Failure) {
          guard let head = owned.state else { return .become(try await tail().place) }
          let element = try await head()
          owned.state = nil
          return .element(element)
        } catch {
          return .nothing(.fate(error, retryingFailures))
        }
      }
    })
  }
}

// MARK: From a list that is made later

extension LazyList {
  /// Returns the list that a closure makes at the first request.
  ///
  /// ```swift
  /// let entries = LazyList.deferred { LazyList(readDirectory()) }
  /// ```
  ///
  /// - Laziness: deferred.
  /// - Failure: if the closure fails, the list is that failure. With `retryingFailures` the next
  ///   request calls the closure again.
  @_alwaysEmitIntoClient
  public static func deferred(
    retryingFailures: Bool = false, _ make: @escaping @Sendable () throws(Failure) -> LazyList
  ) -> LazyList {
    LazyList(stepping: { _ in
      do throws(Failure) { return .become(try make().place) } catch {
        return .nothing(.fate(error, retryingFailures))
      }
    })
  }

  /// Returns the list that an asynchronous closure makes at the first request.
  @_alwaysEmitIntoClient
  public static func deferred(
    retryingFailures: Bool = false, _ make: @escaping @Sendable () async throws(Failure) -> LazyList
  ) -> LazyList {
    LazyList(inTask: { steps in
      await steps.take {
        do throws(Failure) { return .become(try await make().place) } catch {
          return .nothing(.fate(error, retryingFailures))
        }
      }
    })
  }
}

// MARK: From itself

extension LazyList {
  /// Returns a list that is defined by itself.
  ///
  /// ```swift
  /// let fibs = LazyList<Int, Never>.recursive { fibs in
  ///   [0, 1] + zip(fibs, fibs.tail).map { $0 + $1 }
  /// }
  /// await fibs.prefix(6).array()   // [0, 1, 1, 2, 3, 5]
  /// ```
  ///
  /// The definition reads cells of its own, as far back as it needs, and does not retain the list.
  /// The returned list has cells for its readers. If the closure's list is kept and outlives the
  /// returned one, its computed elements can be read. Requesting another one is a programmer's
  /// error: it traps, or throws `CancellationError` if the list's failure is `any Error`.
  ///
  /// - Laziness: deferred; the closure runs at the first request.
  /// - Failure: an element that needs itself is a ``CyclicEvaluationError``; a list that cannot
  ///   fail traps with the same text.
  @_alwaysEmitIntoClient @_disfavoredOverload
  public static func recursive(
    _ define: @escaping @Sendable (LazyList) -> LazyList
  ) -> LazyList {
    LazyList(recursive: define)
  }

  @_alwaysEmitIntoClient
  init(recursive define: @escaping @Sendable (LazyList) -> LazyList) {
    let definition = Definition(define)
    let inner = Evaluator<Element>(
      Producer(
        stage: "definition", upstream: definition,
        stepping: { demand in
          definition.begin()
          definition.source?.demand = demand.forOne
          guard let element = definition.source?.next() else {
            return .nothing(definition.source?.takeAbsence() ?? .end)
          }
          return .element(element)
        }))
    let list = LazyList(
      segment: Segment(
        owner: nil, anchor: Anchor(inner)), offset: 0)
    definition.list = list
    let lifetime = Lifetime(inner)
    let readers = Owned(Cursor(list, takesOver: false))
    let outer = Producer<Element>(
      stage: "recursive", upstream: readers,
      stepping: { demand in
        readers.state.demand = demand.forOne
        return withExtendedLifetime(lifetime) {
          guard let element = readers.state.next() else {
            return .nothing(readers.state.takeAbsence())
          }
          return .element(element)
        }
      })
    self.init(Evaluator(outer, definition: inner))
  }

  /// What a recursive list is made of.
  // A class: a structure's code to copy it would be in every program.
  // Guard: the claim of the evaluator. May touch it: the step in progress.
  @usableFromInline
  package final class Definition: @unchecked Sendable {
    @usableFromInline var define: (@Sendable (LazyList) -> LazyList)?
    @usableFromInline var list: LazyList?
    @usableFromInline package var source: Cursor<Element>?

    @_alwaysEmitIntoClient
    init(_ define: @escaping @Sendable (LazyList) -> LazyList) { self.define = define }

    @_alwaysEmitIntoClient
    func begin() {
      guard let define = define.take(), let list = list.take() else { return }
      source = Cursor(define(list))
    }
  }
}

extension LazyList where Failure == Never {
  /// Returns a list that is defined by itself. Without a stated `Failure` it cannot fail.
  @_alwaysEmitIntoClient
  public static func recursive(
    _ define: @escaping @Sendable (LazyList) -> LazyList
  ) -> LazyList {
    LazyList(recursive: define)
  }
}

/// Retains the evaluator of a recursive definition, and abandons its step in flight at the end.
@usableFromInline
final class Lifetime<Element: Sendable>: Sendable {
  private let evaluator: Evaluator<Element>

  @usableFromInline
  init(_ evaluator: Evaluator<Element>) { self.evaluator = evaluator }

  deinit { evaluator.abandon() }
}
