// Operators whose closures may fail for now. With `retryingFailures` nothing is remembered of a failed
// attempt: the next demand runs that one step again, with the same element, and with the state as it
// was. Steps before it never run again.

// MARK: Each element by itself

extension LazyList {
  /// Returns the results of a throwing closure for each element; a failed call is made again.
  ///
  /// ```swift
  /// let pages = urls.map(retryingFailures: true) { url in try await load(url) }
  /// try await pages.element(at: 3)   // throws: page 3 was not there
  /// try await pages.element(at: 3)   // "page 3"; loaded again, and no other
  /// ```
  ///
  /// - Laziness: stepwise.
  /// - Failure: given to all who wait for the attempt, and not remembered, if `retryingFailures`.
  @inlinable
  public consuming func map<T: Sendable>(
    retryingFailures: Bool,
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) throws -> T
  ) -> LazyList<T, any Error> {
    widened().judging((), retryingFailures) { (_, element) in .emit(try transform(element)) }
  }

  /// Returns the results of an asynchronous throwing closure for each element; a failed call is
  /// made again.
  @inlinable
  public consuming func map<T: Sendable>(
    retryingFailures: Bool,
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) async throws -> T
  ) -> LazyList<T, any Error> {
    widened().judgingInTask((), retryingFailures) { (_, element) async throws in
      .emit(try await transform(element))
    }
  }

  /// Returns the results of a throwing closure that are not `nil`; a failed call is made again.
  ///
  /// - Laziness: searching.
  @inlinable
  public consuming func compactMap<T: Sendable>(
    retryingFailures: Bool,
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) throws -> T?
  ) -> LazyList<T, any Error> {
    widened().judging((), retryingFailures) { (_, element) in Verdict(try transform(element)) }
  }

  /// Returns the results of an asynchronous throwing closure that are not `nil`; a failed call is
  /// made again.
  @inlinable
  public consuming func compactMap<T: Sendable>(
    retryingFailures: Bool,
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) async throws -> T?
  ) -> LazyList<T, any Error> {
    widened().judgingInTask((), retryingFailures) { (_, element) async throws in
      Verdict(try await transform(element))
    }
  }

  /// Returns the elements that satisfy a throwing predicate; a failed call is made again.
  ///
  /// - Laziness: searching.
  @inlinable
  public consuming func filter(
    retryingFailures: Bool,
    @_CheckedAlone<Bool> _ isIncluded: @escaping @Sendable (Element) throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().judging((), retryingFailures) { (_, element) in
      try isIncluded(element) ? .emit(element) : .skip
    }
  }

  /// Returns the elements that satisfy an asynchronous throwing predicate; a failed call is made
  /// again.
  @inlinable
  public consuming func filter(
    retryingFailures: Bool,
    @_CheckedAlone<Bool> _ isIncluded: @escaping @Sendable (Element) async throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().judgingInTask((), retryingFailures) { (_, element) async throws in
      try await isIncluded(element) ? .emit(element) : .skip
    }
  }
}

// MARK: Lists in lists

extension LazyList {
  /// Returns the elements of the lists that a throwing closure makes of each element; a failed call
  /// is made again.
  ///
  /// - Laziness: searching, through empty lists.
  /// - Failure: of a list that the closure gives, as that list has it: remembered, or retried.
  @inlinable
  public consuming func flatMap<T: Sendable, InnerFailure: Error>(
    retryingFailures: Bool,
    @_CheckedAlone<LazyList<T, InnerFailure>> _ transform:
      @escaping @Sendable (Element) throws -> LazyList<T, InnerFailure>
  ) -> LazyList<T, any Error> {
    map(retryingFailures: retryingFailures, transform).flattened()
  }

  /// Returns the elements of the lists that an asynchronous throwing closure makes of each element;
  /// a failed call is made again.
  @inlinable
  public consuming func flatMap<T: Sendable, InnerFailure: Error>(
    retryingFailures: Bool,
    @_CheckedAlone<LazyList<T, InnerFailure>> _ transform:
      @escaping @Sendable (Element) async throws -> LazyList<T, InnerFailure>
  ) -> LazyList<T, any Error> {
    map(retryingFailures: retryingFailures, transform).flattened()
  }

  /// Returns the elements of the sequences that a throwing closure makes of each element; a failed
  /// call is made again.
  ///
  /// - Laziness: searching, through empty sequences.
  @inlinable
  public consuming func flatMap<S: Sequence & Sendable>(
    retryingFailures: Bool,
    @_CheckedAlone<S> _ transform: @escaping @Sendable (Element) throws -> S
  ) -> LazyList<S.Element, any Error> {
    map(retryingFailures: retryingFailures, transform).joined()
  }

  /// Returns the elements of the sequences that an asynchronous throwing closure makes of each
  /// element; a failed call is made again.
  @inlinable
  public consuming func flatMap<S: Sequence & Sendable>(
    retryingFailures: Bool,
    @_CheckedAlone<S> _ transform: @escaping @Sendable (Element) async throws -> S
  ) -> LazyList<S.Element, any Error> {
    map(retryingFailures: retryingFailures, transform).joined()
  }

  /// Returns the elements of the lists that a throwing closure makes of each element, until it says
  /// stop; a failed call is made again.
  ///
  /// - Laziness: searching, through empty lists.
  @inlinable
  public consuming func bind<T: Sendable>(
    retryingFailures: Bool,
    _ next: @escaping @Sendable (Element, inout Bool) throws -> LazyList<T, any Error>?
  ) -> LazyList<T, any Error> {
    widened().judging((), retryingFailures) { (_, element) in
      var stop = false
      return Verdict(binding: try next(element, &stop), stop)
    }.joined()
  }

  /// Returns the elements of the lists that an asynchronous throwing closure makes of each element,
  /// until it says stop; a failed call is made again.
  @inlinable
  public consuming func bind<T: Sendable>(
    retryingFailures: Bool,
    _ next: @escaping @Sendable (Element, inout Bool) async throws -> LazyList<T, any Error>?
  ) -> LazyList<T, any Error> {
    widened().judgingInTask((), retryingFailures) { (_, element) async throws in
      var stop = false
      return Verdict(binding: try await next(element, &stop), stop)
    }.joined()
  }
}

// MARK: With what came before

extension LazyList {
  /// Returns the first elements, for as long as they satisfy a throwing predicate; a failed call is
  /// made again.
  ///
  /// - Laziness: stepwise, and one more: the element that ends it.
  @inlinable
  public consuming func prefix(
    retryingFailures: Bool,
    @_CheckedAlone<Bool> while predicate: @escaping @Sendable (Element) throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().judging((), retryingFailures) { (_, element) in
      try predicate(element) ? .emit(element) : .end
    }
  }

  /// Returns the first elements, for as long as they satisfy an asynchronous throwing predicate; a
  /// failed call is made again.
  @inlinable
  public consuming func prefix(
    retryingFailures: Bool,
    @_CheckedAlone<Bool> while predicate: @escaping @Sendable (Element) async throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().judgingInTask((), retryingFailures) { (_, element) async throws in
      try await predicate(element) ? .emit(element) : .end
    }
  }

  /// Returns the elements from the first one that does not satisfy a throwing predicate; a failed
  /// call is made again.
  ///
  /// - Laziness: searching for the first element, then stepwise.
  @inlinable
  public consuming func drop(
    retryingFailures: Bool,
    @_CheckedAlone<Bool> while predicate: @escaping @Sendable (Element) throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().judging(true, retryingFailures) { (isDropping, element) in
      isDropping = try isDropping && predicate(element)
      return isDropping ? .skip : .emit(element)
    }
  }

  /// Returns the elements from the first one that does not satisfy an asynchronous throwing
  /// predicate; a failed call is made again.
  @inlinable
  public consuming func drop(
    retryingFailures: Bool,
    @_CheckedAlone<Bool> while predicate: @escaping @Sendable (Element) async throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().judgingInTask(true, retryingFailures) { (isDropping, element) async throws in
      if isDropping { isDropping = try await predicate(element) }
      return isDropping ? .skip : .emit(element)
    }
  }

  /// Returns the elements without those that a throwing predicate calls the same as the last one
  /// kept; a failed call is made again.
  ///
  /// - Laziness: searching.
  @inlinable
  public consuming func removeDuplicates(
    retryingFailures: Bool,
    @_CheckedAlone<Bool> by areSame: @escaping @Sendable (Element, Element) throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().judging(Element?.none, retryingFailures) { (kept, element) in
      if let last = kept, try areSame(last, element) { return .skip }
      kept = .some(element)
      return .emit(element)
    }
  }

  /// Returns the elements without those that an asynchronous throwing predicate calls the same as
  /// the last one kept; a failed call is made again.
  @inlinable
  public consuming func removeDuplicates(
    retryingFailures: Bool,
    @_CheckedAlone<Bool> by areSame: @escaping @Sendable (Element, Element) async throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().judgingInTask(Element?.none, retryingFailures) { (kept, element) async throws in
      if let last = kept, try await areSame(last, element) { return .skip }
      kept = .some(element)
      return .emit(element)
    }
  }

  /// Returns the results of combining the elements so far with a throwing closure; a failed call is
  /// made again.
  ///
  /// - Laziness: stepwise.
  @inlinable
  public consuming func reductions<Result: Sendable>(
    _ initial: Result, retryingFailures: Bool,
    @_CheckedAlone<Result> _ combine: @escaping @Sendable (Result, Element) throws -> Result
  ) -> LazyList<Result, any Error> {
    widened().judging(initial, retryingFailures) { (result, element) in
      result = try combine(result, element)
      return .emit(result)
    }
  }

  /// Returns the results of combining the elements so far with an asynchronous throwing closure; a
  /// failed call is made again.
  @inlinable
  public consuming func reductions<Result: Sendable>(
    _ initial: Result, retryingFailures: Bool,
    @_CheckedAlone<Result> _ combine: @escaping @Sendable (Result, Element) async throws -> Result
  ) -> LazyList<Result, any Error> {
    widened().judgingInTask(initial, retryingFailures) { (result, element) async throws in
      result = try await combine(result, element)
      return .emit(result)
    }
  }

  /// Returns the results of updating a value with the elements so far, by a throwing closure; a
  /// failed call is made again, with the value as it was before.
  ///
  /// - Laziness: stepwise.
  @inlinable
  public consuming func reductions<Result: Sendable>(
    into initial: Result, retryingFailures: Bool,
    _ update: @escaping @Sendable (inout Result, Element) throws -> Void
  ) -> LazyList<Result, any Error> {
    widened().judging(initial, retryingFailures) { (result, element) in
      try update(&result, element)
      return .emit(result)
    }
  }

  /// Returns the results of updating a value with the elements so far, by an asynchronous throwing
  /// closure; a failed call is made again, with the value as it was before.
  @inlinable
  public consuming func reductions<Result: Sendable>(
    into initial: Result, retryingFailures: Bool,
    _ update: @escaping @Sendable (inout Result, Element) async throws -> Void
  ) -> LazyList<Result, any Error> {
    widened().judgingInTask(initial, retryingFailures) { (result, element) async throws in
      try await update(&result, element)
      return .emit(result)
    }
  }
}

// MARK: Bodies

extension LazyList where Failure == any Error {
  /// The list that a verdict on each element makes. A verdict that fails leaves nothing behind.
  @inlinable
  consuming func judging<State, Output>(
    _ state: consuming State, _ retryingFailures: Bool, stage: StageName = #function,
    _ judge: @escaping @Sendable (inout State, Element) throws -> Verdict<Output>
  ) -> LazyList<Output, any Error> {
    guard retryingFailures else { return transform(state, stage: stage, judge) }
    return self.stage((state: state, pending: Element?.none), stage: stage) { (kept, source) in
      var patience = Patience()
      while true {
        if kept.pending == nil {
          guard let element = source.next() else { return .nothing(source.absence) }
          kept.pending = .some(element)
        }
        guard let element = kept.pending else { continue }
        let verdict: Verdict<Output>
        do {
          // Changed only if the step succeeds.
          var attempt = kept.state
          verdict = try judge(&attempt, element)
          kept = (attempt, nil)
        } catch {
          return .nothing(.failedTransiently(error))
        }
        switch verdict {
        case .emit(let output): return .element(output)
        case .skip: if !patience.lasts() { return .nothing(.paused) }
        case .last(let output): return .last(output)
        case .end: return .nothing(.end)
        }
      }
    }
  }

  /// The list that an asynchronous verdict on each element makes. A verdict that fails leaves nothing
  /// behind.
  @inlinable
  consuming func judgingInTask<State, Output>(
    _ state: consuming State, _ retryingFailures: Bool, stage: StageName = #function,
    _ judge:
      nonisolated(nonsending) @escaping @Sendable (inout State, Element) async throws ->
      Verdict<Output>
  ) -> LazyList<Output, any Error> {
    guard retryingFailures else { return transformInTask(state, stage: stage, judge) }
    let owned = Owned(Pulling(self, (state: state, pending: Element?.none), drives: true))
    return LazyList<Output, any Error>(
      upstream: owned, stage: stage,
      inTask: { steps in
        await steps.take {
          while true {
            if owned.state.state.pending == nil {
              guard let element = await owned.state.source.nextInStep() else {
                return .nothing(owned.state.source.absence)
              }
              owned.state.state.pending = .some(element)
            }
            guard let element = owned.state.state.pending else { continue }
            let verdict: Verdict<Output>
            do {
              var attempt = owned.state.state.state
              verdict = try await judge(&attempt, element)
              owned.state.state = (attempt, nil)
            } catch {
              return .nothing(.failedTransiently(error))
            }
            switch verdict {
            case .emit(let output): return .element(output)
            case .skip: if Task.isCancelled { return .nothing(.cancelled) }
            case .last(let output): return .last(output)
            case .end: return .nothing(.end)
            }
          }
        }
      })
  }
}
