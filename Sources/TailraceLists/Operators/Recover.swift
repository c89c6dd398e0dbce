// Replacements of a failure. They change only the failed position: the elements before it are those
// of the failing list, and nothing runs before the failed element is demanded.
extension LazyList {
  /// Returns the elements up to a failure, then those of a list that a closure makes from it.
  ///
  /// ```swift
  /// let orders = onlineOrders.catch { error in
  ///   log(error)
  ///   return storedOrders
  /// }
  /// ```
  /// ![Other elements in the place of a failure.](marbles-catch)
  ///
  /// The closure's list is the rest of this one, permanently. The result fails as that list does,
  /// or not at all.
  ///
  /// - Laziness: stepwise. The closure runs once, when the failed element is requested.
  /// - Failure: that of the closure's list. A step that may be retried is not: its first failure is
  ///   caught.
  /// - Cancellation: a reader's is no failure, and is not caught.
  ///
  /// Replaces `-catch:`.
  @_alwaysEmitIntoClient
  public consuming func `catch`(
    @_CheckedAlone<LazyList<Element, Never>> _ handler:
      @escaping @Sendable (Failure) -> LazyList<Element, Never>
  ) -> LazyList<Element, Never> {
    recovering { (failure, _) in .become(handler(failure).place) }
  }

  /// Returns the elements up to a failure, then those of a list, which may fail, that a closure
  /// makes from it.
  @_alwaysEmitIntoClient @_disfavoredOverload
  public consuming func `catch`<NewFailure: Error>(
    @_CheckedAlone<LazyList<Element, NewFailure>> _ handler:
      @escaping @Sendable (Failure) -> LazyList<Element, NewFailure>
  ) -> LazyList<Element, NewFailure> {
    recovering { (failure, _) in .become(handler(failure).place) }
  }

  /// Returns the elements up to a failure, then those of a list that an asynchronous closure makes
  /// from it.
  @_alwaysEmitIntoClient
  public consuming func `catch`<NewFailure: Error>(
    @_CheckedAlone<LazyList<Element, NewFailure>> _ handler:
      @escaping @Sendable (Failure) async -> LazyList<Element, NewFailure>
  ) -> LazyList<Element, NewFailure> {
    recovering { (failure, _) in
      .become(
        LazyList<Element, NewFailure>(inTask: { steps in
          await steps.take { .become(await handler(failure).place) }
        }).place)
    }
  }

  /// Returns the elements up to a failure, then those of a list that a throwing closure,
  /// asynchronous or not, makes from it.
  @_alwaysEmitIntoClient
  public consuming func `catch`<NewFailure: Error>(
    @_CheckedAlone<LazyList<Element, NewFailure>> _ handler:
      @escaping @Sendable (Failure) async throws -> LazyList<Element, NewFailure>
  ) -> LazyList<Element, any Error> {
    recovering { (failure, _) in
      .become(
        LazyList<Element, any Error>(inTask: { steps in
          await steps.take {
            do { return .become(try await handler(failure).place) } catch {
              return .nothing(.failed(error))
            }
          }
        }).place)
    }
  }

  /// Returns the elements up to a failure, then one more in its place.
  ///
  /// ```swift
  /// await (LazyList(1...2) + .failing(Offline())).replacingFailure(with: 0).array()
  /// // [1, 2, 0]
  /// ```
  /// ![An element and the end in the place of a failure.](marbles-replacingFailure)
  ///
  /// - Laziness: stepwise.
  ///
  /// Replaces `-catchTo:`.
  @_alwaysEmitIntoClient
  public consuming func replacingFailure(with element: Element) -> LazyList<Element, Never> {
    recovering { (_, _) in .become(LazyList(single: element).place) }
  }

  /// Returns the elements up to a failure, and ends there.
  ///
  /// ```swift
  /// await (LazyList(1...2) + .failing(Offline())).endingAtFailure().array()
  /// // [1, 2]
  /// ```
  /// ![The end in the place of a failure.](marbles-endingAtFailure)
  ///
  /// - Laziness: stepwise.
  ///
  /// Replaces `-catchTo:` with an empty sequence.
  @_alwaysEmitIntoClient
  public consuming func endingAtFailure() -> LazyList<Element, Never> {
    recovering { (_, _) in .nothing(.end) }
  }

  /// Returns the same elements with another failure.
  ///
  /// ```swift
  /// let orders = pages.mapFailure { OrderError.notLoaded(because: $0) }
  /// ```
  ///
  /// - Laziness: stepwise. The closure runs when the failed element is requested.
  /// - Failure: the closure's result. A step that may be retried still is.
  @_alwaysEmitIntoClient
  public consuming func mapFailure<NewFailure: Error>(
    @_CheckedAlone<NewFailure> _ transform: @escaping @Sendable (Failure) -> NewFailure
  ) -> LazyList<Element, NewFailure> {
    recovering { (failure, isRetried) in .nothing(.fate(transform(failure), isRetried)) }
  }

  /// The elements up to a failure, and the continuation that a closure gives.
  ///
  /// - Parameter recover: learns too whether the failed step may be retried.
  @_alwaysEmitIntoClient
  consuming func recovering<NewFailure: Error>(
    _ recover:
      @escaping @Sendable (_ failure: Failure, _ isRetried: Bool) -> Ending<Element>,
    stage: StageName = #function
  ) -> LazyList<Element, NewFailure> {
    let source = Owned(Cursor(self))
    let producer = Producer<Element>(
      { (demand, sink) in
        let ending: Ending<Element> = source.state.push(demand, sink)
        switch ending {
        case .stopped: return .stopped
        case .become(let list):
          let rest: LazyList<Element, NewFailure> =
            LazyList(list).recovering(recover, stage: stage)
          return .become(rest.place)
        case .nothing(.failed(let failure)): return recover(Failure.known(failure), false)
        case .nothing(.failedTransiently(let failure)):
          return recover(Failure.known(failure), true)
        case .nothing(let absence): return .nothing(absence)
        }
      }, stage: stage, upstream: source)
    return LazyList<Element, NewFailure>(Evaluator(producer))
  }
}
