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
struct Pulling<Element: Sendable, State> {
  @usableFromInline var source: Cursor<Element>
  @usableFromInline var state: State

  @inlinable
  init<Failure: Error>(
    _ list: consuming LazyList<Element, Failure>, _ state: consuming State, drives: Bool = false
  ) {
    source = Cursor(list, drives: drives, isInTask: drives)
    self.state = state
  }
}

// The pulling face: all that an operator is written with.
extension LazyList {
  /// The list whose elements are pulled from this one by `pull`.
  ///
  /// `pull` must be restartable: where `source.next()` gives nothing it comes back with
  /// `.nothing(source.absence)`, and is run again later with the state that it has recorded.
  @inlinable @inline(__always)
  consuming func stage<State, Output>(
    _ state: consuming State, stage: StageName = #function,
    _ pull:
      @escaping (inout State, inout Cursor<Element>) -> Step<Output>
  ) -> LazyList<Output, Failure> {
    let owned = Owned(Pulling(self, state))
    return LazyList<Output, Failure>(
      upstream: owned, stage: stage,
      stepping: { demand in
        owned.state.source.demand.budget = demand.budget
        return pull(&owned.state.state, &owned.state.source)
      })
  }

  /// The list that a verdict on each element makes.
  ///
  /// Inlined where the operator is called, so that its closure is part of the sink ("Collecting").
  @inlinable @inline(__always)
  consuming func transform<State, Output>(
    _ state: consuming State, stage: StageName = #function,
    _ judge: @escaping @Sendable (inout State, Element) throws(Failure) -> Verdict<Output>
  ) -> LazyList<Output, Failure> {
    let source = Owned(Cursor(self))
    let state = Owned(state)
    return LazyList<Output, Failure>(
      upstream: source, stage: stage,
      producer: { (demand, sink) in
        var over: Absence?
        var patience = Patience()
        // The source is asked for one by one: the verdict may be that the list ends.
        let ending: Ending<Output> = source.state.drive(Demand(budget: demand.budget)) {
          element in
          do throws(Failure) {
            switch try judge(&state.state, element) {
            case .emit(let output): return sink(output)
            case .skip: return patience.lasts()
            case .last(let output): _ = sink(output)
            case .end: break
            }
            over = .end
          } catch {
            over = .failed(error)
          }
          return false
        }
        return over.map { .nothing($0) } ?? ending
      })
  }

  /// The list that an asynchronous verdict on each element makes, in a task that belongs to it.
  @inlinable @inline(__always)
  consuming func transformInTask<State, Output>(
    _ state: consuming State, stage: StageName = #function,
    _ judge:
      nonisolated(nonsending) @escaping @Sendable (inout State, Element) async throws(Failure) ->
      Verdict<Output>
  ) -> LazyList<Output, Failure> {
    let owned = Owned(Pulling(self, state, drives: true))
    return LazyList<Output, Failure>(
      upstream: owned, stage: stage,
      inTask: { steps in
        while steps.begin() {
          var step = Step<Output>?.none
          while step == nil {
            guard let element = await owned.state.source.nextInStep() else {
              step = .nothing(owned.state.source.absence)
              continue
            }
            do throws(Failure) {
              switch try await judge(&owned.state.state, element) {
              case .emit(let output): step = .element(output)
              case .skip: if Task.isCancelled { step = .nothing(.cancelled) }
              case .last(let output): step = .last(output)
              case .end: step = .nothing(.end)
              }
            } catch {
              step = .nothing(.failed(error))
            }
          }
          if let taken = step.take(), steps.finish(consume taken) { await steps.task.park() }
        }
      })
  }

  /// This list with failures of any type: as the engine knows every list, and for the operators whose
  /// closures throw.
  @inlinable
  consuming func widened() -> LazyList<Element, any Error> { retyped() }

  /// The same cells, in a list that is said to fail in another way. What does fail in them must be of
  /// that type.
  @inlinable
  consuming func retyped<E: Error>() -> LazyList<Element, E> {
    LazyList<Element, E>(segment: segment, offset: offset)
  }
}

/// How long a search goes on without a find before it comes up for air, so that a cancelled reader
/// can leave it.
@usableFromInline
struct Patience {
  @usableFromInline var rejected = 0

  @inlinable
  init() {}

  /// One more was rejected.
  @inlinable @inline(__always)
  mutating func lasts() -> Bool {
    rejected &+= 1
    return rejected & 1023 != 0
  }
}
