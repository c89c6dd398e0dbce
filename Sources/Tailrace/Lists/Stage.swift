/// What a per-element operator does with one element of its source.
@usableFromInline
enum Verdict<Output: Sendable>: Sendable {
  case emit(Output)
  case skip
  /// Emits, and ends the list: the source is released at once.
  case last(Output)
  case end
}

/// A source and the state of the operator that pulls from it.
@usableFromInline
struct Pulling<Element: Sendable, Failure: Error, State> {
  @usableFromInline var source: Cursor<Element, Failure>
  @usableFromInline var state: State

  @inlinable
  init(_ list: consuming LazyList<Element, Failure>, _ state: consuming State) {
    source = Cursor(list)
    self.state = state
  }
}

// The pulling face: all that an operator is written with.
extension LazyList {
  /// The list whose elements are pulled from this one by `pull`.
  ///
  /// `pull` must be restartable: it may be left by a throw of `source.next()` at any time, and is
  /// then run again with the state that it has recorded.
  @inlinable @inline(__always)
  consuming func stage<State, Output>(
    _ state: consuming State,
    _ pull:
      @escaping (
        inout State, inout Cursor<Element, Failure>
      ) throws(Interruption<Failure>) -> Step<Output, Failure>
  ) -> LazyList<Output, Failure> {
    let owned = Owned(Pulling(self, state))
    return LazyList<Output, Failure>(stepping: { (budget) throws(Interruption<Failure>) in
      owned.state.source.budget = budget
      return try pull(&owned.state.state, &owned.state.source)
    })
  }

  /// The list that a verdict on each element makes.
  ///
  /// Inlined where the operator is called, so that its closure is part of the sink ("Collecting").
  @inlinable @inline(__always)
  consuming func transform<State, Output>(
    _ state: consuming State,
    _ judge: @escaping @Sendable (inout State, Element) throws(Failure) -> Verdict<Output>
  ) -> LazyList<Output, Failure> {
    let source = Owned(Cursor(self))
    let state = Owned(state)
    return LazyList<Output, Failure>(producer: { (budget, sink) throws(Interruption<Failure>) in
      var isOver = false
      var failure: Failure?
      let isAtEnd = try source.state.drive(budget) { element in
        do throws(Failure) {
          switch try judge(&state.state, element) {
          case .emit(let output): return sink(output)
          case .skip: return true
          case .last(let output): _ = sink(output)
          case .end: break
          }
          isOver = true
        } catch {
          failure = error
        }
        return false
      }
      if let failure { throw .failed(failure) }
      return isAtEnd || isOver ? .end : .stopped
    })
  }

  /// The list that an asynchronous verdict on each element makes: one flight per element.
  @inlinable
  consuming func transformInFlight<State, Output>(
    _ state: consuming State,
    _ judge:
      nonisolated(nonsending) @escaping @Sendable (inout State, Element) async throws(Failure) ->
      Verdict<Output>
  ) -> LazyList<Output, Failure> {
    let owned = Owned(Pulling(self, state))
    return LazyList<Output, Failure>.suspending { () throws(Interruption<Failure>) in
      while let element = try await owned.state.source.nextInFlight() {
        let verdict: Verdict<Output>
        do throws(Failure) {
          verdict = try await judge(&owned.state.state, element)
        } catch {
          throw .failed(error)
        }
        switch verdict {
        case .emit(let output): return .element(output)
        case .skip: continue
        case .last(let output): return .last(output)
        case .end: return .end
        }
      }
      return .end
    }
  }

  /// The list of what an asynchronous step gives, each run in a flight of its own.
  @inlinable
  static func suspending(_ body: @escaping Suspension<Element, Failure>.Body) -> LazyList {
    LazyList(Evaluator(Producer(Suspension(body))))
  }

  /// This list with failures of any type, for the operators whose closures throw.
  @inlinable
  consuming func widened() -> LazyList<Element, any Error> {
    if let same = self as? LazyList<Element, any Error> { return same }
    let source = Owned(Cursor(self))
    return LazyList<Element, any Error>(producer: {
      (budget, sink) throws(Interruption<any Error>) in
      do throws(Interruption<Failure>) {
        return try source.state.drive(budget, sink) ? .end : .stopped
      } catch {
        switch error {
        case .failed(let failure): throw .failed(failure)
        case .failedTransiently(let failure): throw .failedTransiently(failure)
        case .waiting(let obstacle): throw .waiting(obstacle)
        case .cancelled: throw .cancelled
        }
      }
    })
  }
}
